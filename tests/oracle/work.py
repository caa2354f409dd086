"""Device work, its classes and its steps, as docs/metrics/measured-time.md defines them.

view = view_of(read_trace(path.read_bytes()))
busy = union(w.interval for w in view.work if w.sort == "compute")
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from oracle.events import DEVICE_WORK, Event
from oracle.header import place, steps
from oracle.intervals import Interval, union
from oracle.rows import stream_of, string
from oracle.trace import Trace, read_trace
from oracle.values import narrow

# Compared in lower case without underscores, part by part of the function's qualified name.
COMMUNICATION_PART = re.compile(
    r"(nccl|rccl|msccl|oneccl|hccl|hcom|xccl|nvshmem|rocshmem|deepep|hybridep)"
)
COMMUNICATION_NAMESPACE = re.compile(
    r"intranode|internode(ll)?|mori|moecomm|symmetricmemory|intranodecomm|arfusion"
)
COMMUNICATION_FUNCTION = re.compile(
    r"epdispatch|epcombine|moea2a|barrierkernel|exchangesplitandoffset|collective"
)
COMMUNICATION_HELD = re.compile(
    r"notify(dispatch|combine)|multimem|(put|wait)signalkernel|crossdevice|quickreduce|lamport"
    r"|userbuffers|allreduce|allgather|reducescatter|alltoall"
)
NO_COMMUNICATION = re.compile(
    r"triton|.*fusion[0-9]*$|.*(gemm|matmul|(warp|block)allreduce|collectivemma)"
)
COMMUNICATION_CALL = re.compile(
    r"(nccl|gloo|mpi|ucc|xccl|hccl|rccl|xla|mccl):.*"
    r"|record_param_comms|horovod_allreduce|hvd\.allreduce|c10d::barrier",
    re.S,
)


@dataclass(eq=False)
class Work:
    """A kernel, copy or memset."""

    event: Event
    device: int
    stream: int
    sort: str  # compute, communication, memcpy or memset
    step: "Step | None" = None  # whose host range holds its launch

    @property
    def interval(self) -> Interval:
        """When it ran."""
        return self.event.start, self.event.end

    @property
    def length(self) -> int:
        """How long it ran."""
        return self.event.duration


@dataclass(eq=False)
class Step:
    """A step as annotated, and corrected for device work."""

    number: int
    host: Interval
    span: Interval
    work: list[Work] = field(default_factory=list)


@dataclass(eq=False)
class View:
    """One window: what an analysis reads."""

    trace: Trace
    rank: int
    work: list[Work]  # by device, start, row
    steps: list[Step]  # by start; at least one where there are events
    has_steps: bool

    @property
    def measured(self) -> list[Interval]:
        """The corrected steps together."""
        return union(step.span for step in self.steps)

    def on(self, device: int) -> list[Work]:
        """The work of one device."""
        return [w for w in self.work if w.device == device]

    @property
    def devices(self) -> list[int]:
        """Numbers of the devices that did something."""
        return sorted({w.device for w in self.work})


def sort_of(event: Event) -> str:
    """What device work is for."""
    if event.kind != "kernel":
        return event.kind
    if string(event, "Collective name") is not None:
        return "communication"
    return "communication" if is_communication_name(event.name) else "compute"


def qualified(name: str) -> list[str]:
    """Namespaces and function, of what is written out or mangled, without arguments."""
    if name.startswith("_Z"):
        parts, rest = [], re.sub(r"^[NKVRL]*", "", name[2:])
        while found := re.match(r"[0-9]+", rest):
            stop = found.end() + int(found[0])
            parts.append(rest[found.end() : stop])
            rest = re.sub(r"^[NKVRL]*", "", rest[stop:])
    else:
        name = name.replace("(anonymous namespace)", "").replace("<unnamed>", "")
        kept = re.match(r"[^(<{]*", name)
        while "<" in name or "{" in name:
            shorter = re.sub(r"<[^<>{}]*>|\{[^<>{}]*\}", "", name)
            if shorter == name:
                name = kept[0] if kept else ""
            else:
                name = shorter
                kept = re.match(r"[^(<{]*", name)
        parts = name.split("(")[0].split(" ")[-1].split("::")
    return [part.replace("_", "").lower() for part in parts]


@lru_cache(maxsize=65536)
def is_communication_name(name: str) -> bool:
    """A kernel that is called after a library, a namespace or a collective."""
    parts = qualified(name)
    if not parts:
        return False
    if any(COMMUNICATION_PART.match(part) for part in parts):
        return True
    if any(COMMUNICATION_NAMESPACE.fullmatch(part) for part in parts[:-1]):
        return True
    held = any(COMMUNICATION_HELD.search(part) for part in parts)
    if not held and not COMMUNICATION_FUNCTION.match(parts[-1]):
        return False
    return not NO_COMMUNICATION.match(parts[-1])


def is_communication_call(event: Event) -> bool:
    """A host range of a process group's backend."""
    if event.kind == "collective":
        return True
    return event.kind in ("cpu_op", "annotation") and bool(COMMUNICATION_CALL.fullmatch(event.name))


def work_of(trace: Trace) -> list[Work]:
    """All device work at plausible times; device and stream as said, else as its track says."""
    on_track: dict[tuple[str, str], list[Event]] = {}
    for event in trace.events:
        on_track.setdefault(event.track, []).append(event)
    tracks = {track: place(track, events) for track, events in on_track.items()}
    out = []
    for event in trace.events:
        if event.kind not in DEVICE_WORK or "far_time" in event.flags:
            continue
        device, stream = narrow(event.args.get("device")), stream_of(event, "stream")
        track = tracks[event.track]
        device = number(track.get("device")) if device is None or device < 0 else device
        stream = number(track.get("stream")) if stream is None or stream < 0 else stream
        out.append(Work(event, device, stream, sort_of(event)))
    return sorted(out, key=lambda w: (w.device, w.event.start))


def number(value: object) -> int:
    """A number, or -1."""
    return value if isinstance(value, int) else -1


def at(found: list[Step], time: int, corrected: bool = False) -> Step | None:
    """The step that holds this time, the latest of several."""
    for step in reversed(found):
        start, end = step.span if corrected else step.host
        if start <= time:
            return step if time < end else None
    return None


def correct(found: list[Step], work: list[Work]) -> None:
    """Prolongs steps to the end of the device work their calls started."""
    outside = []
    for piece in work:
        launch = piece.event.launch
        step = at(found, launch.start) if launch is not None else None
        if step is None:
            outside.append(piece.event.end)
        else:
            step.work.append(piece)
    end = found[0].host[0]
    if found[0].work:
        first = min(w.event.start for w in found[0].work)
        end = max([end, *(e for e in outside if e < first)])
    for step in found:
        start = max(end, step.host[0])
        end = max([start, step.host[1], *(w.event.end for w in step.work)])
        step.span = (start, end)


def view_of(trace: Trace, rank: int | None = None) -> View:
    """Everything an analysis needs of one window."""
    said: Any = steps(trace.events, trace.tracks, trace.span, trace.header)
    work = work_of(trace)
    found = [Step(n, (s, e), (s, e)) for n, s, e in sorted(said["list"], key=lambda one: one[1])]
    has_steps = said["source"] != "whole" and bool(found)
    if has_steps:
        correct(found, work)
    else:
        start, end = trace.span
        found = [Step(0, (start, end + 1), (start, end))]
    for piece in work:
        launch = piece.event.launch
        if launch is not None:
            piece.step = at(found, launch.start)
        else:
            piece.step = at(found, piece.event.start, corrected=True)
    own = trace.rank()
    return View(trace, (own or 0) if rank is None else rank, work, found, has_steps)


@lru_cache(maxsize=4)
def view_of_file(path: Path) -> View:
    """The view of a file; the latest few are kept, reading takes seconds."""
    return view_of(read_trace(path.read_bytes()))
