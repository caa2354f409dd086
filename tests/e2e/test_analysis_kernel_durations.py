"""kernel-durations against lists of lengths, one rank and several."""

import statistics
from bisect import bisect_right
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from answers import Row, short_name, tables, traces
from oracle import read_trace
from oracle.random_trace import random_trace
from oracle.work import View, view_of, view_of_file
from program import Program

BORDERS = [0, *sorted(digit * 10**power for digit in (1, 2, 5) for power in range(13))]
Lengths = dict[int, list[int]]  # by rank


def lengths(views: list[View]) -> dict[tuple[str, str], Lengths]:
    found = defaultdict[tuple[str, str], Lengths](lambda: defaultdict(list))
    for view in views:
        for work in view.work:
            if not work.sort.startswith("mem"):
                found[work.event.name, work.sort][view.rank].append(work.length)
    return found


def check_name(row: Row, by_rank: Lengths, ranks: list[Row], histogram: list[Row]) -> None:
    everything = sorted(length for many in by_rank.values() for length in many)
    means = {rank: sum(many) / len(many) for rank, many in by_rank.items()}
    middle = statistics.median(means.values())
    assert row["ranks"] == len(by_rank)
    assert row["count"] == len(everything)
    assert row["sum_ns"] == sum(everything)
    assert row["mean_ns"] == pytest.approx(statistics.fmean(everything))
    for column, percent in (("median_ns", 50), ("p95_ns", 95), ("p99_ns", 99)):
        exact = everything[max(-(-len(everything) * percent // 100), 1) - 1]
        assert row[column] == pytest.approx(exact, rel=0.01)
    assert row["median_rank_mean_ns"] == pytest.approx(middle)
    assert row["slowest_mean_ns"] == pytest.approx(max(means.values()))
    assert row["fastest_mean_ns"] == pytest.approx(min(means.values()))
    assert means[row["slowest_rank"]] == max(means.values())
    assert means[row["fastest_rank"]] == min(means.values())
    if middle:
        assert row["slowest_ratio"] == pytest.approx(max(means.values()) / middle)
    else:
        assert row["slowest_ratio"] is None
    assert {r["rank"]: (r["count"], r["sum_ns"]) for r in ranks} == {
        rank: (len(many), sum(many)) for rank, many in by_rank.items()
    }
    counts = Counter(BORDERS[bisect_right(BORDERS, length) - 1] for length in everything)
    assert {r["from_ns"]: r["count"] for r in histogram} == counts
    for bucket in histogram:
        inside = [n for n in everything if bucket["from_ns"] <= n < bucket["to_ns"]]
        assert (len(inside), sum(inside)) == (bucket["count"], bucket["sum_ns"])
        assert bucket["share"] == pytest.approx(len(inside) / len(everything))


def check(program: Program, views: list[View], *paths: Path) -> None:
    got = tables(program, "kernel-durations", "--top", "0", *paths)
    wanted = lengths(views)
    assert {(r["name"], r["class"]) for r in got["names"]} == wanted.keys()
    sums = [r["sum_ns"] for r in got["names"]]
    assert sums == sorted(sums, reverse=True)
    parts = {
        table: defaultdict[tuple[str, str], list[Row]](list) for table in ("ranks", "histogram")
    }
    for table, by_key in parts.items():
        for row in got[table]:
            by_key[row["name"], row["class"]].append(row)
    for row in got["names"]:
        key = row["name"], row["class"]
        check_name(row, wanted[key], parts["ranks"][key], parts["histogram"][key])
    assert len(tables(program, "kernel-durations", "--top", "2", *paths)["names"]) == min(
        2, len(wanted)
    )


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_real_traces_by_brute_force(program: Program, path: Path) -> None:
    check(program, [view_of_file(path)], path)


def test_ranks_side_by_side(program: Program, samples: Path) -> None:
    paths = sorted((samples / "ddp").glob("*.json.gz"))
    assert len(paths) > 1
    check(program, [view_of_file(path) for path in paths], samples / "ddp")


@pytest.mark.parametrize("seed", range(0, 30, 3))
def test_random_ranks_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    views = []
    for rank in range(3):
        path = tmp_path / f"rank{rank}.json"
        path.write_bytes(random_trace(seed + rank))
        views.append(view_of(read_trace(path.read_bytes())))
    check(program, views, tmp_path)
