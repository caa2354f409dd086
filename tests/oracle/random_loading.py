"""Made runs: loops that wait for loaders, with and without workers, by a seed."""

import random
import struct
from pathlib import Path

from oracle.scope import (
    ANCHOR,
    BEGIN,
    COUNTER,
    END,
    EVENTS,
    FINISH,
    INSTANT,
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

WALL = 1_700_000_000_000_000_000
MS = 1_000_000


class ScopeWriter:
    """A file of one process with one thread; a tick is a nanosecond, and 0 is `WALL`."""

    def __init__(self, pid: int, rank: int, start: int = 0) -> None:
        self.pid, self.rank, self.start = pid, rank, start
        self.names: list[str] = []
        self.records: list[tuple[int, int, int, bytes]] = []  # time, kind, what, tail
        self.last = start

    def _name(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def _add(self, time: int, kind: int, what: int, tail: bytes = b"") -> None:
        assert time >= self.last
        self.last = time
        self.records.append((time, kind, what, tail))

    def begin(self, name: str, time: int) -> None:
        self._add(time, BEGIN, self._name(name))

    def end(self, name: str, time: int) -> None:
        self._add(time, FINISH, self._name(name))

    def instant(self, name: str, time: int) -> None:
        self._add(time, INSTANT, self._name(name))

    def counter(self, name: str, value: float, time: int) -> None:
        self._add(time, COUNTER, self._name(name), struct.pack("<d", value))

    def step(self, number: int, time: int, begins: bool = False) -> None:
        self._add(time, STEP, int(begins), struct.pack("<q", number))

    def anchor(self, time: int) -> bytes:
        return block(ANCHOR, struct.pack("<Qqq", time, 5_000 + time, WALL + time))

    def bytes(self) -> bytes:
        """The file."""
        fields = {"pid": str(self.pid), "rank": str(self.rank), "host": "nowhere"}
        pairs = b"".join(text(key) + text(value) for key, value in fields.items())
        out = MAGIC + block(PROCESS, varint(len(fields)) + pairs) + self.anchor(self.start)
        names = b"".join(map(text, self.names))
        out += block(NAMES, varint(0) + varint(len(self.names)) + names)
        out += block(THREAD, varint(1) + zigzag(self.pid) + text("main"))
        payload, before = varint(1) + struct.pack("<Q", self.start), self.start
        for time, kind, what, tail in self.records:
            payload += varint(what << 3 | kind) + zigzag(time - before) + tail
            before = time
        out += self.anchor(self.last + 1) + block(EVENTS, payload)
        return out + block(END, b"\0" * 6)


class _Making:
    """What a batch's maker writes about it."""

    def __init__(self, chance: random.Random, has_transform: bool, has_io: bool) -> None:
        self.chance, self.has_transform, self.has_io = chance, has_transform, has_io

    def write(self, out: ScopeWriter, loader: str, start: int, number: int) -> int:
        """Returns when it was done."""
        chance = self.chance
        length = chance.randrange(1, 40 * MS)
        out.begin(f"load batch#{loader}", start)
        out.end(f"load batch#{loader}", start + length)
        now = start + length
        values = {"batch": number, "samples": chance.randrange(1, 9)}
        collate = chance.randrange(0, length + 1)
        values["collate_ns"] = collate
        values["cpu_ns"] = chance.randrange(0, length + 1)
        if self.has_io:
            values["read_bytes"] = chance.randrange(1 << 30)
            values["storage_bytes"] = chance.randrange(1 << 20)
            values["starved_ns"] = chance.randrange(0, length)
            values["files"] = chance.randrange(5)
        if self.has_transform:
            values["transform_ns"] = chance.randrange(0, length - collate + 1)
        for name, value in values.items():
            now += 1
            out.counter(f"loader {name}#{loader}", value, now)
        return now + 1


def _worker_pass(
    chance: random.Random,
    out: ScopeWriter,
    making: _Making,
    loader: str,
    plan: tuple[int, int, int],
) -> list[int]:
    """Iteration, first time, batches: when each was ready."""
    iteration, now, batches = plan
    now = max(now, out.last + 1)
    out.counter(f"loader iteration#{loader}", iteration, now)
    ready = []
    for number in range(batches):
        now = making.write(out, loader, now + chance.randrange(1, 3 * MS), number)
        ready.append(now)
    return ready


def random_loading(seed: int, folder: Path) -> None:
    """A run folder of some ranks."""
    chance = random.Random(seed)
    for rank in range(chance.randrange(1, 4)):
        _rank(random.Random(chance.random()), seed, rank, folder / "attempt-0" / f"rank{rank:05}")


def _rank(chance: random.Random, seed: int, rank: int, folder: Path) -> None:
    folder.mkdir(parents=True)
    main = ScopeWriter(100 * (rank + 1), rank, chance.randrange(1000 * MS))
    making = _Making(chance, chance.random() < 0.7, chance.random() < 0.7)
    now, step = main.start + 5, 0
    workers: dict[int, ScopeWriter] = {}
    marks_steps = chance.random() < 0.8
    if marks_steps:
        main.step(0, now, begins=True)
    persistent: dict[str, list[ScopeWriter]] = {}
    for epoch in range(chance.randrange(1, 4)):
        for loader in ("DataLoader", "DataLoader (validation)", "val"):
            if loader != "DataLoader" and chance.random() < 0.5:
                continue
            around = chance.choice(("Validation", "other")) if loader == "val" else None
            if around:
                now += 1
                main.begin(around, now)
            count = (seed + len(loader)) % 3  # workers
            writers = persistent.get(loader, [])
            iteration = epoch if writers else 0
            if not writers:
                for number in range(count):
                    pid = main.pid + 1 + len(workers)
                    one = workers[pid] = ScopeWriter(pid, rank, now)
                    one.counter(f"loader worker#{loader}", number, now)
                    writers.append(one)
                if chance.random() < 0.5 and epoch == 0:
                    persistent[loader] = writers
            now, step = _loop(
                chance, main, making, writers, loader, now, iteration, step, marks_steps
            )
            if around:
                now += 1
                main.end(around, now)
    (folder / "events.scope").write_bytes(main.bytes())
    for pid, one in workers.items():
        (folder / f"worker-{pid}.scope").write_bytes(one.bytes())


def _loop(
    chance: random.Random,
    main: ScopeWriter,
    making: _Making,
    writers: list[ScopeWriter],
    loader: str,
    now: int,
    iteration: int,
    step: int,
    marks_steps: bool,
) -> tuple[int, int]:
    each = chance.randrange(1, 8)
    made = [_worker_pass(chance, w, making, loader, (iteration, now, each)) for w in writers]
    if chance.random() < 0.7:  # older recordings do not say when the iterator was made
        now += chance.randrange(1, MS)
        main.begin(f"begin loading#{loader}", now)
        now += chance.randrange(1, 30 * MS)
        main.end(f"begin loading#{loader}", now)
    now += 1
    main.instant(f"loader starts#{loader}", now)
    main.counter(f"loader iteration#{loader}", iteration, now + 1)
    for one in writers:
        now += 2
        main.counter(f"loader pid#{loader}", one.pid, now)
    total = each * max(1, len(writers))
    taken = total if chance.random() < 0.7 else chance.randrange(1, total + 1)
    for i in range(taken):
        now += chance.randrange(1, 10 * MS)
        main.begin(f"wait for data#{loader}", now)
        if writers:
            worker, number = i % len(writers), i // len(writers)
            now = max(now + 1, made[worker][number] + chance.randrange(1, MS))
        else:
            number = i
            now = making.write(main, loader, now + 1, i) + chance.randrange(1, MS)
        main.end(f"wait for data#{loader}", now)
        values = {"batch": number}
        if writers:
            values |= {"ready": chance.randrange(4), "worker": worker}
        if chance.random() < 0.9:
            values["samples"] = chance.randrange(1, 9)
        for name, value in values.items():
            now += 1
            main.counter(f"loader {name}#{loader}", value, now)
        if loader == "DataLoader" and chance.random() < 0.2:  # it validates between two batches
            for _ in range(chance.randrange(1, 3)):
                now += chance.randrange(1, 5 * MS)
                main.instant(f"loader ends#{loader}", now)
                title = "list (validation)"
                now, _ = _loop(chance, main, making, [], title, now, 0, 0, False)
        if marks_steps and loader == "DataLoader":
            now += chance.randrange(1, 20 * MS)
            main.step(step, now)
            step += 1
            if chance.random() < 0.2:  # a loop that begins a save, now and then across a mark
                now += 1
                main.begin("save_checkpoint", now)
                now += chance.randrange(1, 40 * MS)
                if chance.random() < 0.2:
                    main.step(step, now - 1)
                    step += 1
                main.end("save_checkpoint", now)
    if taken == total:
        now += 10
        main.begin(f"wait for data#{loader}", now)
        now += chance.randrange(1, 5 * MS)
        main.end(f"wait for data#{loader}", now)
    now += 1
    main.instant(f"loader ends#{loader}", now)
    return now, step
