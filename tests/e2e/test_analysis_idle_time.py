"""Idle time against a brute-force oracle: every gap looked at on its own."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from answers import short_name, tables, traces
from oracle import read_trace
from oracle.events import API_CALLS, Event
from oracle.intervals import Interval, intersect, subtract, total, union
from oracle.random_trace import random_trace
from oracle.values import integer
from oracle.work import View, Work, view_of, view_of_file
from program import Program

CAUSES = ("host", "kernel", "dependency", "communication", "start", "end", "other")
DELAY = 30_000

# A part of a gap, and what else is true of it: "late", the host's part comes before it, or
# "called", it is the host's part of a short gap whose launch had been called before.
Cause = tuple[Interval, str, str]


class Oracle:
    """Gaps and causes of one window, as docs/metrics/idle-time.md says them."""

    def __init__(self, view: View, like_hta: bool = False) -> None:
        self.view = view
        self.like_hta = like_hta
        self.order = {id(w): i for i, w in enumerate(view.work)}
        self.awaited = None if like_hta else self.recorded_waits()

    def recorded_waits(self) -> dict[int, Work] | None:
        """What each piece of work had to wait for; None where nothing is recorded."""
        events = self.view.trace.events
        waits = [e for e in events if e.kind == "sync" and said(e) == "Stream Wait Event"]
        if not waits:
            return None
        calls = defaultdict[int, list[Event]](list)
        for event in events:
            if event.kind in API_CALLS and (event.id("correlation") or 0) > 0:
                calls[event.id("correlation") or 0].append(event)
        found: dict[int, Work] = {}
        for wait in waits:
            asked = wait.launch.start if wait.launch else wait.start
            records = [
                c.start
                for c in calls[integer(wait.args.get("wait_on_cuda_event_record_corr_id")) or 0]
                if c.start <= asked
            ]
            device = integer(wait.args.get("device"))
            stream = integer(wait.args.get("stream"))
            source = integer(wait.args.get("wait_on_stream"))
            before = [
                w
                for w in self.view.work
                if records and (w.device, w.stream) == (device, source) and queued(w) < max(records)
            ]
            after = [
                w
                for w in self.view.work
                if (w.device, w.stream) == (device, stream)
                and w.event.launch
                and w.event.launch.start >= asked
            ]
            if not before or not after:
                continue
            last = max(before, key=lambda w: (w.event.end, -queued(w)))
            known = found.get(id(after[0]))
            if known is None or last.event.end > known.event.end:
                found[id(after[0])] = last
        return found

    def causes(self, gap: Interval, before: Work | None, after: Work) -> list[Cause]:
        """Why the gap ended no sooner: the host's part and what the work was queued for."""
        host = "host" if before is not None else "start"
        launch = after.event.launch
        if launch is None:
            return [(gap, "start" if before is None else by_length(gap), "")]
        waited = self.waited_for(gap, after, launch)
        if waited is not None:
            talks = waited.sort == "communication"
            return [(gap, "communication" if talks else "dependency", "")]
        if self.like_hta:
            return [(gap, "host" if launch.start > gap[0] else by_length(gap), "")]
        done = min(launch.end, gap[1])
        was_called = launch.start <= gap[0] and gap[1] - gap[0] < DELAY
        if was_called:
            is_copy = after.sort == "memcpy" and launch.end >= after.event.end
            if is_copy or (before is not None and before.event.launch is launch):
                done = gap[0]
        out: list[Cause] = []
        if done > gap[0]:
            out.append(((gap[0], done), host, "called" if was_called else ""))
        if gap[1] > max(done, gap[0]):
            rest = (max(done, gap[0]), gap[1])
            out.append((rest, by_length(rest), "late" if out and not was_called else ""))
        return out

    def waited_for(self, gap: Interval, after: Work, launch: Event) -> Work | None:
        """Work of another stream that held the next one up."""
        if self.like_hta:
            return None
        if self.awaited is not None:
            candidates = [self.awaited[id(after)]] if id(after) in self.awaited else []
        elif gap[1] - gap[0] >= DELAY:
            talk = [
                w
                for w in self.view.on(after.device)
                if w.sort == "communication" and w.event.end <= gap[1]
            ]
            candidates = [max(talk, key=lambda w: w.event.end)] if talk else []
        else:
            candidates = []
        for work in candidates:
            end = work.event.end
            if not launch.start <= end <= gap[1] < end + DELAY:
                return None
            own = [
                w.event.end
                for w in self.view.work[: self.order[id(after)]]
                if (w.device, w.stream) == (after.device, after.stream)
            ]
            if end > max(own, default=-(1 << 62)):
                return work
        return None

    def gaps(self, pieces: list[Work], bounds: Interval) -> list[Cause]:
        """All gaps of these pieces by cause, not cut to the measured time."""
        out: list[Cause] = []
        reach, before = bounds[0], None
        for piece in pieces:
            start, end = piece.interval
            if start > reach:
                out += self.causes((reach, start), before, piece)
            if before is None or end > reach:  # the first may end before the bounds begin
                reach, before = end, piece
        if before is not None and reach < bounds[1]:
            out.append(((reach, bounds[1]), "end", ""))
        return out

    def parts(self, pieces: list[Work], measured: list[Interval]) -> Counter[str]:
        """Idle time by cause."""
        out = Counter[str]({"measured_ns": total(measured)})
        if measured:
            for gap, cause, also in self.gaps(pieces, (measured[0][0], measured[-1][1])):
                length = total(intersect([gap], measured))
                out[f"{cause}_ns"] += length
                out["late_ns"] += length if also == "late" and cause == "kernel" else 0
                out["called_ns"] += length if also == "called" else 0
        out["idle_ns"] = total(subtract(measured, union(w.interval for w in pieces)))
        return out


def by_length(gap: Interval) -> str:
    """Of work that was launched: a device's own pause, or not explained."""
    return "kernel" if gap[1] - gap[0] < DELAY else "other"


def said(event: Event) -> str:
    """The kind of a sync record."""
    kind = event.args.get("cuda_sync_kind")
    return kind if isinstance(kind, str) else event.name


def queued(work: Work) -> int:
    """When it was put into its stream."""
    return work.event.launch.start if work.event.launch else work.event.start


def span_of(pieces: list[Work]) -> list[Interval]:
    """From the first to the last work."""
    start, end = min(w.event.start for w in pieces), max(w.event.end for w in pieces)
    return [(start, end)] if start < end else []


def check(program: Program, path: Path, view: View) -> None:
    """Compares devices, streams and steps with the oracle."""
    found = tables(program, "idle-time", path)
    oracle = Oracle(view)
    assert [row["device"] for row in found["devices"]] == view.devices
    for row in found["devices"]:
        same(row, oracle.parts(view.on(row["device"]), view.measured))
    streams = sorted({(w.device, w.stream) for w in view.work})
    assert [(row["device"], row["stream"]) for row in found["streams"]] == streams
    for row in found["streams"]:
        own = [w for w in view.work if (w.device, w.stream) == (row["device"], row["stream"])]
        same(row, oracle.parts(own, view.measured))
    steps = [(s, d) for d in view.devices for s in view.steps] if view.has_steps else []
    assert len(found["steps"]) == len(steps)
    for row, (step, device) in zip(found["steps"], steps, strict=True):
        assert (row["step"], row["device"]) == (step.number, device)
        gaps = oracle.gaps(view.on(device), (view.measured[0][0], view.measured[-1][1]))
        for cause in CAUSES:
            mine = [gap for gap, why, _ in gaps if why == cause]
            assert row[f"{cause}_ns"] == total(intersect(mine, [step.span]))
    like_hta(program, path, view)


def like_hta(program: Program, path: Path, view: View) -> None:
    """HTA's three causes, from the first to the last work of each stream."""
    oracle = Oracle(view, like_hta=True)
    for row in tables(program, "idle-time", "--definition", "hta", path)["streams"]:
        own = [w for w in view.work if (w.device, w.stream) == (row["device"], row["stream"])]
        same(row, oracle.parts(own, span_of(own)))
        assert row["dependency_ns"] + row["communication_ns"] + row["start_ns"] == 0


def same(row: dict[str, int], expected: Counter[str]) -> None:
    """All parts are equal, and add up to the idle time."""
    names = ("measured_ns", "idle_ns", *(f"{cause}_ns" for cause in CAUSES), "late_ns", "called_ns")
    assert {name: row[name] for name in names} == {name: expected[name] for name in names}
    assert row["idle_ns"] == sum(row[f"{cause}_ns"] for cause in CAUSES)


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_equals_brute_force(program: Program, path: Path) -> None:
    check(program, path, view_of_file(path))


@pytest.mark.parametrize("seed", range(25))
def test_random_traces(program: Program, tmp_path: Path, seed: int) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    check(program, path, view_of(read_trace(path.read_bytes())))
