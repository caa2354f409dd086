"""Copies between host and device against a brute-force oracle."""

from collections import defaultdict
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from answers import short_name, tables, traces
from oracle import read_trace
from oracle.copies import bytes_of, host_memory, kind_of
from oracle.events import API_CALLS, Event
from oracle.intervals import intersect, total, union
from oracle.random_trace import random_trace
from oracle.work import View, Work, view_of, view_of_file
from program import Program

FREES = {"cudaFree", "cudaFreeHost", "hipFree", "hipHostFree"}


def percentile(values: list[int], share: float) -> int | None:
    """The smallest value that at least this share of the values do not exceed."""
    return sorted(values)[max(1, ceil(share * len(values))) - 1] if values else None


def median(values: list[int]) -> int:
    """Of an even number the middle between the two, rounded down."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) // 2


class Oracle:
    """Which copies block the host and which are hidden."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.copies = [w for w in view.work if w.sort == "memcpy" and self.crosses(w)]
        self.compute = {
            device: union(w.interval for w in view.on(device) if w.sort == "compute")
            for device in view.devices
        }
        self.calls = defaultdict[tuple[str, str], list[Event]](list)
        for event in view.trace.events:
            if event.kind in API_CALLS:
                self.calls[event.track].append(event)

    @staticmethod
    def crosses(work: Work) -> bool:
        """One end is the host."""
        kind = kind_of(work)
        return kind not in ("other", "HtoH") and "H" in kind

    def blocked(self, work: Work) -> int | None:
        """How long the host waited for a copy; None where it did not."""
        call = work.event.launch
        if call is None:
            return None
        on_thread = self.calls[call.track]
        at = on_thread.index(call)
        follower = on_thread[at + 1] if at + 1 < len(on_thread) else None
        if follower is not None and "Synchronize" in follower.name:
            return follower.end - call.start
        waits = (
            "Synchronize" in call.name
            or ("Memcpy" in call.name and "Async" not in call.name)
            or call.name in FREES
            or any(w.kind == "memcpy" and w.end <= call.end for w in call.work)
            or host_memory(work) == "pageable"
        )
        return call.duration if waits else None

    def sums(self, own: list[Work]) -> dict[str, Any]:
        """What a table says of these copies."""
        sized = [(w, size) for w in own if (size := bytes_of(w)) is not None]
        timed = sum(w.length for w, _ in sized)
        moved = sum(size for _, size in sized)
        waits = [wait for w in own if (wait := self.blocked(w)) is not None]
        sizes = [size for _, size in sized]
        return {
            "count": len(own),
            "bytes": moved,
            "min_bytes": min(sizes, default=None),
            "median_bytes": median(sizes) if sizes else None,
            "p95_bytes": percentile(sizes, 0.95),
            "max_bytes": max(sizes, default=None),
            "copy_ns": sum(w.length for w in own),
            "bytes_per_second": moved * 10**9 // timed if timed else None,
            "blocking": len(waits),
            "host_blocked_ns": sum(waits),
            "hidden_ns": sum(
                total(intersect([w.interval], self.compute[w.device])) for w in own if w.length
            ),
            "without_bytes": len(own) - len(sized),
        }


def power(size: int) -> int:
    """The power of two that is not less; 0 of 0."""
    return 1 << (size - 1).bit_length() if size > 0 else 0


def check(program: Program, path: Path, view: View) -> None:
    """Compares all tables with the oracle."""
    found = tables(program, "transfers", "--top", "0", path)
    oracle = Oracle(view)
    classes, sizes, ops, steps = (defaultdict[Any, list[Work]](list) for _ in range(4))
    for w in oracle.copies:
        place = (w.device, kind_of(w), host_memory(w))
        op = w.event.launch.op if w.event.launch else None
        if op is not None and view.has_steps and (op.start, op.end) in [s.host for s in view.steps]:
            op = None
        classes[place].append(w)
        ops[op.name if op else None, *place[1:]].append(w)
        if (size := bytes_of(w)) is not None:
            sizes[*place, power(size)].append(w)
        if view.has_steps and w.step is not None:
            steps[w.step.number, *place].append(w)
    place_of = ("device", "kind", "host_memory")
    same(oracle, found["classes"], classes, place_of)
    same(oracle, found["sizes"], sizes, (*place_of, "up_to_bytes"))
    same(oracle, found["ops"], ops, ("op", "kind", "host_memory"))
    same(oracle, found["steps"], steps, ("step", *place_of))


def same(
    oracle: Oracle,
    rows: list[dict[str, Any]],
    groups: dict[Any, list[Work]],
    keys: tuple[str, ...],
) -> None:
    """One row per group, with its sums."""
    assert len(rows) == len(groups)
    for row in rows:
        expected = oracle.sums(groups[tuple(row[key] for key in keys)])
        shared = row.keys() & expected.keys()
        assert {key: row[key] for key in shared} == {key: expected[key] for key in shared}


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_equals_brute_force(program: Program, path: Path) -> None:
    check(program, path, view_of_file(path))


@pytest.mark.parametrize("seed", range(25))
def test_random_traces(program: Program, tmp_path: Path, seed: int) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    check(program, path, view_of(read_trace(path.read_bytes())))
