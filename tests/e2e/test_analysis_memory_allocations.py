"""memory-allocations, -peak, -timeline and -diff from the pickle and a dictionary."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from answers import Row, answer, tables
from oracle.memory import Allocation, Snapshot, load, name_of, snapshot_files
from program import ROOT, Program

CATEGORIES = (
    "parameters",
    "optimizer state",
    "gradients",
    "activations",
    "inputs",
    "temporaries",
    "autograd detail",
    "communication",
    "unknown",
)


def is_python(file: str) -> bool:
    return file.endswith(".py") or file.startswith("<")


def folded(allocation: Allocation) -> str | None:
    """The Python part of a stack, the outermost call first."""
    frames = [f for f in allocation.frames if is_python(f[1])]
    texts = [f"{file.split('/')[-1]}:{line} {name}" for name, file, line in frames[::-1]]
    return ";".join(texts) or None


def key(address: int, made: int | None) -> tuple[int, int]:
    return address, -1 if made is None else made


def rows_and_allocations(program: Program, snapshot: Snapshot) -> list[tuple[Row, Allocation]]:
    rows = tables(program, "memory-allocations", "--top", "0", snapshot.path)["allocations"]
    allocations = sorted(
        snapshot.allocations(),
        key=lambda allocation: (key(allocation.address, allocation.alloc), str(allocation)),
    )
    ours = sorted(rows, key=lambda row: key(row["address"], row["made_event"]))
    assert len(ours) == len(allocations)
    return list(zip(ours, allocations, strict=True))


@pytest.mark.parametrize("path", snapshot_files(), ids=name_of)
def test_every_allocation(program: Program, path: Path) -> None:
    snapshot = load(path)
    times = [event["time_us"] * 1000 for event in snapshot.history()]
    blocks = snapshot.blocks()
    for row, allocation in rows_and_allocations(program, snapshot):
        assert row["requested_bytes"] == allocation.requested
        assert (row["made_event"], row["let_go_event"]) == (allocation.alloc, allocation.let_go)
        assert row["freed_event"] == allocation.freed
        assert row["stream"] == allocation.stream
        assert row["alive"] == (allocation.used_until is None)
        assert row["bytes"] >= -(-allocation.requested // 512) * 512
        if allocation.freed is None and allocation.address in blocks:
            assert row["bytes"] == blocks[allocation.address]["size"]
        if allocation.alloc is not None:
            assert row["made_ns"] == times[allocation.alloc] - times[0]
            until = allocation.used_until
            assert row["life_ns"] == (
                None if until is None else times[until] - times[allocation.alloc]
            )
        if any(is_python(file) for _, file, _ in allocation.frames):
            assert row["stack"] == folded(allocation)
        assert row["category"] in CATEGORIES


@pytest.mark.parametrize("path", snapshot_files(), ids=name_of)
def test_the_peak_and_the_end(program: Program, path: Path) -> None:
    snapshot = load(path)
    both = rows_and_allocations(program, snapshot)
    curve = curve_of(both, len(snapshot.history()))
    for moment in ("peak", "end"):
        said = tables(program, "memory-peak", "--top", "0", "--at", moment, path)
        (line,) = said["peak"]
        event = curve.index(max(curve)) - 1 if moment == "peak" else len(curve) - 2
        assert line["bytes"] == curve[event + 1]
        assert line["event"] == (event if event >= 0 else None)
        held = [row for row, allocation in both if allocation.held(event)]
        assert line["allocations"] == len(held)
        made = [row for row in held if row["made_event"] is not None]
        if made:
            last = max(made, key=lambda row: row["made_event"])
            assert line["last_bytes"] == last["bytes"]
            assert line["last_where"] == last["where"]
        assert by(said["categories"], "category") == added(held, "category")
        for row in said["stacks"]:  # what tells places of the same line apart
            row["where"] = re.split(" [→←] ", row["where"])[0]
        assert by(said["stacks"], "where", "stack", "category") == added(
            held, "where", "stack", "category"
        )
        sizes = defaultdict[tuple[Any, ...], int](int)
        for row in held:
            sizes[(1 << (row["bytes"] - 1).bit_length(),)] += row["bytes"]
        assert by(said["sizes"], "up_to_bytes") == sizes
        for table in ("categories", "stacks", "sizes", "ages"):
            if said[table]:
                assert sum(row["bytes"] for row in said[table]) == line["bytes"]
                assert sum(row["share"] for row in said[table]) == pytest.approx(1)
        listed = tables(program, "memory-allocations", "--top", "0", "--alive-at", moment, path)
        assert sum(row["bytes"] for row in listed["allocations"]) == line["bytes"]


def curve_of(both: list[tuple[Row, Allocation]], events: int) -> list[int]:
    """Allocated before the first event and after each."""
    change = [0] * (events + 1)
    for row, allocation in both:
        if allocation.let_go_before:
            continue
        change[0 if allocation.alloc is None else allocation.alloc + 1] += row["bytes"]
        if allocation.used_until is not None:
            change[allocation.used_until + 1] -= row["bytes"]
    now, curve = 0, []
    for by_event in change:
        now += by_event
        curve.append(now)
    return curve


def by(rows: list[Row], *keys: str) -> dict[tuple[Any, ...], int]:
    out = defaultdict[tuple[Any, ...], int](int)
    for row in rows:
        out[tuple(row[key] for key in keys)] += row["bytes"]
    return out


def added(held: list[Row], *keys: str) -> dict[tuple[Any, ...], int]:
    return by(held, *keys)


@pytest.mark.parametrize("path", snapshot_files(), ids=name_of)
def test_the_timeline(program: Program, path: Path) -> None:
    snapshot = load(path)
    both = rows_and_allocations(program, snapshot)
    events = len(snapshot.history())
    first_us = snapshot.history()[0]["time_us"]
    curve = curve_of(both, events)[1:]
    for axis in ("events", "time"):
        said = tables(program, "memory-timeline", "--points", "40", "--axis", axis, path)
        points = said["timeline"]
        if axis == "events":
            assert len(points) <= 40
        else:  # also what holds over a gap, the end, and where steps begin
            assert len(points) <= 2 * 40 + len(said["steps"])
            times = [point["at_ns"] for point in points]
            assert times == sorted(set(times))
            assert times[-1] == (snapshot.history()[-1]["time_us"] - first_us) * 1000
            begins = {row["at_ns"] for row in said["steps"]}
            assert begins <= set(times) or len(begins) > 40
        assert max(point["allocated_bytes"] for point in points) == max(curve)
        for point in points:
            held = added(
                [row for row, allocation in both if allocation.held(point["event"])], "category"
            )
            assert point["allocated_bytes"] == curve[point["event"]] == sum(held.values())
            for category in CATEGORIES:
                assert point[category.replace(" ", "_") + "_bytes"] == held[(category,)]
        stacks = defaultdict[int, int](int)
        for row in said["stacks"]:
            stacks[row["event"]] += row["bytes"]
        assert stacks == {point["event"]: point["allocated_bytes"] for point in points}
        if axis == "events":
            for k in range(40):
                part = curve[-(-k * events // 40) : -(-(k + 1) * events // 40)]
                if part:
                    assert max(part) in {point["allocated_bytes"] for point in points}
    before = curve_of(both, events)[0]
    for row in said["steps"] + said["passes"]:
        part = curve[row["event"] : row["event"] + row["events"]]
        start = curve[row["event"] - 1] if row["event"] else before
        assert row["start_bytes"] == start
        assert row["peak_bytes"] == max([start, *part])
        assert row["lowest_bytes"] == min([start, *part])
        assert row["end_bytes"] == part[-1]
        assert row["change_bytes"] == part[-1] - start
    (shape,) = said["shape"]
    if len(said["steps"]) > 1 and shape["floor_bytes"] is not None:
        assert shape["floor_bytes"] == min(curve[said["steps"][1]["event"] - 1 :])


def test_compared(program: Program) -> None:
    names = ("gpt_autocast", "gpt_expandable", "gpt_recompute")
    paths = [ROOT / "tests" / "fixtures" / "memory" / f"{name}.pickle.gz" for name in names]
    said = answer(program, "memory-diff", "--top", "0", *paths)["tables"]
    order = [row["snapshot"] for row in said["snapshots"]]
    peaks = {}
    for path in paths:
        (label,) = (name for name in order if path.name.split(".")[0] in name)
        peaks[label] = {
            moment: tables(program, "memory-peak", "--top", "0", "--at", moment, path)
            for moment in ("peak", "end")
        }
    for row in said["snapshots"]:
        assert row["peak_bytes"] == peaks[row["snapshot"]]["peak"]["peak"][0]["bytes"]
        assert row["end_bytes"] == peaks[row["snapshot"]]["end"]["peak"][0]["bytes"]
    middle = sorted(row["peak_bytes"] for row in said["snapshots"])[1]
    assert {row["peak_bytes"] - row["peak_less_median_bytes"] for row in said["snapshots"]} == {
        middle
    }
    for row in said["stacks"]:
        values = [
            sum(
                r["bytes"]
                for r in peaks[name][row["moment"]]["stacks"]
                if (r["stack"], r["category"]) == (row["stack"], row["category"])
            )
            for name in order
        ]
        assert (row["first_bytes"], row["last_bytes"]) == (values[0], values[-1])
        assert (row["min_bytes"], row["max_bytes"]) == (min(values), max(values))
        assert values[order.index(row["max_snapshot"])] == max(values)
    for row in said["categories"]:
        values = [
            sum(
                r["bytes"]
                for r in peaks[name][row["moment"]]["categories"]
                if row["category"] in (None, r["category"])
            )
            for name in order
        ]
        assert row["change_bytes"] == values[-1] - values[0]
        assert (row["min_bytes"], row["max_bytes"]) == (min(values), max(values))
