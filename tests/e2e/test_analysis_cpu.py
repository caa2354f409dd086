"""cpu against brute force: between any two times at which anything changes, what is innermost?"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from answers import Row, short_name, tables, traces
from oracle import read_trace
from oracle.events import Event
from oracle.intervals import Interval, inverse, total
from oracle.nested_trace import nested_trace
from oracle.random_trace import random_trace
from oracle.work import View, Work, view_of, view_of_file
from program import Program

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]*")
NO_CALLS = ("overhead", "profiler")
BLOCK = 256


def idle_of(view: View, device: int) -> list[Interval]:
    busy = [w.interval for w in view.on(device)]
    return [gap for span in view.measured for gap in inverse(busy, span) if gap[0] < gap[1]]


def watched(work: list[Work], gap: Interval) -> tuple[Any, Work | None]:
    """The thread to look at, and the work that ends the wait."""
    after = bisect_left(work, gap[1], key=lambda w: w.event.start)
    near = work[after : after + 1]
    ends = near[0] if near and near[0].event.start == gap[1] else None
    before = (work[i] for i in range(after - 1, -1, -1))
    for candidate in chain(near, before, work):
        if candidate.event.launch is not None:
            return candidate.event.launch.track, ends
    return None, ends


class Threads:
    """Spans by thread, in row order."""

    def __init__(self, view: View) -> None:
        self.spans = defaultdict[Any, list[Event]](list)
        steps = {step.host for step in view.steps if view.has_steps}
        for e in view.trace.events:
            if e.shape == "span" and e.kind not in NO_CALLS and "far_time" not in e.flags:
                self.spans[e.track].append(e)
        self.marks = {
            id(e)
            for e in view.trace.events
            if e.kind == "annotation"
            and ((e.start, e.end) in steps or e.name.startswith("ProfilerStep#"))
        }
        self.starts = {t: [e.start for e in spans] for t, spans in self.spans.items()}
        self.last_ends = {
            t: [max(e.end for e in spans[i : i + BLOCK]) for i in range(0, len(spans), BLOCK)]
            for t, spans in self.spans.items()
        }

    def near(self, track: Any, gap: Interval) -> Iterator[Event]:
        """Spans of a thread that share time with a gap; blocks that end before it are passed by."""
        begun = bisect_left(self.starts.get(track, []), gap[1])
        for block, last_end in enumerate(self.last_ends.get(track, [])):
            if last_end > gap[0]:
                first = block * BLOCK
                spans = self.spans[track][first : min(first + BLOCK, begun)]
                yield from (e for e in spans if e.end > gap[0])

    def pieces(self, track: Any, gap: Interval) -> list[tuple[int, list[Event]]]:
        """Lengths of the parts of a gap with the spans that hold them, in order of their start."""
        near = list(self.near(track, gap))
        times = sorted({*gap, *(t for e in near for t in (e.start, e.end) if gap[0] < t < gap[1])})
        parts, around, begun = list[tuple[int, list[Event]]](), list[Event](), 0
        for a, b in zip(times, times[1:], strict=False):
            known = begun
            while begun < len(near) and near[begun].start <= a:
                begun += 1
            around = [e for e in (*around, *near[known:begun]) if e.end >= b]
            parts.append((b - a, around))
        return parts


def ended_by(work: Work | None) -> str:
    if work is None:
        return "(the end of a step or of the recording)"
    launch = work.event.launch
    if launch is None:
        return "(launch not recorded)"
    return (launch.op or launch).name


def expected(view: View) -> dict[str, dict[Any, list[dict[Any, int]]]]:
    """By table and key: a list of lengths by wait."""
    out: dict[str, Any] = {
        t: defaultdict(lambda: defaultdict(int)) for t in ("operators", "frames", "paths", "ends")
    }
    threads = Threads(view)
    for device in view.devices:
        work = view.on(device)
        for gap in idle_of(view, device):
            track, ends = watched(work, gap)
            wait = device, gap
            out["ends"][ended_by(ends),][wait] += gap[1] - gap[0]
            for length, around in threads.pieces(track, gap):
                frames = [ADDRESS.sub("", e.name) for e in around if e.kind == "python"]
                named = [e for e in around if e.kind != "python" and id(e) not in threads.marks]
                in_none = "(Python, in no operator)" if frames else "(nothing recorded)"
                key = (named[-1].name, named[-1].kind) if named else (in_none, None)
                out["operators"][key][wait] += length
                out["frames"][frames[-1] if frames else "(no Python frame)",][wait] += length
                out["paths"][";".join(frames) or "(no Python frame)",][wait] += length
    return out


KEYS = {
    "operators": ("doing", "kind"),
    "frames": ("frame",),
    "paths": ("path",),
    "ends": ("ended_by",),
}


def check_table(name: str, got: list[Row], wanted: dict[Any, dict[Any, int]], idle: int) -> None:
    rows = {tuple(r[k] for k in KEYS[name]): r for r in got}
    assert set(rows) == set(wanted), name
    for key, waits in wanted.items():
        row = rows[key]
        assert row["idle_ns"] == sum(waits.values()), (name, key)
        assert row["waits"] == len(waits), (name, key)
        assert row["longest_ns"] == max(waits.values()), (name, key)
        assert row["share"] == pytest.approx(row["idle_ns"] / idle)
    assert sum(r["idle_ns"] for r in got) == idle
    assert [r["idle_ns"] for r in got] == sorted((r["idle_ns"] for r in got), reverse=True)


def check(program: Program, view: View, path: Path) -> None:
    got = tables(program, "cpu", "--top", "0", path)
    wanted: Any = expected(view)
    idle = sum(total(idle_of(view, device)) for device in view.devices)
    for name in KEYS:
        check_table(name, got[name], wanted[name], idle)
    # The same time as the analysis that says why.
    said = tables(program, "idle-time", path)["devices"]
    assert sum(r["idle_ns"] for r in said) == idle
    short = tables(program, "cpu", "--top", "1", path)
    for name in KEYS:
        assert len(short[name]) == min(2, len(got[name]))
        assert sum(r["idle_ns"] for r in short[name]) == idle


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_real_traces_by_brute_force(program: Program, path: Path) -> None:
    check(program, view_of_file(path), path)


@pytest.mark.parametrize("seed", range(25))
def test_random_traces_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    check(program, view_of(read_trace(path.read_bytes())), path)


@pytest.mark.parametrize("seed", range(15))
def test_nested_calls_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(nested_trace(seed))
    check(program, view_of(read_trace(path.read_bytes())), path)
