"""Anemoi's Memory report: memory_profiler.csv, torch's table of operators by the shapes of inputs.

The 20 longest of each rank. Ranges and steps are no operators, so shares add up to 100 %.
"""

from __future__ import annotations

from typing import Any

from stepscope.integrations.frame import Frame
from stepscope.run import Run

COLUMNS = (
    "Name",
    "Self CPU %",
    "Self CPU",
    "CPU total %",
    "CPU total",
    "CPU time avg",
    "Self CUDA",
    "Self CUDA %",
    "CUDA total",
    "CUDA time avg",
    "CPU Mem",
    "Self CPU Mem",
    "CUDA Mem",
    "Self CUDA Mem",
    "# of Calls",
    "Input Shapes",
    "Rank",
)
_ROWS = 20


def memory_frame(run: Run) -> Frame:
    """Of the traces of all ranks."""
    by_rank: dict[int, list[dict[str, Any]]] = {}
    for row in run.operators(top=0)["shapes"].rows():
        by_rank.setdefault(row["rank"], []).append(row)
    frame = Frame(COLUMNS)
    for rank in sorted(by_rank):
        rows = by_rank[rank]
        host = sum(row["host_self_ns"] or 0 for row in rows)
        on_device = any(row["device_self_ns"] for row in rows)
        by = "device_total_ns" if on_device else "host_total_ns"
        rows.sort(key=lambda row: (-(row[by] or 0), str(row["name"])))
        frame.rows += [_cells(row, host, rank) for row in rows[:_ROWS]]
    return frame


def _cells(row: dict[str, Any], host_ns: int, rank: int) -> list[Any]:
    calls = row["calls"] or 1
    total, device = row["host_total_ns"] or 0, row["device_total_ns"] or 0
    return [
        row["name"] or "(others)",
        _percent(row["host_self_ns"] or 0, host_ns),
        _time(row["host_self_ns"] or 0),
        _percent(total, host_ns),
        _time(total),
        _time(total / calls),
        _time(row["device_self_ns"] or 0),
        f"{100 * (row['device_self_share'] or 0):.2f}%",
        _time(device),
        _time(device / calls),
        _size(row["host_memory_bytes"] or 0),
        _size(row["host_memory_self_bytes"] or 0),
        _size(row["device_memory_bytes"] or 0),
        _size(row["device_memory_self_bytes"] or 0),
        row["calls"],
        row["shapes"] or "[]",
        rank,
    ]


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "0.00%"


def _time(ns: float) -> str:
    """As torch's table has it.

    >>> [_time(ns) for ns in (1_500, 2_500_000, 3_000_000_000)]
    ['1.500us', '2.500ms', '3.000s']
    """
    if ns >= 1e9:
        return f"{ns / 1e9:.3f}s"
    return f"{ns / 1e6:.3f}ms" if ns >= 1e6 else f"{ns / 1e3:.3f}us"


def _size(count: int) -> str:
    """Likewise, in powers of 1024.

    >>> [_size(count) for count in (0, -2048, 3 << 20)]
    ['0 b', '-2.00 Kb', '3.00 Mb']
    """
    for unit, bytes_of in (("Gb", 1 << 30), ("Mb", 1 << 20), ("Kb", 1 << 10)):
        if abs(count) >= bytes_of:
            return f"{count / bytes_of:.2f} {unit}"
    return f"{count} b"
