"""Memory snapshots of any length: a real one whose steady step is repeated.

    bench/snapshots.py OUT EVENTS [TEMPLATE]

A stretch of a training run after which the same is allocated as before it may follow itself as
often as one likes: addresses, segments and stacks stay what the allocator made them, and the state
at the end is the recorded one. The pickle is written as Python's pickler would write it (protocol
4, frames and stacks by reference, a new list of frames per event where the original has one).
"""

import gzip
import os
import pickle
import struct
import sys
from pathlib import Path
from typing import Any, BinaryIO

from measure import ROOT

Event = dict[str, Any]

BATCH = 1000  # Python's pickler appends so many at once
STEP = 20  # copies that are called a training step


def template_path() -> Path:
    """The snapshot that is repeated: with C++ stacks from the corpus, else a sample."""
    folders = [ROOT.parent / "shared" / "data" / "h200"]
    if corpus := os.environ.get("STEPSCOPE_CORPUS"):
        folders.insert(0, Path(corpus) / "h200")
    for folder in folders:
        if (path := folder / "snap_gpt.pickle.gz").exists():
            return path
    return ROOT / "examples" / "data" / "snap_oracle.pickle.gz"


def steady_step(events: list[Event]) -> tuple[int, int]:
    """Where the longest stretch begins and ends after which the same is allocated as before it."""
    seen: dict[int, int] = {}  # what is allocated, as a sum of hashes, and where first
    allocated = {}
    state, best = 0, (0, 0)
    for i, event in enumerate(events):
        if event["action"].startswith("segment"):
            seen.clear()  # a stretch that takes segments would take them again
        elif event["action"] == "alloc":
            allocated[event["addr"]] = hash((event["addr"], event["size"]))
            state += allocated[event["addr"]]
        elif event["action"] == "free_completed":
            state -= allocated.pop(event["addr"], 0)
        if event["action"] == "free_requested":
            continue  # its free_completed comes next
        first = seen.setdefault(state, i + 1)
        if i + 1 - first > best[1] - best[0]:
            best = (first, i + 1)
    if best[0] == best[1]:
        raise ValueError("no stretch of this snapshot can be repeated")
    return best


class Writer:
    """A pickler for the parts of a snapshot, with control over what is repeated."""

    def __init__(self, out: BinaryIO) -> None:
        """Nothing is written or memoised yet."""
        self.out = out
        self.memo: dict[Any, int] = {}
        self.count = 0

    def remember(self, key: Any) -> bytes:
        """The opcode that memoises what was just written."""
        self.memo[key] = self.count
        self.count += 1
        return b"\x94"

    def fetch(self, index: int) -> bytes:
        """A reference to what was memoised."""
        return b"h" + bytes([index]) if index < 256 else b"j" + struct.pack("<I", index)

    def text(self, value: str) -> bytes:
        """Text, by reference from the second time on."""
        if (known := self.memo.get(("text", value))) is not None:
            return self.fetch(known)
        raw = value.encode()
        head = b"\x8c" + bytes([len(raw)]) if len(raw) < 256 else b"X" + struct.pack("<I", len(raw))
        return head + raw + self.remember(("text", value))

    def number(self, value: int) -> bytes:
        """A whole number in as few bytes as Python takes."""
        if 0 <= value < 256:
            return b"K" + bytes([value])
        if 0 <= value < 65536:
            return b"M" + struct.pack("<H", value)
        if -(2**31) <= value < 2**31:
            return b"J" + struct.pack("<i", value)
        raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        return b"\x8a" + bytes([len(raw)]) + raw

    def value(self, value: Any) -> bytes:
        """Anything, with dicts and lists that occur again by reference."""
        if value is None:
            return b"N"
        if isinstance(value, bool):
            return b"\x88" if value else b"\x89"
        if isinstance(value, int):
            return self.number(value)
        if isinstance(value, float):
            return b"G" + struct.pack(">d", value)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, tuple):
            inner = b"".join(self.value(v) for v in value)
            return inner + b"\x86" + self.remember(("tuple", self.count))
        if (known := self.memo.get(("object", id(value)))) is not None:
            return self.fetch(known)
        if isinstance(value, dict):
            head = b"}" + self.remember(("object", id(value)))
            inner = b"".join(self.value(k) + self.value(v) for k, v in value.items())
            return head + (b"(" + inner + b"u" if value else b"")
        head = b"]" + self.remember(("object", id(value)))
        text = head
        for at in range(0, len(value), BATCH):
            text += b"(" + b"".join(self.value(v) for v in value[at : at + BATCH]) + b"e"
        return text


class Repeated:
    """The bytes of a stretch of events, with the places that change from copy to copy."""

    def __init__(self, writer: Writer, events: list[Event]) -> None:
        """Writes the events once, into memory."""
        self.bytes = bytearray()
        self.times: list[tuple[int, int]] = []  # where, and the time
        self.lists: list[tuple[int, int]] = []  # where, and which list of this stretch
        first = writer.count
        seen: dict[int, int] = {}  # lists of frames of this stretch, as memo numbers
        for at in range(0, len(events), BATCH):
            self.bytes += b"("
            for event in events[at : at + BATCH]:
                self.event(writer, event, seen)
            self.bytes += b"e"
        self.memoised = writer.count - first

    def event(self, writer: Writer, event: Event, seen: dict[int, int]) -> None:
        """One event, with its places."""
        out = self.bytes
        out += b"}\x94("
        writer.count += 1
        for key, value in event.items():
            out += writer.text(key)
            if key == "time_us":
                out += b"\x8a\x08"
                self.times.append((len(out), value))
                out += struct.pack("<q", value)
            elif key == "frames" and value:
                if (known := seen.get(id(value))) is not None:
                    out += b"j"
                    self.lists.append((len(out), known))
                    out += struct.pack("<I", known)
                    continue
                seen[id(value)] = writer.count
                writer.count += 1
                out += b"]\x94(" + b"".join(writer.value(f) for f in value) + b"e"
            else:
                out += writer.value(value)
        out += b"u"

    def copy(self, copies: int, memoised_before: int, first_memo: int, period_us: int) -> bytes:
        """The stretch again, so many copies later."""
        for at, time in self.times:
            struct.pack_into("<q", self.bytes, at, time + copies * period_us)
        shift = memoised_before - first_memo
        for at, known in self.lists:
            struct.pack_into("<I", self.bytes, at, known + shift)
        return bytes(self.bytes)


def make(out_path: Path, wanted: int, template: Path) -> int:
    """Writes a snapshot of about so many events; how many it has."""
    raw = template.read_bytes()
    snapshot = pickle.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    events: list[Event] = snapshot["device_traces"][0]
    first, last = steady_step(events)
    step = events[first:last]
    copies = max(0, (wanted - len(events)) // len(step))
    period = step[-1]["time_us"] - step[0]["time_us"] + 100
    with out_path.open("wb") as out:
        writer = Writer(out)
        out.write(b"\x80\x04}")
        writer.count += 1
        out.write(b"\x94(" + writer.text("segments") + writer.value(snapshot["segments"]))
        out.write(writer.text("device_traces") + b"]\x94")
        writer.count += 1
        out.write(b"]\x94")
        writer.count += 1
        for at in range(0, last, BATCH):
            batch = events[at : min(at + BATCH, last)]
            out.write(b"(" + b"".join(writer.value(event) for event in batch) + b"e")
        # What a copy refers to lies before it, so its bytes are the same every time.
        start = writer.count
        repeated = Repeated(writer, step)
        for copy in range(copies):
            before = start + copy * repeated.memoised
            out.write(repeated.copy(copy + 1, before, start, period))
        writer.count = start + copies * repeated.memoised
        for event in events[last:]:
            event["time_us"] += copies * period
            out.write(b"(" + writer.value(event) + b"e")
        out.write(b"a")
        annotations = [
            {
                **a,
                "time_us": a["time_us"]
                + (copies * period if a["time_us"] > step[-1]["time_us"] else 0),
            }
            for a in snapshot["external_annotations"]
        ]
        marks = [
            {"name": f"ProfilerStep#{copy // STEP}", "stage": stage, "device": 0, "time_us": at}
            for copy in range(0, copies, STEP)
            for stage, at in (
                ("START", step[0]["time_us"] + (copy + 1) * period),
                ("END", step[0]["time_us"] + (copy + STEP) * period),
            )
        ]
        annotations = sorted(annotations + marks, key=lambda a: a["time_us"])
        for key, value in (
            ("allocator_settings", snapshot["allocator_settings"]),
            ("external_annotations", annotations),
        ):
            out.write(writer.text(key) + writer.value(value))
        out.write(b"u.")
    return len(events) + copies * len(step)


def main() -> None:
    """The command line."""
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    template = Path(sys.argv[3]) if len(sys.argv) == 4 else template_path()
    print(make(Path(sys.argv[1]), int(sys.argv[2]), template), "events")


if __name__ == "__main__":
    main()
