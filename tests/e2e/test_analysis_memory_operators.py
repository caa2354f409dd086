"""memory-operators by asking every allocation which operators were running."""

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from answers import Row, short_name, tables, traces
from oracle import read_trace
from oracle.events import Event
from oracle.values import integer
from program import ROOT, Program

TYPES = {0: "cpu", 1: "cuda"}
FIXTURES = sorted((ROOT / "tests" / "fixtures").rglob("*.json.gz"))


def number_of(event: Event, name: str) -> int:
    found = integer(event.args[name])
    assert found is not None
    return found


def device_of(event: Event) -> str:
    number = number_of(event, "Device Id")
    name = TYPES[number_of(event, "Device Type")]
    return name if number < 0 else f"{name}:{number}"


def running(events: list[Event], at: Event) -> list[Event]:
    """Operators that run at an instant of their thread, the innermost last."""
    found = [e for e in events if e.start <= at.start <= e.end]
    # One that ends as the next begins is over, unless it is around it.
    last = max(found, key=lambda e: (e.start, -e.end, e.ordinal), default=None)
    if last is None:
        return []
    return [e for e in found if e is last or (e.start <= last.start and e.end >= last.end)]


def expected(memory: list[Event], ops: dict[object, list[Event]]) -> dict[tuple[str, str], Row]:
    rows = defaultdict[tuple[str, str], Row](lambda: defaultdict(int))
    for event in memory:
        size = number_of(event, "Bytes")
        stack = running(ops[event.track], event)
        for part, names in (
            ("self_", [stack[-1].name] if stack else ["(no operator)"]),
            ("", {e.name for e in stack} if stack else ["(no operator)"]),
        ):
            for name in names:
                row = rows[device_of(event), name]
                row[part + "increase_bytes"] += size
                row[part + "allocated_bytes"] += max(size, 0)
                row[part + "allocations"] += size > 0
    return rows


def with_memory() -> list[Path]:
    found = []
    for path in [*traces(), *FIXTURES]:
        text = gzip.decompress(path.read_bytes())
        if b'"[memory]"' in text and len(text) < 30_000_000:
            found.append(path)
    return found


@pytest.mark.parametrize("path", with_memory(), ids=short_name)
def test_the_memory_of_every_operator(program: Program, path: Path) -> None:
    trace = read_trace(path.read_bytes())
    memory = [e for e in trace.events if e.name == "[memory]" and "far_time" not in e.flags]
    memory.sort(key=lambda e: (e.start, e.ordinal))
    ops = defaultdict[object, list[Event]](list)
    for event in trace.events:
        if event.kind == "cpu_op" and event.shape == "span" and "far_time" not in event.flags:
            ops[event.track].append(event)
    got = tables(program, "memory-operators", "--points", "0", path)
    wanted = expected(memory, ops)
    seen = {}
    for row in got["memory_operators"]:
        seen[row["device"], row["operator"]] = row
        for column, value in wanted[row["device"], row["operator"]].items():
            assert row[column] == value, (row, column)
    for key, row in wanted.items():
        assert key in seen or not (row["allocations"] or row["increase_bytes"])
    called = Counter(e.name for many in ops.values() for e in many)
    for name, calls in ((r["operator"], r["calls"]) for r in got["memory_operators"]):
        if calls is not None:
            assert calls == called[name]

    for device in {device_of(e) for e in memory}:
        mine = [e for e in memory if device_of(e) == device]
        totals = [number_of(e, "Total Allocated") for e in mine]
        (line,) = (r for r in got["memory_devices"] if r["device"] == device)
        assert line["peak_allocated_bytes"] == max(totals)
        assert line["peak_ns"] == mine[totals.index(max(totals))].start
        assert line["last_allocated_bytes"] == totals[-1]
        curve = [r for r in got["memory_curve"] if r["device"] == device]
        assert [r["allocated_bytes"] for r in curve] == totals
        check_events([r for r in got["memory_events"] if r["device"] == device], mine)


def check_events(rows: list[Row], memory: list[Event]) -> None:
    alive: dict[int, Event] = {}
    wanted: list[tuple[int, int | None, int | None]] = []
    for event in memory:
        address, size = number_of(event, "Addr"), number_of(event, "Bytes")
        if size > 0:
            if lost := alive.get(address):
                wanted.append((number_of(lost, "Bytes"), lost.start, None))
            alive[address] = event
        elif found := alive.pop(address, None):
            wanted.append((number_of(found, "Bytes"), found.start, event.start))
        else:
            wanted.append((-size, None, event.start))
    wanted += [(number_of(e, "Bytes"), e.start, None) for e in alive.values()]
    key = lambda w: tuple(-1 if x is None else x for x in w)  # noqa: E731
    got = [(r["bytes"], r["allocated_ns"], r["freed_ns"]) for r in rows]
    assert sorted(got, key=key) == sorted(wanted, key=key)
    assert [r["bytes"] for r in rows] == sorted((r["bytes"] for r in rows), reverse=True)
    for row in rows:
        both = row["allocated_ns"] is not None and row["freed_ns"] is not None
        assert row["duration_ns"] == (row["freed_ns"] - row["allocated_ns"] if both else None)


def test_steps_cut_the_memory(program: Program, tmp_path: Path) -> None:
    """Sums over the steps are the whole of what lies within steps."""
    path = ROOT / "examples" / "data" / "gpt_bf16.json.gz"
    steps = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    numbers = [
        e["name"].split("#")[1] for e in steps if e.get("name", "").startswith("ProfilerStep#")
    ]
    parts = [tables(program, "memory-operators", "--step", n, path) for n in sorted(set(numbers))]
    whole = tables(program, "memory-operators", "--step", ",".join(sorted(set(numbers))), path)
    for column in ("self_allocated_bytes", "allocated_bytes", "increase_bytes"):
        added = defaultdict[str, int](int)
        for part in parts:
            for row in part["memory_operators"]:
                added[row["device"] + row["operator"]] += row[column]
        for row in whole["memory_operators"]:
            assert added[row["device"] + row["operator"]] == row[column]
