"""Recordings of stepscope (docs/formats/scope.md), read and written the slow and simple way."""

import struct
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = b"\x89SCOPE\n\x01"
PROCESS, ANCHOR, NAMES, THREAD, EVENTS, LOGS, DROPPED, END = range(1, 9)
BEGIN, FINISH, INSTANT, LANE, STEP, COUNTER = range(6)


@dataclass
class Range:
    """A range, on the thread or task where it nests."""

    place: tuple[str, int]
    name: str
    start: int
    end: int | None = None  # nothing: still open when the recording ended
    parent: "Range | None" = None


@dataclass
class Line:
    """A line of the log."""

    time: int
    step: int
    level: int
    logger: str
    text: str


@dataclass
class Sign:
    """An instant, or a value of a counter."""

    place: tuple[str, int]
    name: str
    time: int
    value: float | None = None


@dataclass
class Recording:
    """What one process recorded; times count from its first anchor."""

    about: dict[str, str] = field(default_factory=dict)
    start_ns: int = 0  # the first anchor, since 1970
    length: int = 0  # to the last
    ranges: list[Range] = field(default_factory=list)
    steps: list[tuple[int, int, int]] = field(default_factory=list)  # number, start, end
    lines: list[Line] = field(default_factory=list)
    signs: list[Sign] = field(default_factory=list)
    threads: dict[int, int] = field(default_factory=dict)  # id of the system by number
    last: int = 0  # the last sign of life
    finished: bool = False


def crc32c(data: bytes) -> int:
    """Bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value: int) -> bytes:
    return varint(value * 2 if value >= 0 else -value * 2 - 1)


def text(value: str) -> bytes:
    data = value.encode()
    return varint(len(data)) + data


def block(kind: int, payload: bytes) -> bytes:
    head = struct.pack("<II", kind, len(payload))
    return b"Sblk" + head + struct.pack("<I", crc32c(head + payload)) + payload


class Cursor:
    """Reads a payload in order."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def more(self) -> bool:
        return self.at < len(self.data)

    def fixed(self, form: str) -> int:
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return int(value)

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self) -> int:
        value = self.varint()
        return -(value + 1) // 2 if value & 1 else value // 2

    def text(self) -> str:
        size = self.varint()
        self.at += size
        return self.data[self.at - size : self.at].decode()


def blocks(data: bytes) -> list[tuple[int, bytes]]:
    """The whole blocks of a file that is not damaged, but may be cut."""
    assert data[:8] == MAGIC
    found, at = [], 8
    while at + 16 <= len(data):
        kind, size, crc = struct.unpack_from("<III", data, at + 4)
        payload = data[at + 16 : at + 16 + size]
        if len(payload) < size:
            break
        assert crc32c(data[at + 4 : at + 12] + payload) == crc
        found.append((kind, payload))
        at += 16 + size
    return found


class _Reading:
    def __init__(self, data: bytes) -> None:
        self.out = Recording()
        self.blocks = blocks(data)
        self.anchors: list[tuple[int, int]] = []
        self.names: dict[int, str] = {}
        self.lanes: dict[int, int] = defaultdict(int)
        self.open: dict[tuple[str, int], list[Range]] = defaultdict(list)
        self.last_step: int | None = None

    def time(self, ticks: int) -> int:
        """By the line between the anchors around it, in whole nanoseconds, cut towards zero."""
        after = next((i for i, a in enumerate(self.anchors) if a[0] > ticks), len(self.anchors))
        i = min(max(after - 1, 0), len(self.anchors) - 2)
        (t0, n0), (t1, n1) = self.anchors[i], self.anchors[i + 1]
        product = (ticks - t0) * (n1 - n0)
        whole = abs(product) // (t1 - t0)
        now = n0 - self.anchors[0][1] + (whole if product >= 0 else -whole)
        self.out.last = max(self.out.last, now)
        return now

    def read(self) -> Recording:
        for kind, payload in self.blocks:  # all anchors first
            if kind == ANCHOR:
                ticks, mono, wall = struct.unpack("<Qqq", payload)
                if not self.anchors:
                    self.out.start_ns = wall
                if not self.anchors or ticks > self.anchors[-1][0]:
                    self.anchors.append((ticks, mono))
        self.out.length = self.anchors[-1][1] - self.anchors[0][1]
        for kind, payload in self.blocks:
            self.take(kind, Cursor(payload))
        self.out.last = max(self.out.last, self.time(self.anchors[-1][0]))
        return self.out

    def take(self, kind: int, at: Cursor) -> None:
        if kind == PROCESS:
            self.out.about = {at.text(): at.text() for _ in range(at.varint())}
        elif kind == NAMES:
            first = at.varint()
            for i in range(at.varint()):
                self.names[first + i] = at.text()
        elif kind == THREAD:
            number = at.varint()
            self.out.threads[number] = at.zigzag()
        elif kind == EVENTS:
            self.events(at)
        elif kind == LOGS:
            while at.more():
                now = self.time(at.fixed("Q"))
                at.varint(), at.varint()
                self.out.lines.append(Line(now, at.zigzag(), at.zigzag(), at.text(), at.text()))
        elif kind == END:
            self.out.finished = True

    def events(self, at: Cursor) -> None:
        thread, ticks = at.varint(), at.fixed("Q")
        while at.more():
            word = at.varint()
            what, kind = word >> 3, word & 7
            ticks += at.zigzag()
            value = at.fixed("q") if kind in (STEP, COUNTER) else 0
            if kind == LANE:
                self.lanes[thread] = what
                continue
            now = self.time(ticks)
            lane = self.lanes[thread]
            place = ("task", lane) if lane else ("thread", self.out.threads[thread])
            if kind == BEGIN:
                around = self.open[place]
                made = Range(place, self.names[what], now, None, around[-1] if around else None)
                around.append(made)
                self.out.ranges.append(made)
            elif kind == FINISH:
                same = [r for r in self.open[place] if r.name == self.names[what]]
                if same:
                    same[-1].end = now
                    self.open[place].remove(same[-1])
            elif kind == INSTANT:
                self.out.signs.append(Sign(place, self.names[what], now))
            elif kind == COUNTER:
                number: float = struct.unpack("<d", struct.pack("<q", value))[0]
                self.out.signs.append(Sign(place, self.names[what], now, number))
            elif kind == STEP:
                if what == 0 and self.last_step is not None:
                    self.out.steps.append((value, self.last_step, now))
                self.last_step = now


def read_recording(path: Path) -> Recording:
    """Of one process."""
    return _Reading(path.read_bytes()).read()
