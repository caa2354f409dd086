"""annotations by asking every event for what is around it."""

from collections import defaultdict
from pathlib import Path

import pytest
from answers import Row, short_name, tables, traces
from oracle import read_trace
from oracle.events import Event
from oracle.random_trace import random_trace
from oracle.work import View, view_of, view_of_file
from program import Program


def is_listed(event: Event) -> bool:
    return "far_time" not in event.flags and not event.name.startswith("ProfilerStep#")


def around(event: Event | None) -> list[Event]:
    """The named ranges around an event, the innermost first."""
    found = []
    while event is not None and event.parent is not None:
        event = event.parent
        if event.kind == "annotation" and is_listed(event):
            found.append(event)
    return found


def forward_of(event: Event | None) -> Event | None:
    while event is not None and event.forward is None:
        event = event.parent
    return event.forward if event else None


def expected(view: View) -> dict[str, Row]:
    rows = defaultdict[str, Row](lambda: defaultdict(int))
    lengths = defaultdict[str, list[int]](list)
    for event in filter(is_listed, view.trace.events):
        if event.kind == "annotation" and event.shape == "span":
            lengths[event.name].append(event.duration)
            rows[event.name]["host_self_ns"] += event.duration
            for outer in around(event)[:1]:
                rows[outer.name]["host_self_ns"] -= min(event.end, outer.end) - event.start
        if event.kind == "gpu_annotation":
            rows[event.name]["device_range_count"] += 1
            rows[event.name]["device_range_ns"] += event.duration
    for work in view.work:
        ranges = around(work.event.launch)
        for name in {r.name for r in ranges}:
            rows[name]["work_count"] += 1
            rows[name]["device_ns"] += work.length
        for inner in ranges[:1]:
            rows[inner.name]["device_self_ns"] += work.length
        for name in {r.name for r in around(forward_of(work.event.launch))}:
            rows[name]["backward_ns"] += work.length
    for name, many in lengths.items():
        rows[name] |= {
            "count": len(many),
            "host_sum_ns": sum(many),
            "host_mean_ns": pytest.approx(sum(many) / len(many)),
            "host_min_ns": min(many),
            "host_max_ns": max(many),
        }
    return {name: dict(row) for name, row in rows.items()}


def check(program: Program, view: View, path: Path) -> None:
    got = tables(program, "annotations", "--top", "0", path)["annotations"]
    wanted = expected(view)
    assert {row["name"] for row in got} == wanted.keys()
    for row in got:
        right = wanted[row["name"]]
        for column, value in row.items():
            if column == "rank":
                assert value == view.rank
            elif column != "name":
                assert (value or 0) == right.get(column, 0), (row["name"], column)
    order = [(row["host_sum_ns"], row["device_range_ns"]) for row in got]
    assert order == sorted(order, reverse=True)


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_real_traces_by_brute_force(program: Program, path: Path) -> None:
    check(program, view_of_file(path), path)


@pytest.mark.parametrize("seed", range(40))
def test_random_traces_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    check(program, view_of(read_trace(path.read_bytes())), path)
