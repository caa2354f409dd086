"""kernel-types against a sweep over every border."""

from collections import Counter
from pathlib import Path

import pytest
from answers import Row, short_name, tables, traces
from oracle import read_trace
from oracle.intervals import Interval, intersect, total
from oracle.random_trace import random_trace
from oracle.work import View, Work, view_of, view_of_file
from program import Program

CLASSES = ("compute", "communication", "memory")


def times(work: list[Work], within: list[Interval]) -> Counter[str]:
    """Time by what was active between one border and the next."""
    changes: list[tuple[int, int, str]] = []
    for sort in CLASSES:
        mine = [w for w in work if ("memory" if w.sort.startswith("mem") else w.sort) == sort]
        for start, end in intersect((w.interval for w in mine), within):
            changes += [(start, 1, sort), (end, -1, sort)]
    found, active, before = Counter[str](), Counter[str](), 0
    for time, change, sort in sorted(changes):
        if names := [name for name in CLASSES if active[name]]:
            found[" + ".join(names)] += time - before
        active[sort] += change
        before = time
    return +found


def rows(found: Counter[str], measured: int, **place: int) -> list[Row]:
    busy = sum(found.values())
    return [
        {
            **place,
            "type": name,
            "time_ns": time,
            "busy_share": pytest.approx(time / busy),
            "measured_share": pytest.approx(time / measured),
        }
        for name, time in found.items()
    ]


def ordered(table: list[Row]) -> list[Row]:
    """Of equal times any order will do here; the goldens fix it."""
    return sorted(table, key=lambda r: (r.get("device", 0), -r["time_ns"], r["type"]))


def check(program: Program, view: View, path: Path) -> None:
    for within in ("steps", "work"):
        got = tables(program, "kernel-types", "--within", within, path)
        wanted, together, measured = [], Counter[str](), 0
        for device in view.devices:
            work = view.on(device)
            reach = (min(w.event.start for w in work), max(w.event.end for w in work))
            time = view.measured if within == "steps" else [reach]
            found = times(work, time)
            wanted += rows(found, total(time), rank=view.rank, device=device)
            together += found
            measured += total(time)
            busy = total(intersect((w.interval for w in work), time))
            assert busy == sum(r["time_ns"] for r in got["devices"] if r["device"] == device)
        assert ordered(got["devices"]) == ordered(wanted)
        assert ordered(got["run"]) == ordered(rows(together, measured))
        for device in view.devices:
            mine = [r["time_ns"] for r in got["devices"] if r["device"] == device]
            assert mine == sorted(mine, reverse=True)


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_real_traces_by_sweep(program: Program, path: Path) -> None:
    check(program, view_of_file(path), path)


@pytest.mark.parametrize("seed", range(40))
def test_random_traces_by_sweep(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    check(program, view_of(read_trace(path.read_bytes())), path)
