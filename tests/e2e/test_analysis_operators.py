"""operators against brute force: every call, every piece of work, every mark of the allocator."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from answers import Row, short_name, tables, traces
from oracle import read_trace
from oracle.events import Event
from oracle.nested_trace import nested_trace
from oracle.operators import Call, calls_of
from oracle.random_trace import random_trace
from oracle.rows import input_columns, some_text
from oracle.work import View, Work, view_of, view_of_file
from program import Program

COSTS = (
    "calls",
    "device_self_ns",
    "device_total_ns",
    "host_self_ns",
    "host_total_ns",
    "runtime_ns",
    "work_count",
    "host_memory_self_bytes",
    "host_memory_bytes",
    "device_memory_self_bytes",
    "device_memory_bytes",
)


def why_outside(work: Work) -> str:
    if work.event.launch is None:
        return "(launch not recorded)"
    return "(graph launch)" if "GraphLaunch" in work.event.launch.name else "(no operator)"


def add(rows: dict[Any, Row], key: Any, **numbers: int) -> None:
    for name, number in numbers.items():
        rows[key][name] += number


def expected(calls: list[Call], key_of: Any) -> dict[Any, Row]:
    rows = defaultdict[Any, Row](lambda: dict.fromkeys((*COSTS, "outermost"), 0))
    for call in calls:
        key = key_of(call)
        add(
            rows,
            key,
            calls=1,
            device_self_ns=call.device_self,
            host_self_ns=call.host_self,
            runtime_ns=call.runtime,
            work_count=len(call.work),
            host_memory_self_bytes=call.own_bytes[0],
            device_memory_self_bytes=call.own_bytes[1],
        )
        if key not in map(key_of, call.above()):
            add(
                rows,
                key,
                outermost=1,
                device_total_ns=call.device_total,
                host_total_ns=call.event.duration,
                host_memory_bytes=call.bytes(0),
                device_memory_bytes=call.bytes(1),
            )
    return rows


def passes_on(frame: str) -> bool:
    return frame.startswith(("<built-in", "nn.Module: ")) or frame.endswith("_call_impl")


def frames(event: Event | None, most: int) -> list[str]:
    found: list[str] = []
    while event is not None and len(found) < most:
        if event.kind == "python" and not passes_on(event.name):
            found.append(event.name)
        event = event.parent
    return found


def call_stack(event: Event) -> str | None:
    return some_text(event, "Call stack") if event.kind in ("cpu_op", "annotation") else None


def place_around(event: Event | None, most: int) -> str | None:
    """Frames of Python's spans, else of the nearest event that says its call stack."""
    said, above = None, event
    while above is not None:
        if above.kind == "python":
            return "; ".join(frames(above, most)) or None
        said = said or call_stack(above)
        above = above.parent
    shown = [f for f in str(said or "").split(";") if f and not passes_on(f)]
    return "; ".join(shown[:most]) or None


def has_place(event: Event | None) -> bool:
    while event is not None:
        if event.kind == "python" or call_stack(event):
            return True
        event = event.parent
    return False


def stack_of(call: Call, most: int) -> str | None:
    if has_place(call.event):
        return place_around(call.event, most)
    above: Event | None = call.event
    while above is not None and above.forward is None:
        above = above.parent
    if above is None or not has_place(above.forward):
        return None
    return "backward of " + (place_around(above.forward, most) or "")


def check_rows(got: list[Row], wanted: dict[Any, Row], keys: tuple[str, ...], memory: bool) -> None:
    inside = {tuple(r[k] for k in keys): r for r in got if not r["name"].startswith("(")}
    assert len(inside) == sum(not r["name"].startswith("(") for r in got)
    assert set(inside) == set(wanted)
    for key, right in wanted.items():
        for column in COSTS:
            seen = memory or "memory" not in column
            assert inside[key][column] == (right[column] if seen else None), (key, column)
        for mean, total in (
            ("host_mean_ns", "host_total_ns"),
            ("device_mean_ns", "device_total_ns"),
        ):
            assert inside[key][mean] == pytest.approx(right[total] / right["outermost"])
    order = [(-r["device_self_ns"], -(r["host_self_ns"] or 0)) for r in got]
    assert order == sorted(order)
    for share, whole in (
        ("device_self_share", "device_self_ns"),
        ("host_self_share", "host_self_ns"),
    ):
        everything = sum(r[whole] or 0 for r in got)
        for row in got:
            if row[whole] is not None:
                part = row[whole] / everything if everything else None
                assert row[share] == (None if part is None else pytest.approx(part))


def check_outside(got: list[Row], outside: list[Work], left: list[int], memory: bool) -> None:
    by_reason = defaultdict[str, list[Work]](list)
    for work in outside:
        by_reason[why_outside(work)].append(work)
    rows = {r["name"]: r for r in got if r["name"].startswith("(")}
    assert set(rows) == set(by_reason) | ({"(no operator)"} if any(left) else set())
    for reason, pieces in by_reason.items():
        assert rows[reason]["work_count"] == len(pieces)
        assert rows[reason]["device_self_ns"] == sum(w.length for w in pieces)
        assert rows[reason]["calls"] is None
    if memory and "(no operator)" in rows:
        assert rows["(no operator)"]["host_memory_self_bytes"] == left[0]
        assert rows["(no operator)"]["device_memory_self_bytes"] == left[1]


def inputs(call: Call) -> tuple[str | None, str | None]:
    """Shapes and types as the table writes them."""
    said: Any = input_columns(call.event) or {}
    if "dims" not in said:
        return None, None
    dims, types = (str(said.get(k, "")).replace('"', "") for k in ("dims", "types"))
    return dims[1:-1] or "(no inputs)", types[1:-1] or None


def check(program: Program, view: View, path: Path) -> None:
    got = tables(program, "operators", "--top", "0", "--frames", "3", path)
    calls, outside, left = calls_of(view)
    memory = any(e.kind == "memory" for e in view.trace.events)
    by_name = expected(calls, lambda c: (c.event.name,))
    check_rows(got["operators"], by_name, ("name",), memory)
    check_outside(got["operators"], outside, left, memory)
    # Nothing is lost and nothing counted twice.
    everything = sum(w.length for w in view.work)
    assert sum(r["device_self_ns"] for r in got["operators"]) == everything
    assert sum(r["work_count"] for r in got["operators"]) == len(view.work)
    assert sum(r["device_ns"] for r in got["tensor_cores"]) == everything
    for row in got["tensor_cores"]:
        parts = row["used_ns"] + row["not_used_ns"] + row["unknown_ns"]
        assert parts == row["device_ns"]
    shapes = {id(c): inputs(c) for c in calls}
    if any(dims for dims, _ in shapes.values()):
        by_shape = expected(calls, lambda c: (c.event.name, *shapes[id(c)]))
        check_rows(got["shapes"], by_shape, ("name", "shapes", "types"), memory)
        assert sum(r["device_self_ns"] for r in got["shapes"]) == everything
    else:
        assert got["shapes"] == []
    stacks = {id(c): stack_of(c, 3) for c in calls}
    if any(stacks.values()):
        by_stack = expected(calls, lambda c: (c.event.name, stacks[id(c)]))
        check_rows(got["stacks"], by_stack, ("name", "stack"), memory)
        assert sum(r["device_self_ns"] for r in got["stacks"]) == everything
    else:
        assert got["stacks"] == []
    short = tables(program, "operators", "--top", "2", path)["operators"]
    assert len(short) == min(3, len(got["operators"]))
    for column in ("device_self_ns", "host_self_ns", "work_count", "calls"):
        whole = sum(r[column] or 0 for r in got["operators"])
        assert sum(r[column] or 0 for r in short) == whole


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_real_traces_by_brute_force(program: Program, path: Path) -> None:
    check(program, view_of_file(path), path)


@pytest.mark.parametrize("seed", range(25))
def test_random_traces_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    check(program, view_of(read_trace(path.read_bytes())), path)


@pytest.mark.parametrize("seed", range(25))
def test_nested_calls_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(nested_trace(seed))
    check(program, view_of(read_trace(path.read_bytes())), path)


def test_steps_add_up_to_the_whole(program: Program) -> None:
    """A trace is cut at its steps: what is counted in one is counted in no other."""
    path = next(p for p in traces() if p.name == "gpt_bf16.json.gz")
    whole = {r["name"]: r for r in tables(program, "operators", "--top", "0", path)["operators"]}
    parts = [
        {
            r["name"]: r
            for r in tables(program, "operators", "--top", "0", "--step", str(s), path)["operators"]
        }
        for s in (2, 3, 4)
    ]
    for name, row in whole.items():
        for column in ("calls", "device_self_ns", "host_self_ns", "work_count"):
            added = sum((p[name][column] or 0) for p in parts if name in p)
            assert added <= (row[column] or 0), (name, column)
    for column in ("device_self_ns", "work_count"):
        assert sum(r[column] for p in parts for r in p.values()) == sum(
            r[column] for r in whole.values()
        )
