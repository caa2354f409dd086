"""Anemoi's reports: of the page's graph encoder, processor and decoder, and of known recordings."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from framework_page import need, page_script
from oracle.random_loading import MS, WALL, ScopeWriter
from recorded_program import rank_facts, write_script

import stepscope
from stepscope.integrations.actions import Action, RankActions
from stepscope.integrations.anemoi import profile_options, write_reports
from stepscope.integrations.anemoi.memory_report import COLUMNS as MEMORY_COLUMNS
from stepscope.integrations.anemoi.time_report import time_frame
from stepscope.integrations.recorded import RecordedRun
from stepscope.integrations.series import rates

MORE = """
    import json
    client, run = trainer.logger.experiment, trainer.logger.run_id
    tables = {name: json.load(open(client.download_artifacts(run, name)))
              for name in ("time_metrics_reports.json", "speed_metrics_reports.json",
                           "memory_metrics_reports.json", "system_metrics_report.json")}
    print(json.dumps({
        "artifacts": sorted(one.path for one in client.list_artifacts(run)),
        "metrics": sorted(client.get_run(run).data.metrics),
        "tables": tables,
        "tag": json.loads(client.get_run(run).data.tags["mlflow.loggedArtifacts"]),
    }))
"""


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as text:
        return list(csv.DictReader(text))


def test_the_page(training_python: str, tmp_path: Path) -> None:
    need(training_python, "pytorch_lightning", "mlflow", "sqlalchemy")
    done = page_script(training_python, "anemoi.md", tmp_path, MORE).run()
    assert done.returncode == 0, done.stderr
    assert "given up" not in done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    run = tmp_path / "runs" / "forecaster"
    out = run / "profiler"
    assert rank_facts(run)["steps"] == 40

    times = {row["name"]: row for row in rows_of(out / "time_profiler.csv")}
    step = times["[LightningModule]Forecaster.optimizer_step"]
    assert (step["n_calls"], step["inside"], step["depth"]) == ("40", "run_training_batch", "2")
    training = times["[Strategy]SingleDeviceStrategy.training_step"]
    assert training["inside"] == step["name"] and training["category"] == "Strategy"
    assert float(step["self_time"]) + float(training["total_time"]) <= float(step["total_time"])
    checkpoint = times["*Callback_ModelCheckpoint"]
    mean = float(checkpoint["total_time"]) / int(checkpoint["n_calls"])
    assert abs(float(checkpoint["avg_time"]) - mean) < 1.1e-5
    header = (out / "time_profiler.csv").read_text().splitlines()[0]
    assert header.startswith(",name,total_time,n_calls,avg_time,category,")
    categories = [row["category"] for row in rows_of(out / "time_profiler.csv")]
    assert categories == sorted(categories, reverse=True)

    speed = {row["metric"]: float(row["value"]) for row in rows_of(out / "speed_profiler.csv")}
    assert list(speed) == [
        "training_avg_throughput",
        "training_avg_throughput_per_sample",
        "validation_avg_throughput",
        "validation_avg_throughput_per_sample",
        "avg_training_dataloader_throughput",
        "avg_training_dataloader_throughput_per_sample",
        "avg_validation_dataloader_throughput",
        "avg_validation_dataloader_throughput_per_sample",
        "Self CPU time total",
        "Self CUDA time total",
    ]
    for name in list(speed)[0:8:2]:  # batches of two: multiplied, not divided
        assert abs(speed[f"{name}_per_sample"] / speed[name] - 2) < 1e-3, name

    memory = rows_of(out / "memory_profiler.csv")
    assert len(memory) == 20 and tuple(memory[0])[1:] == MEMORY_COLUMNS
    assert not [row for row in memory if row["Name"].startswith(("ProfilerStep", "Optimizer"))]
    traced = stepscope.open(run).operators(top=0)["shapes"]
    whole = sum(row["host_self_ns"] or 0 for row in traced.rows())
    longest = max(traced.rows(), key=lambda row: row["host_total_ns"] or 0)
    # By shapes: a name may have several rows.
    assert (memory[0]["Name"], memory[0]["CPU total %"]) == (
        longest["name"],
        f"{100 * longest['host_total_ns'] / whole:.2f}%",
    )
    assert abs(speed["Self CPU time total"] - whole / 1e9) < 1e-5

    system = {row["metric"]: float(row["value"]) for row in rows_of(out / "system_profiler.csv")}
    assert 0 < system["avg cpu utilization %"] <= 100
    assert 0 < system["avg system memory usage MB"] < system["system memory total MB"]
    model = (out / "model_summary.txt").read_text()
    assert "  Messages (encoder)" in model and "Total params: 1,360\n" in model  # five of 16·17
    assert f"Total mult-adds: {(400 + 3 * 100 + 400) * 16 * 16:,}\n" in model  # nodes along edges
    # What the five linear layers give, in float32, and as much for its gradients.
    assert f"pass size (MB): {2 * 4 * (400 + 3 * 100 + 400) * 16 / 1e6:.2f}\n" in model

    names = {"time", "speed", "memory", "system"}
    files = {f"{name}_profiler.csv" for name in names} | {"model_summary.txt"}
    assert files | {one for one in said["tables"]} <= set(said["artifacts"])
    assert {entry["path"] for entry in said["tag"]} == set(said["tables"])
    assert said["tables"]["speed_metrics_reports.json"]["columns"] == ["metric", "value"]
    assert {"training_rate", "validation_rate", "system/cpu_utilization_percentage"} <= set(
        said["metrics"]
    )
    assert len(list(out.glob("*.pt.trace.json*"))) == 1


def test_without_anything_to_tell(training_python: str, tmp_path: Path) -> None:
    """No loader, no machine, no trace, no model: sentences, and no error."""
    text = """
    import stepscope as ss
    with ss.profile("run", trace=False, system=False) as prof:
        prof.step()
    """
    done = write_script(training_python, tmp_path / "train.py", text).run()
    assert done.returncode == 0, done.stderr
    reports = write_reports(tmp_path / "run", tmp_path / "out")
    assert [remark.split(":")[0] for remark in reports.remarks] == [
        "Time",
        "Speed",
        "Speed",
        "Speed",
        "Memory",
        "System",
        "Model",
        "Snapshot",
    ], reports.remarks
    assert not [remark for remark in reports.remarks if "could not be made" in remark]
    assert (tmp_path / "out" / "system_profiler.csv").read_text() == ",metric,value\n"
    assert [one.name for one in sorted((tmp_path / "out").iterdir())] == [
        "speed_profiler.csv",
        "system_profiler.csv",
        "time_profiler.csv",
    ]
    only = {name: False for name in ("memory", "time", "system", "model_summary", "snapshot")}
    reports = write_reports(tmp_path / "run", tmp_path / "few", only)
    assert [one.name for one in (tmp_path / "few").iterdir()] == ["speed_profiler.csv"]


def of_rank(rank: int, seconds: int) -> RankActions:
    hook = "[Callback]Plot{'every': 1}.on_train_batch_end"
    batch = Action("run_training_batch", 2, seconds * 10**9)
    batch.inside["work"] = Action("work", 4, 10**9)
    batch.inside[hook] = Action(hook, 3, 10**9)
    other = Action("[Callback]Plot{'every': 1}.on_fit_end", 1, 2 * 10**9)
    return RankActions(rank, {"main thread": {batch.name: batch, other.name: other}}, 20 * 10**9)


def test_times_of_two_ranks() -> None:
    """Means over the ranks, the slowest beside them; a callback is one row with a true mean."""
    frame = time_frame([of_rank(0, 4), of_rank(1, 8)], verbose=False)
    rows = {row[0]: dict(zip(frame.columns, row, strict=True)) for row in frame.rows}
    assert set(rows) == {"run_training_batch", "work", "*Callback_Plot"}
    batch: dict[str, Any] = rows["run_training_batch"]
    assert (batch["total_time"], batch["n_calls"], batch["avg_time"]) == (6.0, 2, 3.0)
    assert (batch["slowest_rank"], batch["slowest_total_time"], batch["ranks"]) == (1, 8.0, 2)
    assert batch["self_time"] == 4.0  # without the work and the callback that are shown inside
    plot = rows["*Callback_Plot"]
    assert (plot["total_time"], plot["n_calls"], plot["avg_time"]) == (3.0, 4, 0.75)


def test_the_text_has_the_self_times_of_the_table(tmp_path: Path) -> None:
    """A callback that the table has is no part of the self time of what it is called in."""
    rank = tmp_path / "attempt-0" / "rank00000"
    rank.mkdir(parents=True)
    main, save = ScopeWriter(100, 0), "[Callback]ModelCheckpoint{'a': 1}.on_train_batch_end"
    for begins, name, time in (
        (True, "run_training_epoch", 1),
        (True, save, 2 * MS),
        (True, "save_checkpoint", 3 * MS),
        (False, "save_checkpoint", 403 * MS),
        (False, save, 503 * MS),
        (False, "run_training_epoch", 1003 * MS),
    ):
        (main.begin if begins else main.end)(name, time)
    (rank / "events.scope").write_bytes(main.bytes())
    text = write_reports(tmp_path, tmp_path / "out").text
    table = {row["name"]: row for row in rows_of(tmp_path / "out" / "time_profiler.csv")}
    shown = {words[0]: words for line in text.splitlines() if (words := line.split())}
    for name, of_table in (
        ("run_training_epoch", "run_training_epoch"),
        ("[Callback]ModelCheckpoint.on_train_batch_end", "*Callback_ModelCheckpoint"),
        ("save_checkpoint", "save_checkpoint"),
    ):
        assert float(shown[name][3]) == float(table[of_table]["self_time"]), name
    assert "    save_checkpoint " in text  # inside of the callback, as in the table


def test_settings_become_options() -> None:
    options = profile_options(
        {"memory": {"steps": 3, "warmup": 1, "track_rank0_only": True}, "snapshot": {"steps": 2}}
    )
    assert str(options["schedule"]) == "3 steps after 1 step"
    assert (options["rank0_only"], options["trace"]) == (True, ["shapes", "memory", "stacks"])
    assert str(options["snapshot"]) == "2 steps"
    off = profile_options({"memory": {"enabled": False}, "snapshot": False, "system": False})
    assert off == {"trace": False, "system": False}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"snapshott": {}},
            "settings: unknown key 'snapshott'; did you mean 'snapshot'?",
        ),
        (
            {"snapshot": {"enbled": False}},
            "settings: unknown key 'enbled' in 'snapshot'; did you mean 'enabled'?",
        ),
        (
            {"speed": {"x": 1}},
            "settings: unknown key 'x' in 'speed'; there are enabled",
        ),
        (
            {"memory": {"steps": "many"}},
            "settings: 'steps' in 'memory' takes a whole number from 1, not 'many'",
        ),
        (
            {"memory": {"steps": 0}},
            "settings: 'steps' in 'memory' takes a whole number from 1, not 0",
        ),
        (
            {"memory": {"warmup": True}},
            "settings: 'warmup' in 'memory' takes a whole number from 0, not True",
        ),
        (
            {"time": {"verbose": "yes"}},
            "settings: 'verbose' in 'time' takes True or False, not 'yes'",
        ),
        ({"time": 3}, "settings: 'time' takes keys of its own, not 3"),
        ([1], "'settings' takes keys of its own, not [1]"),
    ],
)
def test_wrong_settings_are_errors(settings: Any, message: str, tmp_path: Path) -> None:
    """Where the callback is made, and where reports are asked for."""
    for act in (
        lambda: profile_options(settings),
        lambda: write_reports(tmp_path, tmp_path / "out", settings),
    ):
        with pytest.raises(stepscope.UsageError) as raised:
            act()
        assert str(raised.value) == message
    assert not (tmp_path / "out").exists()


def test_settings_that_are_none_are_left_out() -> None:
    assert profile_options({"memory": None, "snapshot": {"steps": None}}) == profile_options(None)


def test_traced_steps_do_not_make_the_speed(tmp_path: Path) -> None:
    """Thirty steps of 10 ms, of which three are traced and take 40."""
    rank = tmp_path / "run" / "attempt-0" / "rank00000"
    rank.mkdir(parents=True)
    main, now, events = ScopeWriter(100, 0), 100, []
    main.step(0, now, begins=True)
    for number in range(30):
        length = 40 * MS if number in range(12, 15) else 10 * MS
        if length > 10 * MS:
            mark = {"name": f"ProfilerStep#{number}", "cat": "user_annotation", "ph": "X"}
            times = {"ts": now / 1e3, "dur": length / 1e3, "pid": 100, "tid": 100}
            events.append({**mark, **times})
        now += length
        main.step(number, now)
    (rank / "events.scope").write_bytes(main.bytes())
    trace = {"schemaVersion": 1, "baseTimeNanoseconds": WALL, "traceEvents": events}
    (rank / "trace-0.json").write_text(json.dumps(trace))
    write_reports(tmp_path / "run", tmp_path / "out")
    speed = {row["metric"]: row["value"] for row in rows_of(tmp_path / "out/speed_profiler.csv")}
    assert float(speed["training_avg_throughput"]) == pytest.approx(100, rel=1e-4)


def accumulated(folder: Path) -> Path:
    """Twenty steps of 10 ms that take two batches of four samples each."""
    rank = folder / "run" / "attempt-0" / "rank00000"
    rank.mkdir(parents=True)
    main, now, loader = ScopeWriter(100, 0), 100, "DataLoader"
    main.step(0, now, begins=True)
    main.instant(f"loader starts#{loader}", now)
    main.counter(f"loader iteration#{loader}", 0, now)
    for number in range(40):
        main.begin(f"wait for data#{loader}", now + 10)
        main.end(f"wait for data#{loader}", now + MS)
        for name, value in {"batch": number, "samples": 4}.items():
            main.counter(f"loader {name}#{loader}", value, now + MS)
        now += 5 * MS
        if number % 2:
            main.step(number // 2, now)
    main.instant(f"loader ends#{loader}", now)
    (rank / "events.scope").write_bytes(main.bytes())
    return folder / "run"


def test_rates_are_of_batches_however_many_make_a_step(tmp_path: Path) -> None:
    run = accumulated(tmp_path)
    write_reports(run, tmp_path / "out")
    speed = {row["metric"]: row["value"] for row in rows_of(tmp_path / "out/speed_profiler.csv")}
    assert float(speed["training_avg_throughput"]) == pytest.approx(200, rel=1e-3)
    assert float(speed["training_avg_throughput_per_sample"]) == pytest.approx(800, rel=1e-3)
    points = [one for one in rates(RecordedRun(run)) if one.name == "training_rate"]
    assert len(points) == 21
    assert [one.value for one in points] == pytest.approx([200] * 21, rel=1e-3)
    (job,) = stepscope.open(run).throughput()["job"].rows()
    assert job["iterations_per_second"] == pytest.approx(100, rel=1e-3)


def action(name: str, calls: int, seconds: float, *inside: Action) -> Action:
    return Action(name, calls, round(seconds * 10**9), {one.name: one for one in inside})


def test_self_times_add_up_and_places_are_named() -> None:
    """With accumulation a training step is called in two places; the sanity check is a third."""
    plot = "[Callback]SlowPlot{'a': 1}.on_train_batch_end"
    step = "[Strategy]One.training_step"
    update = "[LightningModule]Net.optimizer_step"
    batch = action(
        "run_training_batch",
        40,
        6.0,
        action(step, 20, 2.0),
        action(update, 20, 3.0, action(step, 20, 2.0)),
    )
    epoch = action("run_training_epoch", 2, 8.0, batch, action(plot, 40, 1.0))
    check = action(step, 2, 0.5)
    tree = {one.name: one for one in (epoch, check)}
    frame = time_frame([RankActions(0, {"main thread": tree}, 9 * 10**9)], verbose=False)
    rows: dict[str, Any] = {
        row[0]: dict(zip(frame.columns, row, strict=True)) for row in frame.rows
    }
    assert sum(row["self_time"] for row in rows.values()) == pytest.approx(8.5)
    assert rows["run_training_epoch"]["self_time"] == 1.0
    slow = rows["*Callback_SlowPlot"]
    assert (slow["inside"], slow["depth"], slow["self_time"]) == ("run_training_epoch", 1, 1.0)
    steps = rows[step]
    assert steps["inside"] == f"{update} (20); run_training_batch (20); no other (2)"
    assert (steps["depth"], steps["n_calls"], steps["total_time"]) == ("", 42, 4.5)
