"""Anemoi's Speed report: speed_profiler.csv.

Iterations are batches of a rank (the mean of all), however many make a step of the optimizer;
samples are those of the whole job.
"""

from __future__ import annotations

from typing import Any

from stepscope.integrations.frame import Frame
from stepscope.integrations.series import batch_rate
from stepscope.run import Run


def speed_frame(run: Run, operators: Run | None, remarks: list[str]) -> Frame:
    """Rates of training and validation, and of their loaders.

    Args:
        run: the recordings.
        operators: the traces, for the time in operators; None without.
        remarks: sentences about what is missing are added.
    """
    answer = run.throughput()
    job = {row["phase"]: row for row in answer["job"].rows()}
    loaders = list(run.loader()["loaders"].rows())
    frame = Frame(["metric", "value"])

    def add(name: str, value: float | None) -> None:
        if value is not None:
            frame.rows.append([name, f"{value:.5f}"])

    for phase in ("training", "validation"):
        of = job.get(phase)
        if of is None:
            remarks.append(f"Speed: no batch of {phase} was recorded, so its rates are left out.")
            continue
        add(f"{phase}_avg_throughput", batch_rate(of))
        add(f"{phase}_avg_throughput_per_sample", of["samples_per_second"])
        if of["samples_per_second"] is None:
            remarks.append(f"Speed: how many samples a batch of {phase} holds is not known.")
    for phase in ("training", "validation"):
        batches, samples = _loader_rates([row for row in loaders if row["phase"] == phase])
        add(f"avg_{phase}_dataloader_throughput", batches)
        add(f"avg_{phase}_dataloader_throughput_per_sample", samples)
        if batches is None and phase in job:
            remarks.append(f"Speed: what making a batch of {phase} took was not recorded.")
    if operators is not None:
        for name, ns in _operator_sums(operators).items():
            add(name, ns / 1e9)
    return frame


def _loader_rates(rows: list[dict[str, Any]]) -> tuple[float | None, float | None]:
    """Batches a second that a rank's loaders can make (mean), and samples of all ranks."""
    by_rank: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        if row["batches_per_second"] is not None:
            by_rank.setdefault(row["rank"], []).append(row)
    if not by_rank:
        return None, None
    batches = [sum(row["batches_per_second"] for row in rows) for rows in by_rank.values()]
    samples = [
        sum(row["batches_per_second"] * row["samples"] / row["batches"] for row in rows)
        for rows in by_rank.values()
        if all(row["samples"] and row["batches"] for row in rows)
    ]
    whole = sum(samples) if len(samples) == len(by_rank) else None
    return sum(batches) / len(batches), whole


def _operator_sums(run: Run) -> dict[str, float]:
    """Of a traced rank: time in operators, on the host and on the device."""
    host: dict[int, int] = {}
    device: dict[int, int] = {}
    for row in run.operators(top=0)["operators"].rows():
        host[row["rank"]] = host.get(row["rank"], 0) + (row["host_self_ns"] or 0)
        device[row["rank"]] = device.get(row["rank"], 0) + (row["device_self_ns"] or 0)
    if not host:
        return {}
    return {
        "Self CPU time total": sum(host.values()) / len(host),
        "Self CUDA time total": sum(device.values()) / len(device),
    }
