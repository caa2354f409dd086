"""Damaged and odd traces from good ones. A mutant is known by its seed alone."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from oracle.layout import any_layout
from oracle.text import Constant, Json, NotJsonError, Number, parse

STRUCTURE = b'{}[]",:\\\n 0e-.tn\x00\x1f\x80\xff'
ODD_NUMBERS = [
    "0", "-0", "-1", "1", "7", "0.0005", "-0.0015", "1.5e3", "15E-1", "1e999", "1e-999",
    "2147483648", "4294967295", "9007199254740993", "9223372036854775.807",
    "9223372036854775807", "9223372036854775808", "18446744073709551615",
    "123456789012345678901234567890", "2592000000001", "86400000001", "-5.25", "1.0",
]  # fmt: skip
ODD_TEXTS = [
    "", "5", " 5", "5.5", "1e3", "N/A", "0x0", "stream 7", "nul\x00l", 'a "quoted" word',
    "C:\\path\\n", 'a"ts', 'a"stream', "\x00ts",
    "\ud800", "\ud83d\ude00", "é", "}", "]}", '{"ph":"X"', "traceEvents", "\x7f", "ProfilerStep#4",
    "[memory]", "aten::mm", "[0, 1, 2, ...]",
]  # fmt: skip
KEYS = [
    "ph",
    "cat",
    "name",
    "pid",
    "tid",
    "ts",
    "dur",
    "id",
    "args",
    "s",
    "bp",
    "id2",
    "scope",
    'a"ts',
]


@dataclass(frozen=True)
class Mutant:
    """A file to be read, and how it came to be."""

    seed: int
    origin: str
    data: bytes


def number(rng: Random) -> Json:
    """An odd or a plain number."""
    if rng.random() < 0.6:
        return Number(rng.choice(ODD_NUMBERS))
    return Number(f"{rng.randrange(200)}.{rng.randrange(1000):03}")


def value(rng: Random) -> Json:
    """Anything."""
    made: list[Callable[[], Json]] = [
        lambda: number(rng),
        lambda: number(rng),
        lambda: rng.choice(ODD_TEXTS),
        lambda: rng.choice([None, True, False]),
        lambda: Constant(rng.choice(["NaN", "Infinity", "-Infinity"])),
        lambda: {rng.choice(ODD_TEXTS): number(rng), "args": {"ts": number(rng)}},
        lambda: [number(rng), rng.choice(ODD_TEXTS)],
    ]
    return rng.choice(made)()


def events_of(trace: Json) -> list[Json]:
    """The list of events."""
    if isinstance(trace, dict):
        found = trace.get("traceEvents")
        return found if isinstance(found, list) else []
    return trace if isinstance(trace, list) else []


def change_event(event: Json, others: list[Json], rng: Random) -> Json:
    """One change to one event."""
    if not isinstance(event, dict):
        return event
    event = dict(event)
    match rng.randrange(10):
        case 0:
            event["ts"] = value(rng)
        case 1:
            event["dur"] = value(rng)
        case 2 | 3:
            args = event.get("args")
            args = dict(args) if isinstance(args, dict) else {}
            donor = rng.choice(others)
            theirs = donor.get("args") if isinstance(donor, dict) else None
            keys = list(args) + (list(theirs) if isinstance(theirs, dict) else [])
            args[rng.choice(keys or ["correlation"])] = value(rng)
            event["args"] = args
        case 4:
            event[rng.choice(KEYS)] = value(rng)
        case 5:
            event.pop(rng.choice(list(event) or ["ph"]), None)
        case 6:
            event["ph"] = rng.choice("XBEiICbneSTpFstfMRNDOPZ")
        case 7:
            items = list(event.items())
            rng.shuffle(items)
            event = dict(items)
        case 8:
            event["ts"] = text_of_number(event.get("ts"))
            event["dur"] = text_of_number(event.get("dur"))
        case _:
            donor = rng.choice(others)
            if isinstance(donor, dict):
                key = rng.choice(["ts", "dur", "pid", "tid", "cat", "args", "id"])
                if key in donor:
                    event[key] = donor[key]
    return event


def text_of_number(given: Json) -> Json:
    """A number as some tools write it."""
    return given.text if isinstance(given, Number) else given


def change_values(trace: Json, rng: Random) -> Json:
    """A few changes to the events as values: the result is written as good JSON."""
    events = list(events_of(trace))
    for _ in range(rng.randrange(1, 6)):
        if not events:
            break
        at = rng.randrange(len(events))
        match rng.randrange(8):
            case 0:
                other = rng.randrange(len(events))
                events[at], events[other] = events[other], events[at]
            case 1:
                events.insert(rng.randrange(len(events) + 1), events[at])
            case 2:
                del events[at]
            case 3:
                events.insert(at, value(rng))
            case _:
                events[at] = change_event(events[at], events, rng)
    if not isinstance(trace, dict):
        return list(events)
    items = list(trace.items())
    if rng.random() < 0.3:
        rng.shuffle(items)
    if rng.random() < 0.2:
        items.insert(rng.randrange(len(items) + 1), (rng.choice(ODD_TEXTS), value(rng)))
    return {key: events if key == "traceEvents" else one for key, one in items}


def change_bytes(data: bytes, rng: Random) -> bytes:
    """One change to the text, whatever that does to it."""
    if not data:
        return data
    at = rng.randrange(len(data))
    match rng.randrange(12):
        case 0:
            return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
        case 1:
            return data[:at] + data[at + rng.randrange(1, 40) :]
        case 2:
            return data[:at] + bytes([rng.choice(STRUCTURE)]) + data[at:]
        case 3:
            return data[:at] + bytes([rng.choice(STRUCTURE)]) + data[at + 1 :]
        case 4:
            return data[:at]
        case 5:
            piece = data[at : at + rng.randrange(1, 400)]
            to = rng.randrange(len(data))
            return data[:to] + piece + data[to:]
        case 6:
            return replace_one(data, b"}", rng.choice([b",}", b", }", b",,}"]), rng)
        case 7:
            return replace_one(data, b",", rng.choice([b"", b",,", b" ", b";"]), rng)
        case 8:
            word = rng.choice([b": N/A,", b": NaN,", b": -nan,", b": inf,", b": None,", b": True,"])
            return replace_one(data, b",", word, rng)
        case 9:
            return replace_one(
                data, b"::", rng.choice([b'"', b'":"', b"\\", b"\\q", b"\n", b'", "']), rng
            )
        case 10:
            return replace_one(data, b'"ts"', b'"ts": 3, "ts"', rng)
        case _:
            return replace_one(data, b'"', rng.choice([b"", b'""', b"'", b'\\"']), rng)


def replace_one(data: bytes, old: bytes, new: bytes, rng: Random) -> bytes:
    """Replaces one occurrence, chosen at random."""
    places = [i for i in range(len(data)) if data.startswith(old, i)]
    if not places:
        return data
    at = rng.choice(places)
    return data[:at] + new + data[at + len(old) :]


def mutant(seed: int, samples: dict[str, bytes]) -> Mutant:
    """The mutant of a seed; samples are the good files it may come from."""
    rng = Random(seed)
    name = rng.choice(sorted(samples))
    data = samples[name]
    try:
        trace = parse(data)
    except NotJsonError:
        trace = None  # a sample that shows how files are broken: only its bytes are changed
    if trace is not None and rng.random() < 0.7:
        data = any_layout(change_values(trace, rng), rng)
    if trace is None or rng.random() < 0.5:
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            data = change_bytes(data, rng)
    if rng.random() < 0.02:
        data = b"\xef\xbb\xbf" + data
    if rng.random() < 0.02:
        data = data.replace(b"\n", b"\r\n")
    return Mutant(seed, name, data)
