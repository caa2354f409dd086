"""One entry of traceEvents as an event, or the reason why it is none."""

from collections import Counter
from dataclasses import dataclass, field

from oracle import values
from oracle.text import Json, Number, clean

DAY = 24 * 3600 * 10**9
LONGEST = 30 * DAY

KINDS = {
    "cpu_op": ("cpu_op", "operator", "glow_operator", "hpu_op"),
    "annotation": ("user_annotation",),
    "python": ("python_function",),
    "runtime": (
        "cuda_runtime",
        "runtime",
        "hip_runtime",
        "xpu_runtime",
        "mtia_runtime",
        "glow_runtime",
        "privateuse1_runtime",
    ),
    "driver": ("cuda_driver", "xpu_driver", "privateuse1_driver"),
    "kernel": ("kernel", "mtia_ccp_events"),
    "memcpy": ("gpu_memcpy", "memcpy"),
    "memset": ("gpu_memset", "memset"),
    "gpu_annotation": ("gpu_user_annotation",),
    "sync": ("cuda_sync", "xpu_sync"),
    "device_marker": ("cuda_event",),
    "overhead": ("overhead",),
    "memory": ("memory",),
    "counter": ("mtia_counters", "hardware_counters", "xpu_scope_profiler"),
    "profiler": ("trace",),
    "collective": ("collective_comm",),
    "profiler_range": ("cuda_profiler_range",),
}
KIND_OF_CATEGORY = {category: kind for kind, many in KINDS.items() for category in many}

API_CALLS = {"runtime", "driver"}
DEVICE_WORK = {"kernel", "memcpy", "memset"}
ON_DEVICE = DEVICE_WORK | {"gpu_annotation", "sync", "device_marker"}

Track = tuple[str, str]


@dataclass(eq=False, slots=True)
class Event:
    """An event on its way from the file's entry to a finished row."""

    ordinal: int
    phase: str  # as in the file
    name: str
    category: str
    kind: str
    track: Track
    start: int
    duration: int = 0
    args: dict[str, Json] = field(default_factory=dict)
    entry: dict[str, Json] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    shape: str = "instant"  # span, instant, counter, async_span, async_instant or flow
    parent: "Event | None" = None
    launch: "Event | None" = None
    op: "Event | None" = None
    work: "list[Event]" = field(default_factory=list)
    forward: "Event | None" = None

    @property
    def end(self) -> int:
        """Where it ends; its start where it has no duration."""
        return self.start + self.duration

    def given(self, *spellings: str) -> Json:
        """An argument under any of its names; the last in the file counts."""
        return next((self.args[key] for key in reversed(self.args) if key in spellings), None)

    def id(self, *spellings: str) -> int | None:
        """The same, as an id."""
        return values.identifier(self.given(*spellings))


ENDS = ("E", "e", "F")

SHAPES = {
    "X": "span",
    "B": "begin",
    "E": "end",
    "C": "counter",
    "b": "async_begin",
    "S": "async_begin",
    "n": "async_instant",
    "T": "async_instant",
    "p": "async_instant",
    "e": "async_end",
    "F": "async_end",
    "s": "flow",
    "t": "flow",
    "f": "flow",
    "i": "instant",
    "I": "instant",
    "R": "instant",
}


MTIA = {"event_wait": "sync", "event_record": "device_marker", "dma_request": "memcpy"}
# Of an Ascend task, by a part of its type; the first that is in it.
TASKS = {
    "WAIT": "sync",
    "RECORD": "device_marker",
    "MEMCPY": "memcpy",
    "DMA": "memcpy",
    "PLACE_HOLDER": "other",
    "PROFILER": "other",
    "MODEL_": "other",
    "STREAM_": "other",
    "LABEL_": "other",
}


def ascend_kind(entry: dict[str, Json], name: str) -> str | None:
    """What device work of Ascend is, which has no category; nothing: it is none."""
    args = entry.get("args")
    if entry.get("ph") != "X" or text_of(entry.get("cat")):
        return None
    task = args.get("Task Type") if isinstance(args, dict) else None
    if isinstance(task, str):
        parts = (kind for part, kind in TASKS.items() if part in task.upper())
        return next(parts, "kernel")
    return "kernel" if name.startswith("hcom_") else None


def kind_of(category: str, name: str) -> str:
    """What an event is: by category, case apart; by name only where no category says."""
    kind = KIND_OF_CATEGORY.get(category.lower())
    if category.lower() == "mtia_ccp_events":
        kind = MTIA.get(name, kind)
    if kind == "cpu_op" and name.startswith("ProfilerStep#") and name != "ProfilerStep#":
        return "annotation"
    if kind is not None:
        return kind
    if name == "[memory]":
        return "memory"
    if name.startswith("Iteration Start: ") or name == "Record Window End":
        return "profiler"
    return "other"


def text_of(value: Json) -> str:
    """Of a name, pid, tid or id: 5 and "5" are the same; neither number nor text is nothing."""
    if isinstance(value, Number):
        return value.text
    return clean(value) if isinstance(value, str) else ""


def read_entry(ordinal: int, entry: Json, notes: Counter[str]) -> Event | None:
    """The event of an entry, or None where it makes no row. What was odd is counted in notes."""
    if not isinstance(entry, dict):
        notes["not_an_object"] += 1
        return None
    phase = entry.get("ph")
    if not isinstance(phase, str):
        notes["without_phase"] += 1
        return None
    if phase == "M":
        return None
    start = read_start(entry.get("ts"), notes)
    if start is None:
        return None
    name, category, args = entry.get("name"), entry.get("cat"), entry.get("args")
    shape = SHAPES.get(phase)
    if shape is None:
        notes["unknown_phase"] += 1
    if not isinstance(name, str | Number):
        notes["without_name"] += shape != "flow" and phase not in ENDS
    name, category = text_of(name), text_of(category)
    args = args if isinstance(args, dict) else {}
    kind = ascend_kind(entry, name)
    if kind is not None and kind in ON_DEVICE and args.get("device") is None:
        args = args | {"device": Number("0")}
    kind = kind or kind_of(category, name)
    event = Event(
        ordinal=ordinal,
        phase=phase,
        name=name,
        category=category,
        kind="counter" if shape == "counter" and kind == "other" else kind,
        track=(text_of(entry.get("pid")), text_of(entry.get("tid"))),
        start=start,
        args=args,
        entry=entry,
        shape=shape or "instant",
    )
    if shape != "flow":
        count_oddities(event, notes)
    if phase == "X":
        read_duration(event, entry.get("dur"), notes)
    return event


def read_start(value: Json, notes: Counter[str]) -> int | None:
    """The ts in nanoseconds, or None without a usable one."""
    text = values.number_text(value, values.TIME)
    if text is None:
        notes["without_timestamp"] += 1
        return None
    start = values.nanoseconds(text)
    if start is None:
        notes["time_out_of_range"] += 1
        return None
    return start


def read_duration(event: Event, value: Json, notes: Counter[str]) -> None:
    """Sets the duration of a complete event."""
    text = values.number_text(value, values.TIME)
    if text is None:
        notes["without_duration"] += 1
        return
    duration = values.nanoseconds(text)
    set_duration(event, LONGEST + 1 if duration is None else duration, notes)


def set_duration(event: Event, duration: int, notes: Counter[str]) -> None:
    """Takes a duration unless it cannot be one."""
    if 0 <= duration <= LONGEST:
        event.duration = duration
        return
    event.flags.add("bad_duration")
    notes["negative_duration" if duration < 0 else "absurd_duration"] += 1


def count_oddities(event: Event, notes: Counter[str]) -> None:
    """Events whose times were understood though not written as they should be."""
    times = [event.entry.get(key) for key in ("ts", "dur")]
    texts = [values.number_text(time, values.TIME) for time in times]
    usable = [
        (time, text)
        for time, text in zip(times, texts, strict=True)
        if text is not None and values.nanoseconds(text) is not None
    ]
    has_series = event.shape == "counter" or event.kind == "profiler_range"
    series = event.args.values() if has_series and event.phase not in ENDS else ()
    notes["number_as_text"] += any(isinstance(time, str) for time, _ in usable) or any(
        isinstance(value, str) and values.real(value) is not None for value in series
    )
    notes["sub_nanosecond"] += any(values.has_picoseconds(text) for _, text in usable)
