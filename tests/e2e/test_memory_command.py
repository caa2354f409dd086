"""`stepscope memory`: a page that stands alone, JSON with every finding, text that fits."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from answers import answer, tables
from html_page import parsed
from oracle.memory import ROOT, load, name_of, snapshot_files
from program import Program

MEMORY = ROOT / "tests" / "fixtures" / "memory"
OOM = MEMORY / "oom_training.pickle.gz"
LEAK = MEMORY / "leak_graph.pickle.gz"


def page_of(program: Program, *arguments: str | Path) -> str:
    outcome = program.run("memory", "--html", "-", *map(str, arguments))
    assert outcome.exit_status == 0, outcome.stderr
    return outcome.stdout.decode()


@pytest.mark.parametrize("path", snapshot_files(), ids=name_of)
def test_html_stands_alone(program: Program, path: Path) -> None:
    text = page_of(program, path)
    page = parsed(text)
    assert {reference[1:] for reference in page.references} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert not re.search(r"@import|url\(|https?://|<link|<iframe|fetch\(|XMLHttp", text)
    assert page.titles >= page.rectangles > 0
    assert len(text) < 2 << 20


def test_html_has_the_curve_in_four_ways(program: Program) -> None:
    trace = MEMORY / "with_trace.json.gz"
    text = page_of(program, MEMORY / "with_trace.pickle.gz", trace)
    for said in ("By the line of the program", "By the module", "By the annotation"):
        assert said in text
    assert text.count('class="level"') == 1  # the floor, on the curve by what it holds
    assert ">step 0</text>" in text
    assert ">step 1</text>" in text
    for kind in ("forward", "backward", "optimizer"):
        assert f"<title>{kind}</title>" in text


def findings(program: Program, *arguments: str | Path) -> dict[str, Any]:
    outcome = program.run("memory", "--json", *map(str, arguments))
    assert outcome.exit_status == 0, outcome.stderr
    said: dict[str, Any] = json.loads(outcome.stdout)
    assert said["schema"] == "stepscope.report/1"
    found: dict[str, Any] = said["analyses"]
    return found


def test_a_request_without_a_stack_has_a_subject(program: Program) -> None:
    said = program.run("memory", "--width", "0", str(MEMORY / "oom_backward.pickle.gz"))
    text = said.stdout.decode()
    assert (
        "a call without a Python stack, as a backward pass makes them, asked for 32.0 MiB" in text
    )
    assert "Too few steps to tell whether it grows." in text


def test_the_curve_goes_over_time_when_asked(program: Program) -> None:
    path = str(ROOT / "examples" / "data" / "snap_gpt_leak.pickle.gz")
    by_time = program.run("memory", "--axis", "time", path).stdout.decode()
    assert "at the highest, at 209 ms of 213 ms:" in by_time
    by_events = program.run("memory", path).stdout.decode()
    assert "at the highest, event 4464 of 4925:" in by_events
    wrong = program.run("memory", "--axis", "bytes", path)
    assert wrong.exit_status == 2
    assert b"'bytes' is not one of events, time" in wrong.stderr


def test_over_time_every_step_is_marked_and_the_floor_begins_late(program: Program) -> None:
    text = page_of(program, "--axis", "time", OOM)
    for step in range(5):
        assert f">step {step}</text>" in text
    level = re.search(r'class="level" d="M([\d.]+) [\d.]+H([\d.]+)"', text)
    assert level
    tips = [
        (float(left), float(left) + float(width))
        for left, width in re.findall(r'class="tip" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', text)
    ]
    assert tips[0][0] < float(level[1]) < float(level[2]) == max(right for _, right in tips)


def test_steps_whose_numbers_repeat_are_counted(program: Program) -> None:
    """The program marked its steps 0, 1, 0, 0, 0."""
    said = answer(program, "memory-timeline", OOM)
    assert [row["step"] for row in said["tables"]["steps"]] == [0, 1, 2, 3, 4]
    assert any("step numbers repeat or fall" in remark for remark in said["remarks"])
    assert tables(program, "memory-peak", OOM)["peak"][0]["step"] == 4
    kept = answer(program, "memory-timeline", MEMORY / "with_trace.pickle.gz")
    assert not any("repeat or fall" in remark for remark in kept["remarks"])


def test_the_story_names_the_moment_of_each_figure(program: Program) -> None:
    failed = " ".join(program.run("memory", OOM).stdout.decode().split())
    assert "The last straw were 192 MiB" in failed
    assert "165 MiB were free at that moment but of no use" in failed
    assert "357 MiB (24.1 %) were not in use when it first held that much" in failed
    assert "Nothing leaks in the 3 steps between the first and the last." in failed
    assert "In use when each step ends, in the bytes the program requested" in failed
    grows = " ".join(program.run("memory", LEAK).stdout.decode().split())
    assert "The last straw" not in grows
    assert "It was reached by" in grows


def test_calls_before_the_history_are_not_compared(program: Program) -> None:
    late = answer(program, "memory-fragmentation", ROOT / "examples/data/snap_gpt_leak.pickle.gz")
    rows = late["tables"]["settings"]
    assert rows[0]["driver_allocs"] is None
    assert all(row["driver_allocs"] for row in rows[1:-1])
    assert any("no measure of the 12 recorded ones" in remark for remark in late["remarks"])
    whole = tables(program, "memory-fragmentation", OOM)["settings"]
    assert whole[0]["driver_allocs"] == 53


def test_a_file_that_is_no_recording(program: Program, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("hello")
    outcome = program.run("memory", note)
    assert outcome.exit_status == 3
    assert b"expected a trace in JSON, which begins with { or [, or a memory" in outcome.stderr


def test_findings_are_data(program: Program) -> None:
    """What advice is made of: why it failed, what leaks, what other settings would do."""
    said = findings(program, OOM)
    assert said["memory-oom"]["tables"]["remedies"]
    assert said["memory-fragmentation"]["tables"]["settings"]
    leaks = findings(program, LEAK)["memory-leaks"]["tables"]
    assert leaks["leaks"][0]["bytes_per_step"] > 0
    assert said["memory-oom"]["tables"] == tables(program, "memory-oom", OOM)


def test_modules_and_annotations_add_up(program: Program) -> None:
    for path in snapshot_files():
        said = tables(program, "memory-timeline", path)
        whole = {row["event"]: row["allocated_bytes"] for row in said["timeline"]}
        for owners in ("stacks", "modules", "annotations"):
            sums = dict.fromkeys(whole, 0)
            for row in said[owners]:
                sums[row["event"]] += row["bytes"]
            assert sums == whole or not said[owners], (path, owners)


def test_annotations_by_hand(program: Program) -> None:
    """What was made in Optimizer.step, by walking the events."""
    path = MEMORY / "gpt_autocast.pickle.gz"
    snapshot = load(path)
    spans: list[tuple[int, int]] = []
    for note in snapshot.content["external_annotations"]:
        if note["name"].startswith("Optimizer.step#"):
            if note["stage"] == "START":
                spans.append((note["time_us"], 1 << 62))
            else:
                spans[-1] = (spans[-1][0], note["time_us"])
    history = snapshot.history()
    made = {
        i
        for i, event in enumerate(history)
        if event["action"] == "alloc" and any(a <= event["time_us"] < b for a, b in spans)
    }
    said = tables(program, "memory-allocations", "--top", "0", path)["allocations"]
    size = {row["made_event"]: row["bytes"] for row in said if row["made_event"] is not None}
    until = {row["made_event"]: row["let_go_event"] for row in said}
    rows = tables(program, "memory-timeline", "--points", "50", path)["annotations"]
    rows = [row for row in rows if (row["annotation"] or "").startswith("Optimizer.step#")]
    assert rows
    for row in rows:
        now = row["event"]
        alive = (i for i in made if i <= now and (until[i] is None or until[i] > now))
        assert row["bytes"] == sum(size[i] for i in alive)


@pytest.mark.parametrize("width", [60, 80, 100, 132])
@pytest.mark.parametrize("path", [OOM, LEAK, MEMORY / "with_trace.pickle.gz"], ids=name_of)
def test_text_fits_the_width(program: Program, path: Path, width: int) -> None:
    outcome = program.run("memory", "--width", str(width), str(path))
    assert outcome.exit_status == 0
    lines = outcome.stdout.decode().splitlines()
    # What is to be copied stays whole: commands, and code, which is indented by more than texts.
    whole = re.compile(r".*stepscope | {17}")
    assert not [line for line in lines if len(line) > width and not whole.match(line)]


@pytest.mark.parametrize("form", [[], ["--md"], ["--json"], ["--html", "-"]])
def test_same_bytes_at_any_number_of_threads(program: Program, form: list[str]) -> None:
    one, many = (
        program.run("memory", *form, OOM, LEAK, env={"STEPSCOPE_JOBS": jobs}).stdout
        for jobs in ("1", "8")
    )
    assert one == many
    assert one


def test_all_that_torch_writes_of_the_same_steps(program: Program) -> None:
    """Snapshot, trace, timelines and statistics of one process, beside each other."""
    files = [MEMORY / f"exported.{end}" for end in ("pickle.gz", "json.gz", "stats.json")]
    timelines = [MEMORY / f"exported.timeline.{end}" for end in ("json.gz", "raw.json.gz")]
    truth = load(files[0]).answers
    stats = truth["memory_stats"]

    said = answer(program, "memory-summary", *files)
    assert len(said["tables"]["agreement"]) == 9 * 3 * 4 + 1
    assert all(row["agrees"] for row in said["tables"]["agreement"])
    assert any("agrees with exported.pickle.gz in all 109 figures" in r for r in said["remarks"])

    found = tables(program, "memory-timeline", "--points", "0", *files, *timelines)
    peak = {row["snapshot"]: row["peak_bytes"] for row in found["shape"]}
    assert set(peak.values()) == {stats["allocated_bytes.all.peak"]}
    assert len(peak) == 3
    ends: dict[str, dict[str, int]] = {}
    for row in found["timeline"]:
        ends[row["snapshot"]] = row
    for name, row in ends.items():
        for column, key in (("parameters", "parameters"), ("optimizer_state", "optimizer_state")):
            really = sum(-(-size // 512) * 512 for _, size in truth[key])
            assert row[f"{column}_bytes"] == pytest.approx(really, rel=0.01), (name, column)
    steps: dict[str, list[int]] = {row["snapshot"]: [] for row in found["steps"]}
    for row in found["steps"]:
        steps[row["snapshot"]].append(row["step"])
    assert list(steps.values()) == [[0, 1]] * 3

    owners = {row["module"] for row in found["modules"]}
    assert any(owner and owner.startswith("Gpt_0.Layer_0") for owner in owners), owners
    assert "forward and loss" in {row["annotation"] for row in found["annotations"]}
