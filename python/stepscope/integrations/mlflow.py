"""A run into MLflow: what tells it from others, rates, system metrics, tables, reports as files.

    from stepscope.integrations.mlflow import log_run
    log_run("runs/exp1", tracking_uri="http://mlflow:5000")

or, once a server can be reached, `python -m stepscope.integrations.mlflow runs/exp1`. The run's
folder is all that is needed, so a job without network logs later. Sent again, nothing is doubled.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from stepscope.errors import Error
from stepscope.integrations.frame import Frame
from stepscope.integrations.mlflow_server import why_unreachable, without_password
from stepscope.integrations.packages import explain_missing
from stepscope.integrations.parameters import parameters_of
from stepscope.integrations.recorded import RecordedRun
from stepscope.integrations.series import Point, rates, system_metrics
from stepscope.integrations.tables import sent_text, tables_of

try:
    import mlflow
except ImportError as error:
    explain_missing(error, "mlflow", __name__)

_FOLDER = "stepscope"  # of a run's artifacts
_TABLES_TAG = "mlflow.loggedArtifacts"  # which artifacts MLflow's page shows as tables
_MOST_POINTS = 1000  # of a request


def log_run(
    folder: str | os.PathLike[str],
    run_id: str | None = None,
    *,
    tracking_uri: str | None = None,
    experiment: str | None = None,
    client: Any | None = None,
    system: bool = True,
    report: bool = True,
    quiet: bool = False,
) -> str:
    """Sends a recorded run; gives the id of the run in MLflow.

    Args:
        folder: of the run; its last attempt counts.
        run_id: of a run that MLflow has, such as `MLFlowLogger(…).run_id`; a new one when left out.
        tracking_uri: of the server or store; MLflow's own setting when left out.
        experiment: for a new run; made if it is not there.
        client: an `MlflowClient` that is there already, instead of `tracking_uri`.
        system: whether system metrics are sent.
        report: whether the report is sent as a page, where steps were traced.
        quiet: whether no line is printed that says what was sent where.

    Raises:
        MlflowException: the server cannot be reached, said within seconds, or refuses.
        NotFoundError: there is no run in that folder.
    """
    run = RecordedRun(folder)
    store = client or mlflow.MlflowClient(tracking_uri=tracking_uri)
    need_server(store, run.folder)
    points = rates(run) + (system_metrics(run) if system else [])
    end_ns = max((point.time_ns for point in points), default=run.start_ns)
    if run_id is not None:
        points = _unlogged(store, run_id, points)
    run_id = run_id or _new_run(store, run, experiment, end_ns)
    log_points(store, run_id, points)
    tables = tables_of(run)
    for name, columns in tables.items():
        log_table(store, run_id, f"{_FOLDER}/{name}", columns)
    log_parameters(store, run_id, run)
    store.set_tag(run_id, "stepscope.run", str(run.about.get("id", run.name)))
    has_page = bool(report and run.traces)
    if has_page:
        _log_page(store, run_id, run)
    if not quiet:
        what = sent_text(len(points), len(tables)) + (", report.html" if has_page else "")
        print(f"{folder}: {what} to MLflow's run {run_id} ({without_password(_uri_of(store))})")
    return run_id


def need_server(client: Any, folder: Path) -> None:
    """An error, soon, where MLflow would try for minutes to reach its server.

    Raises:
        MlflowException: it says how to send the run later.
    """
    uri = _uri_of(client)
    why = why_unreachable(uri)
    if why is None:
        return
    shown = without_password(uri)
    raise mlflow.exceptions.MlflowException(
        f"MLflow's server {shown} cannot be reached ({why}): nothing was sent. All of it is in"
        f" {folder}; later, `python -m stepscope.integrations.mlflow {folder}"
        f" --tracking-uri {shown}` sends it"
    )


def _uri_of(client: Any) -> str:
    return str(getattr(client, "tracking_uri", None) or mlflow.get_tracking_uri())


def _unlogged(client: Any, run_id: str, points: list[Point]) -> list[Point]:
    """Without the curves that the training has logged itself: of those only the last value is sent.

    Two curves under one name would be read as one that jumps.
    """
    curves: dict[str, list[Point]] = {}
    for point in points:
        curves.setdefault(point.name, []).append(point)
    for name in ("training_rate", "validation_rate"):
        ours = {(point.step, point.time_ns // 1_000_000) for point in curves.get(name, [])}
        there = client.get_metric_history(run_id, name)
        if any((one.step, one.timestamp) not in ours for one in there):
            curves[name] = curves.get(name, [])[-1:]
    return [point for curve in curves.values() for point in curve]


def log_points(client: Any, run_id: str, points: Iterable[Point]) -> None:
    """Series of numbers."""
    from mlflow.entities import Metric

    metrics = [
        Metric(point.name, float(point.value), point.time_ns // 1_000_000, point.step)
        for point in points
    ]
    for first in range(0, len(metrics), _MOST_POINTS):
        client.log_batch(run_id, metrics=metrics[first : first + _MOST_POINTS])


def log_parameters(client: Any, run_id: str, run: RecordedRun) -> None:
    """What tells runs apart, in columns of MLflow's table.

    What is there already stays: MLflow allows no parameter to change.
    """
    from mlflow.entities import Param

    there = client.get_run(run_id).data.params
    params = [
        Param(f"{_FOLDER}.{name}", text)
        for name, text in parameters_of(run).items()
        if f"{_FOLDER}.{name}" not in there
    ]
    if params:
        client.log_batch(run_id, params=params)


def log_table(client: Any, run_id: str, name: str, columns: Mapping[str, list[Any]]) -> None:
    """`name`.json, which MLflow's page compares across runs, and `name`.csv.

    As `client.log_table` does, but in the place of what is there: that one appends.
    """
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    content = {"columns": list(columns), "data": rows}
    client.log_text(run_id, json.dumps(content, default=str), f"{name}.json")
    client.log_text(run_id, Frame(list(columns), rows).csv(), f"{name}.csv")
    shown = json.loads(client.get_run(run_id).data.tags.get(_TABLES_TAG, "[]"))
    entry = {"path": f"{name}.json", "type": "table"}
    if entry not in shown:
        client.set_tag(run_id, _TABLES_TAG, json.dumps([*shown, entry]))


def log_files(client: Any, run_id: str, files: Iterable[Path]) -> None:
    """At the top of the artifacts."""
    for file in files:
        client.log_artifact(run_id, str(file))


def _new_run(client: Any, run: RecordedRun, experiment: str | None, end_ns: int) -> str:
    number = "0"
    if experiment is not None:
        known = client.get_experiment_by_name(experiment)
        number = known.experiment_id if known is not None else client.create_experiment(experiment)
    made = client.create_run(number, run_name=run.name, start_time=run.start_ns // 1_000_000)
    run_id: str = made.info.run_id
    client.set_terminated(run_id, _status(run), end_time=end_ns // 1_000_000)
    return run_id


def _status(run: RecordedRun) -> str:
    """In MLflow's words. A launcher ends the other ranks when one has failed."""
    ends = {end for end in run.ends if end}
    if any(end == "exception" or end.startswith("status ") for end in ends):
        return "FAILED"
    return "KILLED" if ends else "FINISHED"


def _log_page(client: Any, run_id: str, run: RecordedRun) -> None:
    from stepscope.run import open as open_run

    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        open_run(run.attempt).to_html(page)
        client.log_artifact(run_id, str(page), _FOLDER)


def main(arguments: list[str] | None = None) -> int:
    """`python -m stepscope.integrations.mlflow RUN…`."""
    parser = argparse.ArgumentParser(
        prog="python -m stepscope.integrations.mlflow",
        description="Sends recorded runs to MLflow, each as a new run, or one again with --run-id:"
        " what is there already is then not doubled.",
    )
    parser.add_argument("folder", nargs="+", help="of a run")
    parser.add_argument("--tracking-uri", help="of the server or store")
    parser.add_argument("--experiment", help="for new runs")
    parser.add_argument("--run-id", help="of a run that MLflow has")
    given = parser.parse_args(arguments)
    if given.run_id is not None and len(given.folder) > 1:
        parser.error("--run-id is of one run: send the others without it")
    folder = ""
    try:
        for folder in given.folder:
            log_run(
                folder, given.run_id, tracking_uri=given.tracking_uri, experiment=given.experiment
            )
    except (Error, OSError, mlflow.exceptions.MlflowException) as error:
        why = str(error).removeprefix(f"{folder}: ")
        parser.exit(1, f"{parser.prog}: {folder}: {why}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
