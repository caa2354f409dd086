"""operators against what torch's key_averages() said of the same recording.

Three documented differences (docs/metrics/operators.md), each found in the trace itself: torch
counts a call inside a call of its own name twice in totals and drops the outer of such a pair
when it holds nothing else, it lists calls into the runtime apart from the operator that made them,
and it takes annotations inside an operator for its children.
"""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from answers import Row, tables
from oracle.events import Event
from oracle.operators import Call, calls_of
from oracle.work import view_of_file
from program import ROOT, Program

FOLDER = ROOT / "tests" / "fixtures" / "operators"
ORACLES = sorted(FOLDER.glob("*.oracle.json.gz"))
KINDS = ("cpu_op", "annotation", "runtime", "driver")
EXACT_BYTES = {
    "self_cpu_bytes": "host_memory_self_bytes",
    "self_device_bytes": "device_memory_self_bytes",
    "cpu_bytes": "host_memory_bytes",
    "device_bytes": "device_memory_bytes",
}


def said(path: Path, grouping: str) -> list[Row]:
    rows: list[Row] = json.loads(gzip.decompress(path.read_bytes()))[grouping]
    return [r for r in rows if r["device_type"] == "DeviceType.CPU" and not r["is_annotation"]]


def trace_of(oracle: Path) -> Path:
    return oracle.with_name(oracle.name.replace(".oracle", ""))


def within_themselves(calls: list[Call]) -> set[str]:
    return {c.event.name for c in calls if c.event.name in [a.event.name for a in c.above()]}


def children(trace: Any) -> dict[int, list[Event]]:
    """What torch takes for the children of an event: no Python frames."""
    found = defaultdict[int, list[Event]](list)
    for event in trace.events:
        if event.kind not in KINDS:
            continue
        above = event.parent
        while above is not None and above.kind not in KINDS:
            above = above.parent
        if above is not None:
            found[id(above)].append(event)
    return found


def kept(calls: list[Call], below: dict[int, list[Event]]) -> list[Call]:
    """Without calls that are all that a call of the same name holds."""
    return [
        c
        for c in calls
        if c.parent is None
        or c.parent.event.name != c.event.name
        or below[id(c.parent.event)] != [c.event]
    ]


def around_annotations(trace: Any) -> set[str]:
    """Operators that hold an annotation with no operator between."""
    found = set()
    for event in trace.events:
        above = event.parent if event.kind == "annotation" else None
        while above is not None and above.kind not in ("cpu_op", "annotation"):
            above = above.parent
        if above is not None and above.kind == "cpu_op":
            found.add(above.name)
    return found


def us(nanos: int) -> Any:
    return pytest.approx(nanos / 1000, abs=0.01)


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda p: p.name.split(".")[0])
def test_operators_by_name(program: Program, oracle: Path) -> None:
    view = view_of_file(trace_of(oracle))
    calls, _, _ = calls_of(view)
    below = children(view.trace)
    nested, annotated = within_themselves(calls), around_annotations(view.trace)
    found = tables(program, "operators", "--top", "0", trace_of(oracle))["operators"]
    ours = {r["name"]: r for r in found if not r["name"].startswith("(")}
    theirs = {r["name"]: r for r in said(oracle, "key_averages")}
    runtime = {e.name for e in view.trace.events if e.kind in ("runtime", "driver")}
    assert set(theirs) - runtime == set(ours)
    for name, row in ours.items():
        torch = theirs[name]
        assert torch["self_device_us"] == us(row["device_self_ns"]), name
        if name not in annotated:
            assert torch["self_cpu_us"] == us(row["host_self_ns"] - row["runtime_ns"]), name
        for column, same in EXACT_BYTES.items():
            if row[same] is not None and (name not in nested or "self" in column):
                assert torch[column] == row[same], (name, column)
        if name not in nested:
            assert torch["calls"] == row["calls"], name
            assert torch["cpu_us"] == us(row["host_total_ns"]), name
            assert torch["device_us"] == us(row["device_total_ns"]), name
        else:
            own = [c for c in kept(calls, below) if c.event.name == name]
            assert torch["calls"] == len(own), name
            assert torch["cpu_us"] == us(sum(c.event.duration for c in own)), name
            assert torch["device_us"] == us(sum(c.device_total for c in own)), name
    assert len(ours) >= 2
