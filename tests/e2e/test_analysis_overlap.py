"""overlap against sets of time."""

from collections import defaultdict
from pathlib import Path

import pytest
from answers import Row, short_name, tables, traces
from oracle import read_trace
from oracle.events import Event
from oracle.intervals import Interval, intersect, total
from oracle.random_trace import random_trace
from oracle.rows import string
from oracle.work import View, Work, is_communication_call, view_of, view_of_file
from program import Program


def share(part: int, whole: int) -> object:
    return pytest.approx(part / whole) if whole else None


def parts(communication: list[Interval], compute: list[Interval], within: list[Interval]) -> Row:
    running = intersect(communication, within)
    hidden = total(intersect(running, compute))
    return {
        "communication_ns": total(running),
        "hidden_ns": hidden,
        "exposed_ns": total(running) - hidden,
        "hidden_share": share(hidden, total(running)),
    }


def sets(work: list[Work]) -> tuple[list[Interval], list[Interval]]:
    return (
        [w.interval for w in work if w.sort == "communication"],
        [w.interval for w in work if w.sort == "compute"],
    )


def with_wall_time(work: list[Work], within: list[Interval]) -> Row:
    communication, compute = sets(work)
    found = parts(communication, compute, within)
    return found | {
        "measured_ns": total(within),
        "compute_ns": total(intersect(compute, within)),
        "exposed_share": share(found["exposed_ns"], total(within)),
    }


def name_of(work: Work) -> tuple[str, str | None]:
    """By the kernel's arguments, else by those around its launch, else a range, else the kernel."""
    around: list[Event] = [work.event]
    event = work.event.launch and work.event.launch.parent
    while event is not None:
        around.append(event)
        event = event.parent
    for event in around:
        if (name := string(event, "Collective name")) is not None and event.kind in (
            "kernel",
            "cpu_op",
            "annotation",
            "other",
        ):
            return name, string(event, "Process Group Name")
    for event in around[1:]:
        if is_communication_call(event):
            return event.name, None
    return work.event.name, None


def began(interval: Interval, within: list[Interval]) -> bool:
    return any(start <= interval[0] < end for start, end in within)


def collectives(view: View) -> list[Row]:
    rows = []
    for device in view.devices:
        groups = defaultdict[tuple[str, str | None], list[Interval]](list)
        for work in view.on(device):
            if work.sort == "communication":
                groups[name_of(work)].append(work.interval)
        compute = sets(view.on(device))[1]
        for (name, group), intervals in groups.items():
            row = {"rank": view.rank, "device": device, "collective": name, "group": group}
            row["count"] = sum(began(i, view.measured) for i in intervals)
            row |= parts(intervals, compute, view.measured)
            if row["count"] or row["communication_ns"]:
                rows.append(row)
    return rows


def host(view: View) -> list[Row]:
    ranges = defaultdict[str, list[Interval]](list)
    for event in view.trace.events:
        named = event.name.startswith(("gloo:", "mpi:")) and event.kind in ("cpu_op", "annotation")
        if named or event.kind == "collective":
            ranges[event.name].append((event.start, event.end))
    compute = sets(view.work)[1]
    rows = []
    engine = "autograd::engine::evaluate_function"
    is_training = any(e.forward is not None or e.name.startswith(engine) for e in view.trace.events)
    for name, intervals in ranges.items():
        row: Row = {"rank": view.rank, "collective": name, "has_backward": is_training}
        row["count"] = sum(began(i, view.measured) for i in intervals)
        row |= parts(intervals, compute, view.measured)
        if row["count"] or row["communication_ns"]:
            rows.append(row)
    return rows


def in_any_order(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda r: (r["collective"], r.get("group") or "", r.get("device", 0)))


def check(program: Program, view: View, path: Path) -> None:
    got = tables(program, "overlap", path)
    assert got["devices"] == [
        {"rank": view.rank, "device": device} | with_wall_time(view.on(device), view.measured)
        for device in view.devices
    ]
    assert got["steps"] == [
        {"rank": view.rank, "window": 0, "step": step.number, "device": device}
        | with_wall_time(view.on(device), [step.span])
        for device in view.devices
        for step in (view.steps if view.has_steps else [])
    ]
    assert in_any_order(got["collectives"]) == in_any_order(collectives(view))
    assert in_any_order(got["host"]) == in_any_order(host(view))
    for table in ("collectives", "host"):
        exposed = [row["exposed_ns"] for row in got[table]]
        assert exposed == sorted(exposed, reverse=True)
    for row in got["devices"] + got["steps"]:
        assert 0 <= row["hidden_ns"] <= min(row["communication_ns"], row["compute_ns"])


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_real_traces_by_brute_force(program: Program, path: Path) -> None:
    check(program, view_of_file(path), path)


@pytest.mark.parametrize("seed", range(40))
def test_random_traces_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    check(program, view_of(read_trace(path.read_bytes())), path)
