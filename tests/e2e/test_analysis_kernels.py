"""kernels against lists of durations."""

import math
import statistics
from collections import defaultdict
from pathlib import Path

import pytest
from answers import Row, close, short_name, tables, traces
from oracle import read_trace
from oracle.random_trace import random_trace
from oracle.rows import kernel_columns
from oracle.work import View, Work, view_of, view_of_file
from program import Program

MEMORY = ("memcpy", "memset")


def percentile(lengths: list[int], percent: int) -> int:
    """The smallest value that at least this many of the values do not exceed."""
    return sorted(lengths)[max(math.ceil(len(lengths) * percent / 100), 1) - 1]


def median(values: list[int]) -> int:
    """Of an even number the middle between the two, rounded down."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) // 2


def mean_of(group: list[Work], key: str, weigh: bool) -> float | None:
    """Mean of a kernel argument over the runs that say it."""
    said = [(kernel_columns(w.event)[key], w.length if weigh else 1) for w in group]
    known = [(float(v), n) for v, n in said if isinstance(v, int | float)]
    whole = sum(n for _, n in known)
    return sum(v * n for v, n in known) / whole if whole else None


def row(view: View, name: str, sort: str, group: list[Work], everything: int) -> Row:
    lengths = [w.length for w in group]
    return {
        "rank": view.rank,
        "name": name,
        "class": sort,
        "count": len(lengths),
        "sum_ns": sum(lengths),
        "share": sum(lengths) / everything if everything else None,
        "mean_ns": sum(lengths) / len(lengths),
        "min_ns": min(lengths),
        "p5_ns": percentile(lengths, 5),
        "p25_ns": percentile(lengths, 25),
        "median_ns": median(lengths),
        "p75_ns": percentile(lengths, 75),
        "p95_ns": percentile(lengths, 95),
        "p99_ns": percentile(lengths, 99),
        "max_ns": max(lengths),
        "sd_ns": statistics.stdev(lengths) if len(lengths) > 1 else 0,
        "blocks_per_sm": mean_of(group, "blocks_per_sm", True),
        "occupancy_share": None,
    }


def tells_occupancy(work: Work) -> bool:
    """Kineto's 0 beside a warp or more on each multiprocessor means that it could not tell."""
    columns = kernel_columns(work.event)
    warps = columns["warps_per_sm"]
    is_warm = isinstance(warps, int | float) and warps >= 1
    return not (columns["occupancy_percent"] == 0 and is_warm)


def expected(view: View, with_memory: bool) -> list[Row]:
    groups = defaultdict[tuple[str, str], list[Work]](list)
    for work in view.work:
        if with_memory or work.sort not in MEMORY:
            groups[work.event.name, work.sort].append(work)
    everything = sum(w.length for group in groups.values() for w in group)
    rows = []
    for (name, sort), group in groups.items():
        rows.append(row(view, name, sort, group, everything))
        percent = mean_of([w for w in group if tells_occupancy(w)], "occupancy_percent", True)
        rows[-1]["occupancy_share"] = None if percent is None else percent / 100
    order = ["compute", "communication", *MEMORY]
    return sorted(rows, key=lambda r: (-r["sum_ns"], r["name"].encode(), order.index(r["class"])))


def check(program: Program, view: View, path: Path) -> None:
    for options, with_memory in (([], False), (["--memory"], True)):
        got = tables(program, "kernels", "--top", "0", *options, path)["kernels"]
        wanted = expected(view, with_memory)
        assert [r["name"] for r in got] == [r["name"] for r in wanted]
        for found, right in zip(got, wanted, strict=True):
            assert found == close(right, 1e-6)
    short = tables(program, "kernels", "--top", "2", path)["kernels"]
    everything = expected(view, False)
    assert len(short) == min(3, len(everything))
    assert sum(r["sum_ns"] for r in short) == sum(r["sum_ns"] for r in everything)
    assert sum(r["count"] for r in short) == sum(r["count"] for r in everything)


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_real_traces_by_brute_force(program: Program, path: Path) -> None:
    check(program, view_of_file(path), path)


@pytest.mark.parametrize("seed", range(40))
def test_random_traces_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    check(program, view_of(read_trace(path.read_bytes())), path)
