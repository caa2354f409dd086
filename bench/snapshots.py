"""Memory snapshots of any length, of a model as large as people train.

    bench/snapshots.py OUT EVENTS [TEMPLATE]

The requests are those of training_requests.py, with stacks taken from a real snapshot; torch's
rules decide where they lie. The pickle is written as Python's pickler writes what torch dumps:
protocol 4 in frames, frames of stacks by reference, a list of them per traceback, which an
allocation shares with its block and the two events of a free share with each other.
"""

import gzip
import os
import pickle
import struct
import sys
from pathlib import Path
from typing import Any, BinaryIO

from measure import ROOT
from training_requests import ACTIONS, ALLOC, FREE_COMPLETED, SEGMENT_ALLOC, Stacks, Training

BATCH = 1000  # Python's pickler appends so many at once
FRAME = 64 * 1024  # and begins a new frame after so many bytes


def template_path() -> Path:
    """The snapshot whose stacks are used: with C++ stacks from the corpus, else a sample."""
    folders = [ROOT.parent / "shared" / "data" / "h200"]
    if corpus := os.environ.get("STEPSCOPE_CORPUS"):
        folders.insert(0, Path(corpus) / "h200")
    for folder in folders:
        if (path := folder / "snap_gpt.pickle.gz").exists():
            return path
    return ROOT / "examples" / "data" / "snap_oracle.pickle.gz"


class Writer:
    """A pickler for the parts of a snapshot, with control over what is repeated."""

    def __init__(self, out: BinaryIO) -> None:
        """Nothing is written or memoised yet."""
        self.out = out
        self.memo: dict[Any, int] = {}
        self.count = 0
        self.pending = bytearray()
        out.write(b"\x80\x04")

    def write(self, data: bytes) -> None:
        """Whole opcodes, into the current frame."""
        self.pending += data
        if len(self.pending) >= FRAME:
            self.flush()

    def flush(self) -> None:
        """Ends the frame."""
        self.out.write(b"\x95" + struct.pack("<Q", len(self.pending)) + self.pending)
        self.pending.clear()

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
        text = b"]" + self.remember(("object", id(value)))
        for at in range(0, len(value), BATCH):
            batch = [self.value(v) for v in value[at : at + BATCH]]
            text += batch[0] + b"a" if len(batch) == 1 else b"(" + b"".join(batch) + b"e"
        return text


def segments(training: Training, lists: dict[int, list[Any]]) -> list[dict[str, Any]]:
    """What is held at the end, as torch describes it; the lists of frames by event."""
    frames = training.stacks.frames

    def frames_of(event: int) -> list[Any]:
        return lists.setdefault(event, list(frames[training.stack[event]]))

    described = []
    for segment in sorted(training.allocator.segments, key=lambda s: s.address):
        blocks = [
            {
                "address": address,
                "size": block.size,
                "requested_size": block.requested,
                "state": "inactive" if block.is_free else "active_allocated",
                "frames": [] if block.is_free else frames_of(block.holder),
            }
            for address, block in training.allocator.blocks_of(segment)
        ]
        used = [b for b in blocks if b["state"] != "inactive"]
        allocated = sum(b["size"] for b in used)
        described.append(
            {
                "device": 0,
                "address": segment.address,
                "total_size": segment.size,
                "allocated_size": allocated,
                "active_size": allocated,
                "requested_size": sum(b["requested_size"] for b in used),
                "stream": segment.pool[0],
                "segment_type": "small" if segment.pool[1] else "large",
                "segment_pool_id": (0, 0),
                "is_expandable": False,
                "frames": frames_of(segment.holder),
                "blocks": blocks,
            }
        )
    return described


class EventWriter:
    """Writes the events of a history; all but numbers and lists of frames is the same bytes."""

    def __init__(self, writer: Writer, training: Training, lists: dict[int, list[Any]]) -> None:
        """Takes the lists that are written already, by event."""
        self.writer = writer
        self.training = training
        self.lists = lists
        self.texts: dict[int, tuple[bytes, ...]] = {}  # by action
        self.bodies: dict[int, bytes] = {}  # by stack: the frames of a list
        self.freeing: dict[int, int] = {}  # by address: the list of its free_requested
        self.taking = 0  # the list of the last segment_alloc

    def event(self, i: int) -> bytes:
        """One event."""
        training, writer = self.training, self.writer
        writer.count += 1
        action = training.action[i]
        texts = self.texts.get(action)
        written = texts or self._texts(action)
        if texts is None:
            self.texts[action] = self._texts(action)  # by reference from now on
        head, size, stream, time, tail = written
        number = writer.number
        return b"".join(
            (
                head,
                number(training.address[i]),
                size,
                number(training.size[i]),
                stream,
                number(training.stream[i]),
                time,
                number(training.time_us[i]),
                tail,
                self._frames(i),
                b"u",
            )
        )

    def _texts(self, action: int) -> tuple[bytes, ...]:
        """What stands between the numbers of an event."""
        text = self.writer.text
        return (
            b"}\x94(" + text("action") + text(ACTIONS[action]) + text("addr"),
            text("size"),
            text("stream"),
            text("time_us"),
            b"".join(map(text, ("compile_context", "N/A", "user_metadata", "", "frames"))),
        )

    def _frames(self, i: int) -> bytes:
        action, address = self.training.action[i], self.training.address[i]
        if action == FREE_COMPLETED:
            return self.writer.fetch(self.freeing.pop(address))
        if (known := self.lists.get(i)) is not None:
            self.taking = self.writer.memo["object", id(known)]
            return self.writer.fetch(self.taking)
        after_segment = i > 0 and self.training.action[i - 1] == SEGMENT_ALLOC
        if action == ALLOC and after_segment:
            return self.writer.fetch(self.taking)  # one traceback for both
        stack = self.training.stack[i]
        number = self.writer.count
        self.writer.count += 1
        if action == SEGMENT_ALLOC:
            self.taking = number
        elif action != ALLOC:
            self.freeing[address] = number
        if (body := self.bodies.get(stack)) is None:
            frames = self.training.stacks.frames[stack]
            written = b"".join(self.writer.value(frame) for frame in frames)
            # From now on every frame is a reference.
            self.bodies[stack] = b"".join(self.writer.value(frame) for frame in frames)
            return b"]\x94(" + written + b"e"
        return b"]\x94(" + body + b"e"


def make(out_path: Path, wanted: int, template: Path) -> int:
    """Writes a snapshot of at least so many events, in whole steps; how many it has."""
    raw = template.read_bytes()
    recorded = pickle.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    history = max(recorded["device_traces"], key=len)
    training = Training(Stacks(history), history[0]["time_us"])
    while len(training) < wanted:
        training.step()
    lists: dict[int, list[Any]] = {}
    with out_path.open("wb") as out:
        writer = Writer(out)
        writer.count += 1
        writer.write(b"}\x94(" + writer.text("segments"))
        writer.write(writer.value(segments(training, lists)))
        writer.count += 2
        writer.write(writer.text("device_traces") + b"]\x94]\x94")
        events = EventWriter(writer, training, lists)
        for first in range(0, len(training), BATCH):
            writer.write(b"(")
            for i in range(first, min(first + BATCH, len(training))):
                writer.write(events.event(i))
            writer.write(b"e")
        writer.write(b"a" + writer.text("allocator_settings"))
        writer.write(writer.value(recorded["allocator_settings"]))
        writer.write(writer.text("external_annotations"))
        writer.write(
            writer.value(
                [
                    {"stage": stage, "name": f"ProfilerStep#{n}", "device": 0, "time_us": at}
                    for n, borders in enumerate(training.steps)
                    for stage, at in zip(("START", "END"), borders, strict=True)
                ]
            )
        )
        writer.write(b"u.")
        writer.flush()
    return len(training)


def main() -> None:
    """The command line."""
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    template = Path(sys.argv[3]) if len(sys.argv) == 4 else template_path()
    print(make(Path(sys.argv[1]), int(sys.argv[2]), template), "events")


if __name__ == "__main__":
    main()
