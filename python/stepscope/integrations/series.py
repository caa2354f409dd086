"""The run as series of numbers, under the names that trackers know.

System metrics have MLflow's names and units (MB is 1,000,000 bytes); on several machines the name
of the machine stands in between, as MLflow's node id does. What was not seen is not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stepscope.integrations.recorded import RecordedRun

_MEGA = 1e6
# Points of a curve: enough to see, few enough to send.
POINTS = 300


@dataclass(frozen=True)
class Point:
    """One value at one moment."""

    name: str
    value: float
    step: int
    time_ns: int  # since 1970


def rates(run: RecordedRun) -> list[Point]:
    """`training_rate` and `validation_rate` in batches a second, of the lowest rank.

    The last point of each is the rate of the whole run without warm-up and traced steps, because
    tables of trackers show the last.
    """
    points = list(_training(run))
    answer = run.with_traces.throughput(points=POINTS)
    lowest = min((row["rank"] for row in answer["phases"].rows()), default=0)
    last_step = max((point.step for point in points), default=0)
    end_ns = max((point.time_ns for point in points), default=run.start_ns)
    for row in answer["series"].rows():
        if row["rank"] == lowest and row["phase"] == "validation" and row["iterations_per_second"]:
            at = run.start_ns + row["start_ns"]
            step = max((p.step for p in points if p.time_ns <= at), default=0)
            points.append(Point("validation_rate", row["iterations_per_second"], step, at))
            end_ns = max(end_ns, at)
    for row in answer["job"].rows():
        rate = batch_rate(row)
        if rate is None or row["phase"] not in ("training", "validation"):
            continue
        values = {"rate": rate}
        if row["samples_per_second"] is not None:
            values["samples_per_second"] = row["samples_per_second"]
        points += [
            Point(f"{row['phase']}_{name}", value, last_step + 1, end_ns + 1_000_000)
            for name, value in values.items()
        ]
    return points


def batch_rate(row: Mapping[str, Any]) -> float | None:
    """Batches a second, of a row of throughput's `job`.

    Where no loader was watched the number of batches per step is unknown and counts as one.
    """
    batches: float | None = row["batches_per_second"]
    return batches if batches is not None else row["iterations_per_second"]


def _training(run: RecordedRun) -> Iterator[Point]:
    """Of the steps of the lowest rank, in at most so many stretches."""
    rows = list(run.events.time(slowest=0)["steps"].rows())
    lowest = min((row["rank"] for row in rows), default=0)
    rows = [row for row in rows if row["rank"] == lowest and row["step_ns"]]
    batches = _batches_of_steps(run, lowest)
    size = -(-len(rows) // POINTS) or 1
    for first in range(0, len(rows), size):
        stretch = rows[first : first + size]
        spent = sum(row["step_ns"] for row in stretch)
        last = stretch[-1]
        at = run.start_ns + last["start_ns"] + last["step_ns"]
        count = sum(batches.get(row["step"], 1) for row in stretch)
        yield Point("training_rate", 1e9 * count / spent, last["step"], at)


def _batches_of_steps(run: RecordedRun, rank: int) -> dict[int, int]:
    """How many batches each step took, where a loader was watched."""
    rows = [row for row in run.events.loader()["steps"].rows() if row["rank"] == rank]
    counts = {row["step"]: row["batches"] for row in rows}
    return counts if any(counts.values()) else {}


def system_metrics(run: RecordedRun) -> list[Point]:
    """What the machines did, of all of them."""
    answer = run.recordings.system(points=POINTS)
    machines = {row["node"]: row for row in answer["machines"].rows()}
    gpus = {(row["node"], row["gpu"]): row for row in answer["gpus"].rows()}
    named = _Names(list(machines))
    points: list[Point] = []
    for row in answer["load"].rows():
        node, gpu = row["node"], _gpu_of(row)
        if gpu is not None and (node, gpu) not in gpus:
            continue  # the load of its memory
        name = "cpu" if gpu is None else f"gpu_{gpu}"
        percent = 100 * row["busy_share"]
        points += named.add(node, f"{name}_utilization_percentage", percent, _at(run, row))
    for row in answer["memory"].rows():
        node, gpu, used = row["node"], _gpu_of(row), row["memory_bytes"]
        if gpu is not None and (node, gpu) not in gpus:
            continue  # what the job has of it
        about = machines.get(node, {}) if gpu is None else gpus.get((node, gpu), {})
        name = "system_memory_usage" if gpu is None else f"gpu_{gpu}_memory_usage"
        points += named.add(node, f"{name}_megabytes", used / _MEGA, _at(run, row))
        if total := about.get("memory_total_bytes"):
            points += named.add(node, f"{name}_percentage", 100 * used / total, _at(run, row))
    end = max((point.time_ns for point in points), default=run.start_ns)
    for node, row in machines.items():
        points += _totals(named, node, row, end)
    for row in answer["file_systems"].rows():
        if row["path"] == "/":  # the one that MLflow looks at
            points += _fullness(named, row, end)
    for (node, gpu), row in gpus.items():
        if row["mean_watts"] is not None:
            watts = row["mean_watts"]
            points += named.add(node, f"gpu_{gpu}_power_usage_watts", watts, end)
            if row["limit_watts"]:
                percent = 100 * watts / row["limit_watts"]
                points += named.add(node, f"gpu_{gpu}_power_usage_percentage", percent, end)
    return points


def _totals(named: _Names, node: str, row: dict[str, Any], end: int) -> Iterator[Point]:
    """Running totals at the end; MLflow counts them from the beginning, too."""
    for name, key in (("receive", "received_bytes"), ("transmit", "sent_bytes")):
        if row[key] is not None:
            yield from named.add(node, f"network_{name}_megabytes", row[key] / _MEGA, end)


def _fullness(named: _Names, row: dict[str, Any], end: int) -> Iterator[Point]:
    """At the end of the run."""
    node, used, left = row["node"], row["used_last_bytes"], row["available_min_bytes"]
    yield from named.add(node, "disk_usage_percentage", 100 * row["used_max_share"], end)
    yield from named.add(node, "disk_usage_megabytes", used / _MEGA, end)
    yield from named.add(node, "disk_available_megabytes", left / _MEGA, end)


class _Names:
    """With the machine's name where there are several; a step counts the values of each."""

    def __init__(self, nodes: list[str]) -> None:
        self._several = len(nodes) > 1
        self._steps: dict[str, int] = {}

    def add(self, node: str, name: str, value: float, at: int) -> Iterator[Point]:
        full = f"system/{node}/{name}" if self._several else f"system/{name}"
        step = self._steps.get(full, 0)
        self._steps[full] = step + 1
        yield Point(full, value, step, at)


def _at(run: RecordedRun, row: dict[str, Any]) -> int:
    return run.start_ns + int(row["time_ns"])


def _gpu_of(row: dict[str, Any]) -> str | None:
    """The device of a curve ("CPU", "host", "GPU 3") follows its machine if there are several."""
    _, found, gpu = str(row["of"]).rpartition("GPU ")
    return gpu if found else None
