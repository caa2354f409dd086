"""Anemoi's System report: system_profiler.csv, the mean of each metric over the run, of all nodes.

From the samples of the recording, so no tracker is needed, and a run may be short. MB is a million
bytes, as in MLflow. GPUs are those of the job.
"""

from __future__ import annotations

from collections.abc import Iterable

from stepscope.integrations.frame import Frame
from stepscope.integrations.recorded import RecordedRun
from stepscope.integrations.series import Point, system_metrics

_MEGA = 1e6


def system_frame(run: RecordedRun, remarks: list[str]) -> Frame:
    """Empty, with a remark, where no machine was sampled."""
    means = dict(sorted(_means(system_metrics(run)).items()))
    frame = Frame(["metric", "value"])
    if not means:
        remarks.append("System: no machine was sampled in this run, so the table is empty.")
        return frame
    answer = run.recordings.system()
    machines = list(answer["machines"].rows())
    several = len(machines) > 1
    for name, value in means.items():
        frame.rows.append([readable(name), f"{value:.2f}"])
    longest = max((row["sampled_ns"] for row in machines), default=0)
    frame.rows.append(["execution time (sec)", f"{longest / 1e9:.2f}"])
    for row in machines:
        node = f"{row['node']}/" if several else ""
        if row["memory_total_bytes"] is not None:
            total = row["memory_total_bytes"] / _MEGA
            frame.rows.append([f"{node}system memory total MB", f"{total:.2f}"])
    for row in answer["gpus"].rows():
        node = f"{row['node']}/" if several else ""
        for key, name in (("sent", "tx"), ("received", "rx")):
            rate = row[f"pcie_{key}_bytes_per_second"]
            if rate is not None:
                text = f"avg {node}gpu {row['gpu']} pcie {name} MB/s"
                frame.rows.append([text, f"{rate / _MEGA:.2f}"])
        if row["memory_total_bytes"] is not None:
            total = row["memory_total_bytes"] / _MEGA
            frame.rows.append([f"{node}gpu {row['gpu']} memory total MB", f"{total:.2f}"])
    for ending, name in (
        ("_utilization_percentage", "avg GPU utilization (%)"),
        ("_memory_usage_percentage", "avg GPU memory usage %"),
        ("_memory_usage_megabytes", "avg GPU memory usage MB"),
    ):
        of_gpus = [v for k, v in means.items() if "/gpu_" in k and k.endswith(ending)]
        if of_gpus:
            frame.rows.append([name, f"{sum(of_gpus) / len(of_gpus):.2f}"])
    if not any("/gpu_" in name for name in means):
        remarks.append("System: no GPU was seen in this run, so there are no rows of GPUs.")
    return frame


def readable(name: str) -> str:
    """A metric's name as Anemoi shows it.

    >>> readable("system/gpu_0_memory_usage_megabytes")
    'avg gpu 0 memory usage MB'
    >>> readable("system/node_7/cpu_utilization_percentage")
    'avg node_7/cpu utilization %'
    """
    node, _, metric = name.removeprefix("system/").rpartition("/")
    words = metric.replace("_", " ").replace("megabytes", "MB").replace("percentage", "%")
    return f"avg {node}/{words}" if node else f"avg {words}"


def _means(points: Iterable[Point]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for point in points:
        values.setdefault(point.name, []).append(point.value)
    return {name: sum(found) / len(found) for name, found in values.items()}
