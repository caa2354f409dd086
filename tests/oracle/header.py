"""What a file says about itself, its tracks and its steps: the first line of a jsonl export."""

import re
from collections import Counter
from dataclasses import dataclass

from oracle import values
from oracle.events import DEVICE_WORK, ON_DEVICE, Event, Track, text_of
from oracle.rows import Row, Value, without_nothing
from oracle.text import Json, Number, clean

DEVICE_KEYS = {
    "memory_bytes": ("totalGlobalMem",),
    "compute_major": ("computeMajor",),
    "compute_minor": ("computeMinor",),
    "multiprocessors": ("numSms", "maxComputeUnits"),
    "warp_size": ("warpSize",),
    "max_threads_per_multiprocessor": ("maxThreadsPerMultiprocessor",),
    "registers_per_multiprocessor": ("regsPerMultiprocessor",),
    "shared_memory_per_multiprocessor": (
        "sharedMemPerMultiprocessor",
        "maxSharedMemoryPerMultiProcessor",
    ),
}
LABELS = {
    "process_name": "name",
    "process_labels": "labels",
    "process_sort_index": "sort_index",
    "thread_name": "name",
    "thread_sort_index": "sort_index",
}


def header_of(header: dict[str, Json]) -> Row:
    """The known header keys; every other one is metadata."""
    properties = header.get("deviceProperties")
    devices = properties if isinstance(properties, list) else []
    info = header.get("distributedInfo")
    return without_nothing(
        {
            "base_time_ns": values.integer(header.get("baseTimeNanoseconds")),
            "schema_version": values.integer(header.get("schemaVersion")),
            "devices": [device(d) for d in devices if isinstance(d, dict)],
            "distributed": distributed(info) if isinstance(info, dict) else None,
            "host": text(header.get("host_name", header.get("hostname"))) or None,
            "trace_name": text(header.get("traceName")) or None,
        }
    )


def text(value: Json) -> str:
    """Text, or nothing."""
    return clean(value) if isinstance(value, str) else ""


def whole(value: Json) -> int:
    """A whole number, 0 where there is none."""
    return values.integer(value) or 0


def device(given: dict[str, Json]) -> Value:
    """One entry of deviceProperties."""
    row: Row = {"id": whole(given.get("id")), "name": text(given.get("name"))}
    for name, keys in DEVICE_KEYS.items():
        row[name] = next((whole(given[key]) for key in keys if key in given), 0)
    return row


def distributed(info: dict[str, Json]) -> Value:
    """The distributedInfo; numbers may be strings, lists of ranks too."""
    config = info.get("pg_config")
    groups = config if isinstance(config, list) else []
    return without_nothing(
        {
            "backend": text(info.get("backend")),
            "rank": values.integer(info.get("rank")),
            "world_size": values.integer(info.get("world_size")),
            "nccl_version": text(info.get("nccl_version")) or None,
            "groups": [group(g) for g in groups if isinstance(g, dict)],
        }
    )


def group(given: dict[str, Json]) -> Value:
    """A process group."""
    return {
        "name": text_of(given.get("pg_name")),
        "description": text(given.get("pg_desc")),
        "backend": text(given.get("backend_config")),
        "size": whole(given.get("pg_size")),
        "ranks": ranks(given.get("ranks")),
    }


def ranks(value: Json) -> Value:
    """A list of ranks, or a string that holds one."""
    if isinstance(value, str):
        return [int(number) for number in re.findall(r"-?[0-9]+", value)]
    if isinstance(value, list):
        return [rank for rank in map(values.integer, value) if rank is not None]
    return []


@dataclass
class Labels:
    """What metadata events say of processes and threads."""

    of_process: dict[str, Row]
    of_thread: dict[Track, Row]


def label(entry: dict[str, Json]) -> tuple[str, Value] | None:
    """What a metadata event says, and the value it gives."""
    name, args = text_of(entry.get("name")), entry.get("args")
    if entry.get("ph") != "M" or name not in LABELS or not isinstance(args, dict):
        return None
    given = args.get(LABELS[name])
    if name.endswith("sort_index"):
        number = values.signed(given)
        return None if number is None else (name, number)
    return (name, text_of(given)) if isinstance(given, str | Number) else None


def is_label(entry: dict[str, Json]) -> bool:
    """Does it say something about a process or thread?"""
    return label(entry) is not None


def labels(entries: list[Json]) -> Labels:
    """Reads the metadata events; the last of a kind stands."""
    found = Labels({}, {})
    for entry in entries:
        if not isinstance(entry, dict) or (said := label(entry)) is None:
            continue
        process, thread = text_of(entry.get("pid")), text_of(entry.get("tid"))
        if said[0].startswith("process"):
            found.of_process.setdefault(process, {})[said[0]] = said[1]
        else:
            found.of_thread.setdefault((process, thread), {})[said[0]] = said[1]
    return found


def tracks_rows(tracks: list[Track], rows: list[Event], entries: list[Json]) -> list[Value]:
    """Every track, in the order in which the file names them."""
    said = labels(entries)
    by_track: dict[Track, list[Event]] = {track: [] for track in tracks}
    for event in rows:
        by_track[event.track].append(event)
    return [
        without_nothing(
            {
                "process": track[0],
                "thread": track[1],
                "process_name": said.of_process.get(track[0], {}).get("process_name") or None,
                "process_labels": said.of_process.get(track[0], {}).get("process_labels") or None,
                "thread_name": said.of_thread.get(track, {}).get("thread_name") or None,
                "process_sort_index": said.of_process.get(track[0], {}).get("process_sort_index"),
                "thread_sort_index": said.of_thread.get(track, {}).get("thread_sort_index"),
                **place(track, [e for e in events if e.kind in ON_DEVICE]),
            }
        )
        for track, events in by_track.items()
    ]


def place(track: Track, on_device: list[Event]) -> Row:
    """Which stream a track is: as its work says, else by pid and tid."""
    if not on_device:
        return {"is_device": False}
    number, stream = values.identifier(track[0]), None
    for event in on_device:
        if event.kind in DEVICE_WORK and stream is None:
            found = values.narrow(event.args.get("device"))
            number = number if found is None else found
            stream = event.id("stream")
    if stream is None:
        stream = values.identifier(track[1])
    return {"is_device": True, "device": number, "stream": stream}


def cut_step(header: dict[str, Json]) -> int | None:
    """The step under way when stepscope closed its window."""
    own = header.get("stepscope")
    return values.integer(own.get("cut_step")) if isinstance(own, dict) else None


def steps(
    rows: list[Event], tracks: list[Track], span: tuple[int, int], header: dict[str, Json]
) -> Value:
    """ProfilerStep#N but the one that was cut; else Lightning's; else what repeats; else all."""
    streams = {e.track for e in rows if e.kind in ON_DEVICE}
    marks = [
        e
        for e in rows
        if e.shape == "span"
        and e.track not in streams
        and e.kind in ("annotation", "cpu_op", "python", "other")
        and "bad_duration" not in e.flags
    ]
    named = outermost([e for e in marks if re.fullmatch(r"ProfilerStep#.*[0-9]", e.name, re.S)])
    numbered: dict[int, Event] = {}
    for event in named:
        number = int(re.findall("[0-9]+", event.name)[-1])
        numbered.setdefault(number, event)
    is_marked = bool(numbered)
    numbered.pop(-1 if (cut := cut_step(header)) is None else cut, None)
    if is_marked:
        return {
            "source": "profiler_step",
            "list": [[number, e.start, e.end] for number, e in numbered.items()],
        }
    if batches := outermost([e for e in marks if "run_training_batch" in e.name]):
        return {
            "source": "lightning",
            "list": [[i, e.start, e.end] for i, e in enumerate(batches)],
        }
    if rounds := repetition(rows, tracks):
        return {
            "source": "repetition",
            "list": [[i, start, end] for i, (start, end) in enumerate(rounds)],
        }
    return {"source": "whole", "list": [[0, *span]] if rows else []}


def outermost(spans: list[Event]) -> list[Event]:
    """Those that no other of them on the same thread covers, by start. spans are in row order."""
    covered: dict[Track, int] = {}
    kept = []
    for span in spans:
        if span.track not in covered or span.start >= covered[span.track]:
            covered[span.track] = span.end
            kept.append(span)
    return sorted(kept, key=lambda e: e.start)


def repetition(rows: list[Event], tracks: list[Track]) -> list[tuple[int, int]]:
    """Rounds of the busiest stream: from one launch of a kernel of each round to the next."""
    work: dict[Track, list[Event]] = {track: [] for track in tracks}
    for event in rows:
        if event.kind in DEVICE_WORK:
            work[event.track].append(event)
    stream = max(work.values(), key=len, default=[])
    on_device = [e for e in rows if e.kind in ON_DEVICE]
    number = {t: place(t, [e for e in on_device if e.track == t]).get("device") for t in tracks}
    if stream and 2 * len(stream) < sum(
        len(of) for t, of in work.items() if number[t] == number[stream[0].track]
    ):
        return []
    names = [e.name for e in stream]
    counts = Counter(names)  # in the order of their first call
    repeated = sorted((name for name in counts if counts[name] >= 3), key=lambda n: counts[n])
    for anchor in repeated[:16]:
        places = [i for i, name in enumerate(names) if name == anchor]
        if places[-1] - places[0] < len(names) / 2:
            continue
        inside = sum(e.duration for e in stream[places[0] : places[-1]])
        if inside < sum(e.duration for e in stream) / 2:
            continue
        period = places[1] - places[0]
        pairs = list(zip(names[places[0] :], names[places[0] + period :], strict=False))
        if len(pairs) < period or sum(a == b for a, b in pairs) < 0.98 * len(pairs):
            continue
        starts = [stream[i].start for i in places]
        calls = [stream[i].launch for i in places]
        while calls and calls[0] is None:  # launched before the recording began
            calls.pop(0)
        launches = [call.start for call in calls if call is not None]
        by_launch = len(launches) == len(calls) >= 3
        starts = launches if by_launch else starts
        if any(a >= b for a, b in zip(starts, starts[1:], strict=False)):
            continue
        rounds = list(zip(starts, starts[1:], strict=False))
        if not rounds:
            continue
        return [] if is_contradicted(rounds, rows, by_launch) else rounds
    return []


LOOPS = set(
    [
        "epoch",
        "epochs",
        "loop",
        "fit",
        "train",
        "training",
        "trainer",
        "main",
        "run",
        "steps",
        "batches",
        "iterations",
        "eval",
        "evaluate",
        "val",
        "validate",
        "validation",
        "test",
        "testing",
        "bench",
        "benchmark",
        "profile",
        "profiling",
        "profiler",
        "measure",
        "timed",
        "warmup",
        "session",
    ]
)
ONCE = set(
    [
        "step",
        "batch",
        "iter",
        "iteration",
        "forward",
        "fwd",
        "backward",
        "bwd",
        "execute",
        "decode",
        "prefill",
        "infer",
        "inference",
        "model",
        "request",
    ]
)
ONCE_CALLED = set(
    [
        "forward",
        "backward",
        "_call_impl",
        "_wrapped_call_impl",
        "step",
        "train_step",
        "training_step",
        "train_batch",
        "forward_step",
        "forward_backward",
        "execute_model",
        "model_forward",
        "_model_forward",
        "decode_step",
        "run_backward",
        "_engine_run_backward",
    ]
)


def is_done_once(event: Event) -> bool:
    """By its name: a range that does not go round, a module, a function that is one pass."""
    if event.kind == "python":
        is_module = event.name.startswith("nn.Module: ")
        return is_module or (": " in event.name and event.name.rpartition(": ")[2] in ONCE_CALLED)
    words = {word.lower() for word in re.findall("[A-Za-z]+", event.name)}
    return bool(words & ONCE) or not words & LOOPS


def is_contradicted(rounds: list[tuple[int, int]], rows: list[Event], by_launch: bool) -> bool:
    """Something done once holds two rounds, some lack a training's parts, or modules differ."""
    if len(rounds) < 2:
        return False
    on_device = {e.track for e in rows if e.kind in ON_DEVICE}
    kinds = ("cpu_op", "annotation", "python", "gpu_annotation")
    spans = [
        e
        for e in rows
        if e.shape == "span"
        and e.name
        and "bad_duration" not in e.flags
        and e.kind in kinds
        and (e.track in on_device) != by_launch
    ]
    for span in spans:
        held = [r for r in rounds if span.start <= r[0] and r[1] <= span.end]
        if len(held) > 1 and is_done_once(span):
            return True

    def places(of: list[Event]) -> list[int]:
        return [i for e in of for i, (start, end) in enumerate(rounds) if start <= e.start < end]

    ops = [e for e in spans if e.kind in ("cpu_op", "annotation")]
    backward = [
        e
        for e in ops
        if e.kind == "cpu_op" and e.name.startswith("autograd::engine::evaluate_function: ")
    ]
    optimizer = [e for e in ops if e.name.startswith("Optimizer.step#")]
    for part in (backward, optimizer):
        if part and len(set(places(part))) < len(rounds):
            return True
    called: dict[str, list[int]] = {}
    for e in spans:
        if e.kind == "python" and e.name.startswith("nn.Module: "):
            called.setdefault(e.name, []).extend(places([e]))
    called = {name: where for name, where in called.items() if where}
    first = {where[0] for where in called.values()}
    again = [name for name, where in called.items() if len(set(where)) > 1]
    return len(first) >= 2 and 2 * len(again) < len(called)
