"""Launches against a brute-force oracle."""

from collections import defaultdict
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from answers import short_name, tables, traces
from oracle import read_trace
from oracle.events import Event
from oracle.random_trace import random_trace
from oracle.work import View, Work, view_of, view_of_file
from program import Program

SHORT = 10_000


def percentile(values: list[int], share: float) -> int:
    """The smallest value that at least this share of the values do not exceed."""
    return sorted(values)[max(1, ceil(share * len(values))) - 1] if values else 0


def median(values: list[int]) -> int:
    """Of an even number the middle between the two, rounded down."""
    ordered = sorted(values) or [0]
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) // 2


def delay(work: Work) -> int:
    """From the end of the call to the start of the work."""
    call = work.event.launch
    return max(0, work.event.start - call.end) if call else 0


def sums(work: list[Work]) -> dict[str, Any]:
    """What a table says of this work."""
    calls: dict[int, tuple[Event, list[Work]]] = {}
    for piece in work:
        if piece.event.launch is not None:
            calls.setdefault(id(piece.event.launch), (piece.event.launch, []))[1].append(piece)
    launched = [w for w in work if w.event.launch]
    delays = [delay(w) for w in launched]
    brief = [w.length for w in launched if w.event.kind == "kernel" and w.length < SHORT]
    graphs = [many for _, many in calls.values() if len(many) > 1]
    cost = sum(call.duration for call, _ in calls.values())
    return {
        "calls": len(calls),
        "work": len(launched),
        "cost_ns": cost,
        "mean_cost_ns": pytest.approx(cost / len(calls) if calls else 0),
        "median_delay_ns": median(delays),
        "p95_delay_ns": percentile(delays, 0.95),
        "max_delay_ns": max(delays, default=0),
        "short_kernels": len(brief),
        "short_kernel_ns": sum(brief),
        "longer_than_work": sum(
            call.duration > sum(w.length for w in many) for call, many in calls.values()
        ),
        "graph_launches": len(graphs),
        "graph_work": sum(map(len, graphs)),
        "without_call": len(work) - len(launched),
    }


def same(row: dict[str, Any], expected: dict[str, Any]) -> None:
    """The row holds these values, where it has the column."""
    shared = row.keys() & expected.keys()
    assert {key: row[key] for key in shared} == {key: expected[key] for key in shared}


def check(program: Program, path: Path, view: View) -> None:
    """Compares all tables with the oracle."""
    found = tables(program, "launches", "--top", "0", "--each", path)
    assert len(found["ranks"]) == bool(view.work)
    for row in found["ranks"]:
        same(row, sums(view.work))
    by_call = defaultdict[str, list[Work]](list)
    by_name = defaultdict[tuple[str, str], list[Work]](list)
    for work in view.work:
        if work.event.launch is not None:
            by_call[work.event.launch.name].append(work)
            by_name[work.event.name, work.sort].append(work)
    assert {row["call"] for row in found["calls"]} == by_call.keys()
    for row in found["calls"]:
        same(row, sums(by_call[row["call"]]))
    assert {(row["name"], row["class"]) for row in found["kernels"]} == by_name.keys()
    for row in found["kernels"]:
        kernel(row, by_name[row["name"], row["class"]], view)
    steps = [step for step in view.steps if view.has_steps and view.work]
    assert [row["step"] for row in found["steps"]] == [step.number for step in steps]
    for row, step in zip(found["steps"], steps, strict=True):
        same(row, sums([w for w in view.work if w.step is step]))
    each = sorted(
        (w.event.ordinal, w.event.launch.ordinal, w.event.launch.duration, w.length, delay(w))
        for w in view.work
        if w.event.launch
    )
    keys = ("work_event", "call_event", "cost_ns", "length_ns", "delay_ns")
    assert sorted(tuple(row[key] for key in keys) for row in found["each"]) == each


def kernel(row: dict[str, Any], own: list[Work], view: View) -> None:
    """One name of work: the cost of calls that start it alone."""
    pieces = defaultdict[int, int](int)
    for work in view.work:
        pieces[id(work.event.launch)] += 1
    alone = [w for w in own if pieces[id(w.event.launch)] == 1]
    costs = [w.event.launch.duration for w in alone if w.event.launch]
    delays = [delay(w) for w in own]
    assert row["count"] == len(own)
    assert row["in_graphs"] == len(own) - len(alone)
    assert row["cost_ns"] == sum(costs)
    assert row["median_length_ns"] == median([w.length for w in own])
    assert row["median_delay_ns"] == median(delays)
    assert row["p95_delay_ns"] == percentile(delays, 0.95)
    assert row["longer_than_work"] == sum(
        w.event.launch.duration > w.length for w in alone if w.event.launch
    )


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_equals_brute_force(program: Program, path: Path) -> None:
    check(program, path, view_of_file(path))


@pytest.mark.parametrize("seed", range(25))
def test_random_traces(program: Program, tmp_path: Path, seed: int) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    check(program, path, view_of(read_trace(path.read_bytes())))
