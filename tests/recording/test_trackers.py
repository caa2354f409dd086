"""MLflow with a real store in SQLite, TensorBoard's files, W&B where it is installed."""

import importlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from framework_page import need, page_script
from recorded_program import Script, write_script

import stepscope
from stepscope.integrations.recorded import RecordedRun

# What the page's script left, asked through MLflow's own functions.
ASKED = """
import json, shutil
from stepscope.integrations import mlflow as ours
client = mlflow.MlflowClient()
mlflow.set_experiment("batch sizes")
experiment = client.get_experiment_by_name("batch sizes")
frame = mlflow.search_runs([experiment.experiment_id], order_by=["attributes.start_time"])
again = log_run("runs/batch-4", frame["run_id"][0])
first = client.get_run(frame["run_id"][0])
table = mlflow.load_table("stepscope/time.json", run_ids=list(frame["run_id"]),
                          extra_columns=["run_id"])
print(json.dumps({
    "names": list(frame["tags.mlflow.runName"]),
    "rates": list(frame["metrics.training_rate"]),
    "samples": list(frame["metrics.training_samples_per_second"]),
    "validation": list(frame["metrics.validation_rate"]),
    "system": sorted(name for name in first.data.metrics if name.startswith("system/")),
    "history": [[m.step, m.value] for m in client.get_metric_history(again, "training_rate")],
    "memory": len(client.get_metric_history(again, "system/system_memory_usage_megabytes")),
    "tables": table.groupby("run_id")["range"].apply(list).to_dict(),
    "artifacts": sorted(one.path for one in client.list_artifacts(again, "stepscope")),
    "columns": list(table.columns),
    "csv": client.download_artifacts(again, "stepscope/speed.csv"),
    "duration": [first.info.start_time, first.info.end_time],
    "run_ids": list(frame["run_id"]),
    "sizes": list(frame["params.stepscope.batch_size"]),
    "params": sorted(first.data.params),
    "found": first.data.params["stepscope.first_finding"],
}))
"""


def test_two_runs_in_mlflow(training_python: str, tmp_path: Path) -> None:
    need(training_python, "mlflow", "sqlalchemy")
    done = page_script(training_python, "trackers.md", tmp_path, ASKED).run()
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    # As the table of runs shows them: the last values are those of the whole runs.
    assert said["names"] == ["batch-4", "batch-8"]
    for place, size in enumerate((4, 8)):
        run = stepscope.open(tmp_path / "runs" / f"batch-{size}")
        job = {row["phase"]: row for row in run.throughput()["job"].rows()}
        assert said["rates"][place] == job["training"]["iterations_per_second"]
        assert said["validation"][place] == job["validation"]["iterations_per_second"]
        assert said["samples"][place] == job["training"]["samples_per_second"]
        assert abs(said["samples"][place] / said["rates"][place] - size) < 0.01 * size
    assert {
        "system/cpu_utilization_percentage",
        "system/system_memory_usage_megabytes",
        "system/system_memory_usage_percentage",
    } <= set(said["system"])
    # What tells the two apart; sent twice, there once.
    assert said["sizes"] == ["4", "8"]
    assert {f"stepscope.{name}" for name in ("script", "num_workers", "ranks")} <= set(
        said["params"]
    )
    assert said["found"]
    steps = [step for step, _ in said["history"]]
    assert steps == sorted(set(steps))  # sent twice, there once
    assert len(steps) >= 20 and said["history"][-1][1] == said["rates"][0]
    tables = said["tables"]
    assert [sorted(tables[run]).count("forward") for run in said["run_ids"]] == [1, 1]
    assert {"range", "calls", "total_ns", "rank", "run_id"} <= set(said["columns"])
    assert {"stepscope/time.json", "stepscope/time.csv", "stepscope/speed.csv"} <= set(
        said["artifacts"]
    )
    header, first, *_ = Path(said["csv"]).read_text().splitlines()
    assert header.startswith(",rank,phase,iterations,") and first.startswith("0,0,training,20,")
    start, end = said["duration"]
    assert 0 < end - start < 600_000


LIVE = """
import json
import mlflow
import stepscope as ss
from stepscope.integrations.mlflow import log_run
with ss.profile("runs/live", trace=False, system=False) as prof:
    for batch in prof.watch([[0] * 4] * 12, samples=len):
        prof.step()
client = mlflow.MlflowClient("sqlite:///live.db")
run_id = client.create_run("0").info.run_id
client.log_metric(run_id, "training_rate", 123.0, step=3)
for _ in range(2):
    log_run("runs/live", run_id, client=client, quiet=True)
history = client.get_metric_history(run_id, "training_rate")
print(json.dumps([[one.step, one.value] for one in history]))
"""


@pytest.mark.nightly
def test_a_curve_that_the_training_logged_is_left_alone(
    training_python: str, tmp_path: Path
) -> None:
    """Two curves under one name would be one that jumps; the last value is added, once."""
    need(training_python, "mlflow", "sqlalchemy")
    done = write_script(training_python, tmp_path / "train.py", LIVE).run()
    assert done.returncode == 0, done.stderr
    live, last = sorted(json.loads(done.stdout.splitlines()[-1]))
    assert live == [3, 123.0]
    (job,) = stepscope.open(tmp_path / "runs" / "live").throughput()["job"].rows()
    assert last == [12, job["batches_per_second"]]


LATER = """
import json, sys
from stepscope.integrations.mlflow import main
main(["runs/batch-4", "--tracking-uri", "sqlite:///later.db", "--experiment", "later"])
try:
    main(["runs/none", "--tracking-uri", "sqlite:///later.db"])
except SystemExit as error:
    print("exit", error.code)
try:
    main(["runs/batch-4", "runs/failed", "--run-id", "1", "--tracking-uri", "sqlite:///later.db"])
except SystemExit as error:
    print("exit", error.code)
main(["runs/failed", "runs/killed", "--tracking-uri", "sqlite:///later.db", "--experiment", "ends"])

import mlflow
ends = mlflow.MlflowClient("sqlite:///later.db").search_runs(["2"])
runs = mlflow.MlflowClient("sqlite:///later.db").search_runs(["1"])
from stepscope.integrations.tensorboard import log_run
values = log_run("runs/batch-4", "logs")
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator("logs")
events.Reload()
print(json.dumps({
    "rate": runs[0].data.metrics["training_rate"],
    "values": values,
    "ends": {run.info.run_name: run.info.status for run in [*runs, *ends]},
    "tags": events.Tags()["scalars"],
    "steps": [one.step for one in events.Scalars("stepscope/training_rate")],
    "last": events.Scalars("stepscope/training_rate")[-1].value,
}))
"""
RECORDED = """
import stepscope as ss
with ss.profile("runs/batch-4", trace=False) as prof:
    for batch in prof.watch([[0] * 4] * 12, samples=len):
        prof.step()
import os
if os.fork() == 0:
    ss.profile("runs/killed", trace=False, system=False).start()
    os.kill(os.getpid(), 9)
os.wait()
try:
    with ss.profile("runs/failed", trace=False, system=False) as prof:
        raise ValueError("loss is nan")
except ValueError:
    pass
"""


@pytest.mark.parametrize(
    ("facts", "end"),
    [
        ({"finished": "stop"}, ""),
        ({"finished": "exception", "program": {"status": 1}}, "exception"),
        ({"finished": "exit", "program": {"status": 3}}, "status 3"),
        ({"finished": "status 3", "program": {"status": 0}}, ""),
        ({"finished": "status 3"}, "status 3"),
        ({"program": {"status": 137, "signal": "SIGKILL"}}, "SIGKILL"),
        ({"program": {"status": 0}}, ""),
        ({"pid": os.getpid()}, ""),
        ({"pid": 1}, "killed"),
    ],
)
def test_how_a_rank_ended(facts: dict[str, Any], end: str, tmp_path: Path) -> None:
    (tmp_path / "events.scope").touch()
    (tmp_path / "rank.json").write_text(json.dumps(facts))
    assert RecordedRun(tmp_path).ends == [end]


def test_later_and_in_tensorboard(training_python: str, tmp_path: Path) -> None:
    """A job without network records; its folder is sent later, from another place."""
    need(training_python, "mlflow", "sqlalchemy", "tensorboard")
    (tmp_path / "job").mkdir()
    done = write_script(training_python, tmp_path / "job" / "train.py", RECORDED).run()
    assert done.returncode == 0, done.stderr
    (tmp_path / "desk").mkdir()
    shutil.copytree(tmp_path / "job" / "runs", tmp_path / "desk" / "runs")
    done = write_script(training_python, tmp_path / "desk" / "send.py", LATER).run()
    assert done.returncode == 0, done.stderr
    assert "runs/none: nothing was recorded there" in done.stderr
    assert "runs/none: runs/none" not in done.stderr
    assert "exit 1" in done.stdout and "exit 2" in done.stdout
    assert re.search(
        r"^runs/batch-4: \d+ values and \d tables to MLflow's run [0-9a-f]{32} "
        r"\(sqlite:///later.db\)$",
        done.stdout,
        re.MULTILINE,
    ), done.stdout
    assert re.search(r"^runs/batch-4: \d+ values to logs$", done.stdout, re.MULTILINE), done.stdout
    said = json.loads(done.stdout.splitlines()[-1])
    assert {"stepscope/training_rate", "stepscope/training_samples_per_second"} <= set(said["tags"])
    assert "system/system_memory_usage_megabytes" in said["tags"]
    assert said["steps"] == list(range(13))  # and one for the whole
    assert abs(said["last"] / said["rate"] - 1) < 1e-5
    assert said["values"] > len(said["steps"])
    # As the table of runs shows them.
    assert said["ends"] == {"batch-4": "FINISHED", "failed": "FAILED", "killed": "KILLED"}


AWAY = """
import contextlib, json, logging, socket, threading, time
import mlflow
from stepscope.integrations.anemoi.callback import Callback
from stepscope.integrations.anemoi import write_reports
from stepscope.integrations import mlflow as ours
from stepscope.integrations.recorded import RecordedRun

class Logger:
    run_id = "0" * 32
    def __init__(self, uri):
        self.experiment = mlflow.MlflowClient(tracking_uri=uri)

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    closed = free.getsockname()[1]
silent = socket.create_server(("127.0.0.1", 0))  # takes calls and says nothing
said = []
for port in (closed, silent.getsockname()[1]):
    uri = f"http://me:secret@127.0.0.1:{port}"
    start = time.monotonic()
    try:
        ours.log_run("runs/batch-4", tracking_uri=uri)
    except mlflow.exceptions.MlflowException as error:
        said.append([str(error), time.monotonic() - start])
start = time.monotonic()
reports = write_reports("runs/batch-4", settings={"memory": {"enabled": False}})
Callback(folder="runs/other")._send(Logger(f"http://127.0.0.1:{closed}"),
                                    RecordedRun("runs/batch-4"), reports)
said.append(["", time.monotonic() - start])
try:
    ours.main(["runs/batch-4", "--tracking-uri", f"http://127.0.0.1:{closed}"])
except SystemExit as ended:
    said.append([str(ended.code), 0])
print(json.dumps(said))
"""


@pytest.mark.nightly
def test_a_server_that_is_away_delays_nothing(training_python: str, tmp_path: Path) -> None:
    """MLflow itself tries for four minutes, of a server that says nothing for a quarter hour."""
    need(training_python, "mlflow", "pytorch_lightning")
    done = write_script(training_python, tmp_path / "train.py", RECORDED).run()
    assert done.returncode == 0, done.stderr
    done = write_script(training_python, tmp_path / "send.py", AWAY).run()
    assert done.returncode == 0, done.stderr
    (closed, first_s), (silent, second_s), (_, third_s), (status, _) = json.loads(
        done.stdout.splitlines()[-1]
    )
    assert "cannot be reached (Connection refused): nothing was sent" in closed
    assert "python -m stepscope.integrations.mlflow runs/batch-4 --tracking-uri http://" in closed
    assert "secret" not in closed
    assert "cannot be reached (it gives no answer within 10 s)" in silent
    assert max(first_s, second_s, third_s) < 30
    # A training that has ended so ends as it would have.
    assert "Anemoi's reports are not in MLflow" in done.stderr
    assert "they are in runs/batch-4/profiler" in done.stderr
    assert status == "1" and "runs/batch-4: MLflow's server http://127.0.0.1" in done.stderr


WANDB = """
import json, os
from stepscope.integrations.wandb import log_run
run_id = log_run("runs/batch-4", project="test", mode="offline", dir=".")
print(json.dumps(run_id))
"""


def test_weights_and_biases(training_python: str, tmp_path: Path) -> None:
    """Without a server: its file of the run holds our series."""
    need(training_python, "wandb")
    assert write_script(training_python, tmp_path / "train.py", RECORDED).run().returncode == 0
    done = write_script(training_python, tmp_path / "send.py", WANDB).run()
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"^runs/batch-4: \d+ values and \d tables to W&B's run \w+ \(.*wandb/offline-run-",
        done.stdout,
        re.MULTILINE,
    ), done.stdout
    run_id = json.loads(done.stdout.splitlines()[-1])
    (file,) = tmp_path.glob(f"wandb/offline-run-*/run-{run_id}.wandb")
    kept = file.read_bytes()
    assert b"stepscope/training_rate" in kept and b"system_recorded/system_memory" in kept


FAILED = """
import stepscope as ss
with ss.profile("run", trace=False, system=False) as prof:
    prof.step()
    raise ValueError("loss is nan")
"""


class RunOfWandb:
    """As `wandb.init` returns it, as far as we use it."""

    id, url, dir = "one", "", "."

    def __init__(self) -> None:
        self.exit_codes: list[int | None] = []

    def define_metric(self, name: str, **more: Any) -> None: ...

    def log(self, values: dict[str, Any]) -> None: ...

    def finish(self, exit_code: int | None = None) -> None:
        self.exit_codes.append(exit_code)


def test_weights_and_biases_shows_a_failed_run_as_such(
    script: Callable[[str], Script], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert script(FAILED).run().returncode == 1
    theirs, run = ModuleType("wandb"), RunOfWandb()
    theirs.init = lambda **_: run  # type: ignore[attr-defined]
    theirs.Table = lambda **_: None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wandb", theirs)
    monkeypatch.delitem(sys.modules, "stepscope.integrations.wandb", raising=False)
    ours = importlib.import_module("stepscope.integrations.wandb")
    monkeypatch.delitem(sys.modules, "stepscope.integrations.wandb")
    ours.log_run(tmp_path / "run")
    assert run.exit_codes == [1]
