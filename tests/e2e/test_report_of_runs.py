"""What the report says of runs that recorded themselves: made runs, whose answers are known."""

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from answers import answer, tables
from oracle.random_loading import MS, WALL, ScopeWriter
from oracle.system import Written, machine_bytes
from program import Program

LOADER, PID, WORKER_PID = "DataLoader", 100, 101
STEP, TRACED, FIRST_WAIT, WAIT = 10 * MS, 25 * MS, 300 * MS, 2 * MS
STEPS, WINDOW = 60, range(40, 43)
READ_BYTES = 48_000_000


def about(name: str, unit: str, kind: str = "gauge", **more: str) -> dict[str, str]:
    return {"name": name, "unit": unit, "kind": kind, **more}


@dataclass
class Made:
    """When each step began and how long it was, since the recording began."""

    folder: Path
    steps: dict[int, tuple[int, int]]
    end: int


def recorded(folder: Path) -> Made:
    """Sixty steps of 10 ms, each waits 2 ms; the first 300 ms; three are traced and take 25 ms."""
    rank = folder / "attempt-0" / "rank00000"
    rank.mkdir(parents=True)
    main, worker = ScopeWriter(PID, 0), ScopeWriter(WORKER_PID, 0)
    worker.counter(f"loader worker#{LOADER}", 0, 10)
    worker.counter(f"loader iteration#{LOADER}", 0, 11)
    now, steps = 100, {}
    main.step(0, now, begins=True)
    main.instant(f"loader starts#{LOADER}", now)
    main.counter(f"loader iteration#{LOADER}", 0, now)
    main.counter(f"loader pid#{LOADER}", WORKER_PID, now)
    now += 10
    for number in range(STEPS):
        start = now
        wait = FIRST_WAIT if number == 0 else WAIT
        main.begin(f"wait for data#{LOADER}", now)
        # The worker makes it while the loop waits.
        worker.begin(f"load batch#{LOADER}", now)
        made = now + wait - 1_000
        worker.end(f"load batch#{LOADER}", made)
        values = {"batch": number, "samples": 8, "collate_ns": 10, "cpu_ns": 2 * wait}
        for name, value in {**values, "read_bytes": READ_BYTES, "files": 2}.items():
            worker.counter(f"loader {name}#{LOADER}", value, made)
        now += wait
        main.end(f"wait for data#{LOADER}", now)
        for name, value in {"batch": number, "ready": 0, "worker": 0, "samples": 8}.items():
            main.counter(f"loader {name}#{LOADER}", value, now)
        now = start + max(TRACED if number in WINDOW else STEP, wait + MS)
        main.step(number, now)
        steps[number] = (start, now - start)
    main.instant(f"loader ends#{LOADER}", now)
    (rank / "events.scope").write_bytes(main.bytes())
    (rank / f"worker-{WORKER_PID}.scope").write_bytes(worker.bytes())
    return Made(folder, steps, now)


def traced(made: Made, loads: int = 0) -> None:
    """A trace of the window, of the host alone, which waits so long for data in each step."""
    events = []
    for number in WINDOW:
        start, length = made.steps[number]
        common = {"ph": "X", "pid": PID, "tid": PID}
        mark = {"name": f"ProfilerStep#{number}", "cat": "user_annotation"}
        events += [
            {**common, **mark, "ts": start / 1e3, "dur": length / 1e3},
            {**common, "name": "aten::mm", "cat": "cpu_op", "ts": (start + 5 * MS) / 1e3,
             "dur": 10_000},
        ]  # fmt: skip
        name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        wait = {**common, "name": name, "cat": "user_annotation"}
        events += [{**wait, "ts": start / 1e3, "dur": loads / 1e3}] if loads else []
    trace = {
        "schemaVersion": 1,
        "baseTimeNanoseconds": WALL,
        "deviceProperties": [],
        "traceEvents": events,
    }
    with gzip.open(made.folder / "attempt-0" / "rank00000" / "trace-0.json.gz", "wt") as file:
        json.dump(trace, file)


NO_NVML = "NVIDIA GPUs are not measured: there is no libnvidia-ml.so.1 here."
NO_RAPL = (
    "The energy of the processors is not known: their counters may not be read (Permission denied)."
)


def sampled(
    made: Made, gpu_busy: int | None = None, clock_set: int = 0, looks: tuple[int, ...] = ()
) -> None:
    """The machine, every millisecond: two processors, and a GPU if its load is given.

    Args:
        made: the run.
        gpu_busy: in percent.
        clock_set: the clock is set by so much.
        looks: when shared memory was looked at, in ms. The process holds 1 GiB from 200 to 400.
    """
    times = list(range(0, made.end, MS))
    series = [
        Written(about("cpu.count", "count"), [2] + [None] * (len(times) - 1)),
        # Ticks of the kernel: a little more than there is time.
        Written(about("cpu.busy", "ns", "counter"), [int(2.02 * time) for time in times]),
        Written(about("memory.total", "bytes"), [1 << 33] + [None] * (len(times) - 1)),
        Written(about("memory.used", "bytes"), [1 << 32] * len(times)),
    ]
    if looks:
        own = {"rank": "0", "process": str(PID)}
        held: list[int | None] = [
            (1 << 30) if 200 <= i < 400 else (20 << 20) for i in range(len(times))
        ]
        seen = [held[i] if i in looks else None for i in range(len(times))]
        series += [
            Written(about("process.cpu", "ns", "counter", of="own", **own), list(times)),
            Written(about("process.rss", "bytes", of="own", **own), held),
            Written(about("process.pss", "bytes", of="all", **own), seen),
        ]
    if gpu_busy is not None:
        gpu = {"device": "0", "uuid": "GPU-a", "model": "Fake"}
        given = about("gpu.given", "count", rank="0", position="0", of="1", local_rank="0", **gpu)
        series += [
            Written(given, [1] + [None] * (len(times) - 1)),
            Written(about("gpu.busy", "%", **gpu), [gpu_busy] * len(times)),
        ]
    node = made.folder / "attempt-0" / "node-nowhere"
    node.mkdir()
    missing = [("rapl", NO_RAPL)] + ([] if gpu_busy is not None else [("nvml", NO_NVML)])
    data = machine_bytes(
        {"host": "nowhere", "interval_ns": str(MS)}, WALL, times, series, missing, set_ns=clock_set
    )
    (node / "system.scope").write_bytes(data)


def report(program: Program, folder: Path, *options: str) -> str:
    outcome = program.run("report", *options, str(folder))
    assert outcome.exit_status == 0, outcome.stderr
    return outcome.stdout.decode()


def findings(program: Program, folder: Path) -> str:
    """With how each was measured and how to check a change, which the report leaves out."""
    return program.run("advise", "--all", str(folder)).stdout.decode()


def flat(text: str) -> str:
    """As one line: sentences are broken where the page ends."""
    return re.sub(r"\s+", " ", text)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return recorded(tmp_path / "run")


def test_the_first_lines_are_of_all_settled_steps(program: Program, made: Made) -> None:
    traced(made)
    said = flat(report(program, made.folder))
    head = said.split("Findings")[0]
    # 60 steps, of which the first is warm-up and three were traced: the rest take 10 ms.
    assert "Steps 60 · mean 10.0 ms (100 /s, 800 samples/s), without 1 of warm-up" in head
    assert "and 3 that were traced" in head
    assert "Traced steps 3 · ProfilerStep#40 to #42 · mean 25.0 ms" in head
    assert (
        "tracing slows them: from step() to step() the median is 25.0 ms traced, 10.0 ms not"
        in head
    )


def test_a_chosen_step_is_not_compared_with_itself(program: Program, made: Made) -> None:
    traced(made, loads=20 * MS)
    said = flat(report(program, made.folder, "--step", "41"))
    assert "Steps 1 chosen · mean 25.0 ms" in said
    assert ", traced, which may slow it" in said
    assert "Traced steps 3 in all · ProfilerStep#40 to #42" in said
    assert "Only one step was chosen" in said
    assert "step was recorded" not in said
    assert "others" not in said.split("All steps of the run")[0]


def test_steps_that_are_left_out_add_up(program: Program, made: Made) -> None:
    """All 60 are compared, or warm-up, or in trace windows and beside them."""
    traced(made)
    both = [str(made.folder), str(made.folder)]
    said = flat(program.run("diff", *both).stdout.decode())
    found = re.search(
        r"(\d+) steps outside of trace windows "
        r"\(left out: (\d+) of warm-up, (\d+) in trace windows and beside them\)",
        said,
    )
    assert found is not None
    assert sum(map(int, found.groups())) == 60
    phases = program.run("analyze", "throughput", "-f", "json", str(made.folder))
    (row,) = json.loads(phases.stdout)["tables"]["phases"]
    later = row["traced"] - row["warm_up_traced"]
    assert row["iterations"] == row["warm_up"] + later + row["measured"]


def test_what_is_of_traced_steps_alone_says_so(program: Program, made: Made) -> None:
    traced(made)
    for form in ("--md", "--html"):
        said = report(program, made.folder, *([form, "-"] if form == "--html" else [form]))
        assert "Step times (3 traced steps; tracing slows them)" in said
    said = report(program, made.folder)
    mark = " (3 traced steps; tracing slows them)"
    for title in ("Where the step time goes", "Step times", "What the time is spent on"):
        assert f"\n{title}{mark}\n" in said
    for title in ("All steps of the run", "Speed", "Data: the loader and its workers"):
        assert f"\n{title}\n" in said


def test_without_others_nothing_is_marked(program: Program, samples: Path) -> None:
    assert "traced steps" not in report(program, samples / "gpt_bf16.json.gz")


def test_waiting_for_data_is_explained_where_it_differs(program: Program, made: Made) -> None:
    traced(made)
    (loader,) = tables(program, "loader", made.folder)["loaders"]
    waited = FIRST_WAIT + (STEPS - 1) * WAIT
    assert (loader["passes"], loader["first_wait_ns"]) == (1, FIRST_WAIT)
    assert loader["wait_ns"] == waited
    # Without three steps that a profiler slowed, 2 of 25 ms each.
    whole = made.end - 110 - 3 * 25 * MS
    assert loader["wait_share"] == pytest.approx((waited - 3 * WAIT) / whole, rel=1e-3)
    later = (waited - 3 * WAIT - FIRST_WAIT) / (whole - FIRST_WAIT)
    assert loader["later_wait_share"] == pytest.approx(later, rel=1e-3)
    said = flat(report(program, made.folder))
    assert f"kept the loop waiting {100 * loader['wait_share']:.0f} % of the time, but" in said
    assert f"{100 * later:.0f} % without the first batch of the pass" in said
    # Nothing a GPU did could be added: the loader said it of all steps.
    assert "Data loading" not in said
    (speed,) = tables(program, "throughput", made.folder)["phases"]
    assert speed["wait_share"] == pytest.approx(WAIT / STEP)


def input_bound(program: Program, folder: Path) -> dict[str, Any]:
    found = json.loads(program.run("advise", "--json", str(folder)).stdout)["findings"]
    (one,) = [finding for finding in found if finding["rule"] == "input-bound"]
    return dict(one)


def test_waiting_in_traced_steps_stands_beside_the_others(program: Program, made: Made) -> None:
    """Tracing makes the work of a step longer and not the wait: 6 of 25 ms, and 2 of 10."""
    traced(made, loads=6 * MS)
    found = input_bound(program, made.folder)
    assert found["measured"]["value"] == pytest.approx(0.2)
    assert found["measured"]["name"].endswith(" (of the steps that were not traced)")
    traced_ones = "traced steps wait 24.0 % of their time: 6.00 ms of 25.0 ms each"
    assert traced_ones in flat(findings(program, made.folder))


def test_waiting_that_tracing_hides_is_found(program: Program, made: Made) -> None:
    traced(made, loads=MS // 2)
    found = input_bound(program, made.folder)
    assert found["measured"]["value"] == pytest.approx(0.2)
    assert found["measured"]["name"].endswith(" (of the steps that were not traced)")
    # Of 10 ms, not of the 25 that a traced step takes.
    assert found["gain_per_step"]["high_ns"] < 3 * MS


def test_a_run_without_a_gpu_has_one_line_about_gpus(program: Program, made: Made) -> None:
    traced(made)
    sampled(made)
    said = report(program, made.folder)
    findings = said.split("\nFindings\n")[1].split("\nAll steps of the run\n")[0]
    mentions = [line for line in said.replace(findings, "").splitlines() if "GPU" in line]
    assert mentions == [
        "  GPU           none: the process saw no GPU",
        "  nvml    " + NO_NVML,
    ], mentions
    for title in ("Is the GPU busy?", "Why the GPU waits", "Copies between", "Launching work"):
        assert title not in said
    parts = said.split("Where the step time goes")[1].split("Step times")[0]
    assert "cpu_exec" in parts
    assert "memset" not in parts


def test_what_is_missing_is_named_once_and_whole(program: Program, made: Made) -> None:
    sampled(made, clock_set=7_000 * MS)
    said = flat(report(program, made.folder))
    for sentence in (
        NO_NVML,
        NO_RAPL,
        "The clock of the machine was set by 7.0 s; times here do not follow it.",
        "No part of the machine tells its energy or power.",
    ):
        assert said.count(sentence) == 1, sentence
    missing = [row["missing"] for row in tables(program, "system", made.folder)["missing"]]
    assert len(missing) == 3
    # The clock that was set moved nothing.
    steps = tables(program, "system", made.folder)["steps"]
    lengths = [length for _, length in made.steps.values()]
    assert [row["step_ns"] for row in steps][1:] == lengths[1:]


def test_no_share_is_more_than_all(program: Program, made: Made) -> None:
    traced(made)
    sampled(made)
    found = json.loads(report(program, made.folder, "--json"))
    units = json.loads(program.run("analyze", "--list", "-f", "json").stdout)
    shares = {
        (one["name"], table["name"], column["name"])
        for one in units["analyses"]
        for table in one["tables"]
        for column in table["columns"]
        if column["unit"].startswith("share")
    }
    looked = 0
    for analysis, said in found["analyses"].items():
        for table, rows in said["tables"].items():
            for row in rows:
                for name, value in row.items():
                    if (analysis, table, name) in shares and value is not None:
                        looked += 1
                        assert 0 <= value <= 1 + 1e-9, (analysis, table, name, value)
    assert looked > 100
    (machine,) = found["analyses"]["system"]["tables"]["machines"]
    assert machine["cpu_mean_share"] == 1
    # Two threads of a worker: processors, and not a share.
    (loader,) = found["analyses"]["loader"]["tables"]["loaders"]
    assert loader["cpu_cores"] == pytest.approx(2, rel=1e-3)


def test_a_step_that_waited_stands_beside_what_the_gpu_did(program: Program, made: Made) -> None:
    sampled(made, gpu_busy=69)
    said = answer(program, "loader", made.folder)
    sentence = (
        "Of the steps, step 0 waited longest: the GPU was idle 31 % of the step while worker 0 "
        "read 48 MB."
    )
    assert sentence in said["remarks"]
    assert sentence in flat(report(program, made.folder))
    assert all(row["gpu_idle_share"] == pytest.approx(0.31) for row in said["tables"]["steps"])


def test_tables_fit_and_stand_below_their_titles(program: Program, made: Made) -> None:
    traced(made)
    sampled(made)
    lines = report(program, made.folder).splitlines()
    (title,) = [i for i, line in enumerate(lines) if line.split()[:2] == ["where", "range"]]
    row = lines[title + 1]
    assert lines[title].index("where") == row.index("main")
    assert lines[title].index("range") == row.index("wait")
    assert "wait for data#DataLoader" in row
    # Commands and paths stay in one line.
    assert all(
        len(line) <= 100
        for line in lines
        if "stepscope " not in line and str(made.folder) not in line
    )


def test_html_has_curves_over_time(program: Program, made: Made) -> None:
    sampled(made, gpu_busy=69)
    page = report(program, made.folder, "--html", "-")
    for caption in (
        "Iterations a second, over time:",
        "How busy they were, over time:",
        "Memory in use, over time:",
        "Waiting for data in each step:",
    ):
        drawn = page.split(caption)[1].split("<section")[0]
        assert "<svg" in drawn[:200], caption


def test_waiting_of_traced_steps_says_that_there_are_others(program: Program, made: Made) -> None:
    traced(made, loads=MS // 2)
    remarks = answer(program, "dataloader", made.folder)["remarks"]
    others = (
        "This is of the 3 steps that were traced; 'throughput' and 'loader' say how long all 60"
    )
    assert any(remark.startswith(others) for remark in remarks)
    found = answer(program, "dataloader", made.folder, "--step", "3-4")
    assert found["tables"]["steps"] == []
    assert found["remarks"][0].startswith("None of these steps was traced: 'loader' has")
    # The finding is of steps that take 10 ms; its check is of those, too.
    said = flat(report(program, made.folder))
    assert "A step that was not traced takes 10.0 ms on average. Without the first finding" in said
    assert "of 10.0 ms)" in said
    assert "in `stepscope analyze throughput" in flat(findings(program, made.folder))


def test_a_loop_that_watches_nothing_has_unknown_waits(program: Program, tmp_path: Path) -> None:
    rank = tmp_path / "attempt-0" / "rank00000"
    rank.mkdir(parents=True)
    main = ScopeWriter(PID, 0)
    main.step(0, 10, begins=True)
    for number in range(5):
        main.step(number, (number + 1) * STEP)
    (rank / "events.scope").write_bytes(main.bytes())
    found = answer(program, "dataloader", tmp_path)
    assert {row["wait_ns"] for row in found["tables"]["steps"]} == {None}
    (remark,) = found["remarks"]
    assert "No loader was watched" in remark
    assert "trace" not in remark


def test_memory_that_was_not_looked_at_is_not_called_little(
    program: Program, tmp_path: Path
) -> None:
    """Shared memory is asked for seldom: 1 GiB that came and went in between is not 20 MiB."""
    between, within = recorded(tmp_path / "between"), recorded(tmp_path / "within")
    sampled(between, looks=(100, 500))
    said = flat(report(program, between.folder))
    assert "(PSS) was looked at 2 times, and not while they held most: its 20 MiB are of" in said
    sampled(within, looks=(100, 300))
    said = flat(report(program, within.folder))
    assert "hold 1 GiB together, with what they share counted once (PSS, looked at 2 times)" in said
    assert "pss max" not in said
    (row,) = tables(program, "system", within.folder)["processes"]
    assert row["pss_max_bytes"] == 1 << 30


def test_tracing_that_cannot_be_measured_slows_nothing(program: Program, tmp_path: Path) -> None:
    """Traced steps of 10.1 ms among others of 9 to 11 ms."""
    rank = tmp_path / "attempt-0" / "rank00000"
    rank.mkdir(parents=True)
    main, now, steps = ScopeWriter(PID, 0), 110, {}
    main.step(0, now, begins=True)
    for number in range(STEPS):
        usual = (9 + number % 3) * MS
        length = usual + MS // 10 if number in WINDOW else usual
        steps[number] = (now, length)
        now += length
        main.step(number, now)
    (rank / "events.scope").write_bytes(main.bytes())
    traced(Made(tmp_path, steps, now))
    said = flat(report(program, tmp_path))
    assert "What tracing cost a step is not measurable" in said
    assert "tracing slows them" not in said
    assert "the median is 10.1 ms traced, 10.0 ms not" in said
