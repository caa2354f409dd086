"""Random recordings: threads, tasks, open ranges, steps within ranges, by a seed."""

import random
import struct

from oracle.scope import (
    ANCHOR,
    BEGIN,
    END,
    EVENTS,
    FINISH,
    LANE,
    LOGS,
    MAGIC,
    NAMES,
    PROCESS,
    STEP,
    THREAD,
    block,
    text,
    varint,
    zigzag,
)

WORDS = ["epoch", "train", "forward", "backward", "load", "decode"]
WALL = 1_700_000_000_000_000_000


class _Writing:
    def __init__(self, seed: int, pid: int, rank: int, start: int) -> None:
        self.random = random.Random(seed)
        self.now = start
        self.pid = pid
        self.steps = 0
        self.open: dict[tuple[int, int], list[int]] = {}
        fields = {"pid": str(pid), "rank": str(rank), "host": "nowhere"}
        pairs = b"".join(text(key) + text(value) for key, value in fields.items())
        names = b"".join(map(text, WORDS))
        self.out = MAGIC + block(PROCESS, varint(len(fields)) + pairs)
        self.out += self.anchor() + block(NAMES, varint(0) + varint(len(WORDS)) + names)
        for thread in (1, 2):
            ident = pid if thread == 1 else pid + thread
            self.out += block(THREAD, varint(thread) + zigzag(ident) + text(f"thread {thread}"))

    def anchor(self) -> bytes:
        """Three ticks are two nanoseconds."""
        ns = self.now * 2 // 3
        return block(ANCHOR, struct.pack("<Qqq", self.now, 5_000 + ns, WALL + ns))

    def events(self, trains: bool) -> None:
        """A block of one thread."""
        thread = self.random.choice((1, 2))
        lane, first = 0, self.now
        payload, before = varint(thread) + struct.pack("<Q", first), first
        # A lane is where its thread left it; every block begins by saying so.
        for _ in range(self.random.randrange(1, 60)):
            self.now += self.random.randrange(1, 5_000)
            kind, what, tail = self.record(thread, lane, trains)
            if kind == LANE:
                lane = what
            payload += varint(what << 3 | kind) + zigzag(self.now - before) + tail
            before = self.now
        if lane:
            payload += varint(LANE) + zigzag(0)
        self.now += 1
        self.out += self.anchor() + block(EVENTS, payload)

    def record(self, thread: int, lane: int, trains: bool) -> tuple[int, int, bytes]:
        choice = self.random.random()
        # A task stays with its thread, as a coroutine does with its loop.
        place = (0, lane) if lane else (thread, 0)
        inside = self.open.setdefault(place, [])
        if choice < 0.05 and trains and thread == 1:
            self.steps += 1
            return STEP, 0, struct.pack("<q", self.steps)
        if choice < 0.15 and not inside:
            return LANE, self.random.choice((0, 10 * thread + 1, 10 * thread + 2)), b""
        if inside and (choice < 0.6 or len(inside) > 4):
            return FINISH, inside.pop(), b""
        inside.append(self.random.randrange(len(WORDS)))
        return BEGIN, inside[-1], b""

    def log(self) -> None:
        level = self.random.choice((10, 20, 30, 35, 40))
        line = struct.pack("<Q", self.now) + varint(1) + varint(0) + zigzag(self.steps)
        self.out += block(LOGS, line + zigzag(level) + text("train") + text(f"line {self.now}"))


def random_scope(seed: int, pid: int, rank: int, trains: bool = True) -> bytes:
    """The bytes of a recording; without a training process's steps where it does not train."""
    writing = _Writing(seed, pid, rank, random.Random(seed).randrange(1 << 40))
    for _ in range(20):
        writing.events(trains)
        if writing.random.random() < 0.3:
            writing.log()
    if seed % 2:
        writing.out += block(END, b"\0" * 6)
    return writing.out
