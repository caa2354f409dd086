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


def as_one(calls: list[Call], below: dict[int, list[Event]]) -> list[list[Call]]:
    """Each call with the one of its own name that is all it holds, and so on: one call to torch."""
    runs = dict[int, list[Call]]()
    for call in calls:  # outer ones first
        outer = call.parent
        alone = outer is not None and below[id(outer.event)] == [call.event]
        if outer is not None and alone and outer.event.name == call.event.name:
            runs[id(call)] = runs[id(outer)]
            runs[id(call)].append(call)
        else:
            runs[id(call)] = [call]
    return [runs[id(call)] for call in calls if runs[id(call)][0] is call]


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


Key = tuple[str, str]  # a name, and the shapes where they tell rows apart


def shapes_for_torch(dims: Any) -> str:
    """Shapes as key_averages tells them apart: of lists of tensors it knows nothing."""

    def plain(shape: Any) -> list[str]:
        sizes = shape if isinstance(shape, list) else []
        texts = [] if any(isinstance(size, list) for size in sizes) else sizes
        return [getattr(size, "text", str(size)) for size in texts]

    return str([plain(shape) for shape in dims or []])


def our_rows(program: Program, trace: Path, by_shape: bool) -> dict[Key, Row]:
    """Rows of operators that torch takes for one, added up."""
    table = "shapes" if by_shape else "operators"
    summed: dict[Key, Row] = {}
    for row in tables(program, "operators", "--top", "0", trace)[table]:
        if row["name"].startswith("("):
            continue
        text = row["shapes"] if by_shape and row["shapes"] != "(no inputs)" else None
        key = row["name"], shapes_for_torch(json.loads(f"[{text or ''}]"))
        if (known := summed.setdefault(key, row)) is not row:
            for column, value in row.items():
                if type(value) is int:
                    known[column] += value
    return summed


@pytest.mark.parametrize("by_shape", [False, True], ids=["by_name", "by_shape"])
@pytest.mark.parametrize("oracle", ORACLES, ids=lambda p: p.name.split(".")[0])
def test_operators(program: Program, oracle: Path, by_shape: bool) -> None:
    view = view_of_file(trace_of(oracle))
    calls, _, _ = calls_of(view)
    nested, annotated = within_themselves(calls), around_annotations(view.trace)

    def key_of(call: Call) -> Key:
        dims = call.event.given("Input Dims", "Input dims") if by_shape else None
        return call.event.name, shapes_for_torch(dims)

    every = defaultdict[Key, list[Call]](list)
    for call in calls:
        every[key_of(call)].append(call)
    runs = defaultdict[Key, list[list[Call]]](list)
    for run in as_one(calls, children(view.trace)):
        runs[key_of(run[0])].append(run)
    ours = our_rows(program, trace_of(oracle), by_shape)
    grouping = "key_averages_by_shape" if by_shape else "key_averages"
    runtime = {e.name for e in view.trace.events if e.kind in ("runtime", "driver")}
    theirs = {
        (row["name"], shapes_for_torch(row["shapes"])): row
        for row in said(oracle, grouping)
        if row["name"] not in runtime
    }
    assert set(ours) == set(every)
    assert set(theirs) == set(runs)
    for key, row in ours.items():
        assert row["calls"] == len(every[key])
        assert row["device_self_ns"] == sum(c.device_self for c in every[key]), key
        assert row["host_self_ns"] == sum(c.host_self for c in every[key]), key
    for key, torch in theirs.items():
        row, name = ours[key], key[0]
        if name not in nested:
            assert torch["self_device_us"] == us(row["device_self_ns"]), key
            assert torch["calls"] == row["calls"], key
            assert torch["cpu_us"] == us(row["host_total_ns"]), key
            assert torch["device_us"] == us(row["device_total_ns"]), key
            if name not in annotated:
                assert torch["self_cpu_us"] == us(row["host_self_ns"] - row["runtime_ns"]), key
            for column, same in EXACT_BYTES.items():
                if row[same] is not None:
                    assert torch[column] == row[same], (key, column)
        else:
            own = [c for run in runs[key] for c in run]
            assert torch["self_device_us"] == us(sum(c.device_self for c in own)), key
            assert torch["calls"] == len(runs[key]), key
            assert torch["cpu_us"] == us(sum(run[0].event.duration for run in runs[key])), key
            assert torch["device_us"] == us(sum(run[0].device_total for run in runs[key])), key
            if name not in annotated:
                assert torch["self_cpu_us"] == us(sum(c.host_self - c.runtime for c in own)), key
            for device, column in enumerate(("self_cpu_bytes", "self_device_bytes")):
                if row[EXACT_BYTES[column]] is not None:
                    assert torch[column] == sum(c.own_bytes[device] for c in own), (key, column)
    assert len(ours) >= 2
