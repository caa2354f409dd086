"""A second, slow torch allocator to compare with: what a history does to segments and blocks.

Blocks are kept as a sorted list of boundaries per segment instead of linked lists, and everything
is looked up by address, so that it shares neither code nor structure with the program.
"""

import bisect
import gzip
import json
import os
import pickle
from pathlib import Path
from typing import Any

MIB = 1 << 20
ROOT = Path(__file__).parents[2]
KEYS = [
    "allocation",
    "segment",
    "active",
    "inactive_split",
    "allocated_bytes",
    "reserved_bytes",
    "active_bytes",
    "inactive_split_bytes",
    "requested_bytes",
]
PARTS = ("all", "large_pool", "small_pool")

Snapshot = dict[str, Any]


def snapshots() -> list[Path]:
    """Every recorded snapshot at hand."""
    folders = [ROOT / "tests/fixtures/memory", ROOT / "examples/data"]
    if corpus := os.environ.get("STEPSCOPE_CORPUS"):
        folders.append(Path(corpus) / "h200")
    found = {p.name: p for folder in reversed(folders) for p in folder.glob("*.pickle.gz")}
    return [found[name] for name in sorted(found)]


def load(path: Path) -> Snapshot:
    """Ours, so pickle may read it."""
    with gzip.open(path) as file:
        loaded: Snapshot = pickle.load(file)
    return loaded


def oracle(path: Path) -> dict[str, Any] | None:
    beside = path.with_name(path.name.removesuffix(".pickle.gz") + ".oracle.json")
    return json.loads(beside.read_text()) if beside.exists() else None


def rounded(size: int, settings: dict[str, Any]) -> int:
    size = max(size, 1)
    divisions = {int(k): v for k, v in settings.get("roundup_power2_divisions", {}).items()}
    interval = min(max(size.bit_length() - 21, 0), 15)
    parts = divisions.get(1 << interval, 0)
    if size >= 512 and parts > 1 and size > 512 * parts:
        floor = 1 << (size.bit_length() - 1)
        if floor == size:
            return size
        step = floor // (1 << (parts.bit_length() - 1))
        return -(-size // step) * step if step else 2 * floor
    return -(-size // 512) * 512


class Figure:
    """Current, peak, sums."""

    def __init__(self) -> None:
        self.current = self.peak = self.allocated = self.freed = 0

    def add(self, by: int) -> None:
        self.current += by
        if by > 0:
            self.allocated += by
            self.peak = max(self.peak, self.current)
        else:
            self.freed -= by


class Held:
    """One stretch of memory from the driver: where blocks begin, and what they are."""

    def __init__(self, start: int, size: int, small: bool, expandable: bool) -> None:
        self.small, self.expandable = small, expandable
        self.starts = [start]
        self.end = start + size
        self.used: dict[int, tuple[str, int]] = {}  # start: state, requested

    def size_at(self, i: int) -> int:
        after = self.starts[i + 1] if i + 1 < len(self.starts) else self.end
        return after - self.starts[i]

    def index(self, address: int) -> int:
        i = bisect.bisect_left(self.starts, address)
        assert i < len(self.starts) and self.starts[i] == address, "no block begins here"
        return i

    def free_blocks(self) -> list[int]:
        return [self.size_at(i) for i, s in enumerate(self.starts) if s not in self.used]

    def join(self) -> None:
        """No two free blocks lie beside each other."""
        kept: list[int] = []
        for start in self.starts:
            if kept and kept[-1] not in self.used and start not in self.used:
                continue
            kept.append(start)
        self.starts = kept


class Allocator:
    """Follows a history that begins with an empty allocator."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.held: dict[int, Held] = {}
        self.heads: list[int] = []
        self.stats = {(k, p): Figure() for k in KEYS for p in PARTS}
        self.most_unused = (0, -1)

    def add(self, key: str, small: bool, by: int) -> None:
        if by:
            self.stats[key, "all"].add(by)
            self.stats[key, PARTS[2 if small else 1]].add(by)

    def at(self, address: int) -> Held:
        return self.held[self.heads[bisect.bisect_right(self.heads, address) - 1]]

    def hold(self, start: int, size: int, expandable: bool) -> None:
        small = size == 2 * MIB
        before = self.at(start) if self.heads and self.heads[0] < start else None
        self.add("reserved_bytes", small, size)
        if expandable and before is not None and before.expandable and before.end == start:
            before.starts.append(start)
            before.end += size
            before.join()
            return
        self.held[start] = Held(start, size, small, expandable)
        bisect.insort(self.heads, start)
        if not expandable:
            self.add("segment", small, 1)

    def split_bytes(self, held: Held) -> tuple[int, int]:
        """How many free blocks of a segment of several there are, and their bytes."""
        if held.expandable or len(held.starts) == 1:
            return 0, 0
        free = held.free_blocks()
        return len(free), sum(free)

    def change(self, held: Held, act: Any) -> None:
        count, size = self.split_bytes(held)
        act()
        held.join()
        count_after, size_after = self.split_bytes(held)
        self.add("inactive_split", held.small, count_after - count)
        self.add("inactive_split_bytes", held.small, size_after - size)

    def alloc(self, address: int, requested: int) -> None:
        held = self.at(address)
        i = held.index(address)
        assert address not in held.used
        size, rest = rounded(requested, self.settings), 0
        rest = held.size_at(i) - size
        limit = self.settings.get("max_split_size", -1)
        cuts = rest >= 512 if held.small or held.expandable else rest > MIB
        if limit > 0 and size >= limit and not held.small and not held.expandable:
            cuts = False

        def act() -> None:
            held.used[address] = ("active_allocated", requested)
            if cuts:
                held.starts.insert(i + 1, address + size)

        self.change(held, act)
        size = held.size_at(held.index(address))
        for key, by in (
            ("allocation", 1),
            ("allocated_bytes", size),
            ("active", 1),
            ("active_bytes", size),
            ("requested_bytes", requested),
        ):
            self.add(key, held.small, by)

    def free_requested(self, address: int) -> None:
        held = self.at(address)
        held.used[address] = ("active_pending_free", held.used[address][1])
        self.add("allocation", held.small, -1)
        self.add("allocated_bytes", held.small, -held.size_at(held.index(address)))

    def free_completed(self, address: int) -> None:
        held = self.at(address)
        size, requested = held.size_at(held.index(address)), held.used[address][1]
        self.change(held, lambda: held.used.pop(address))
        self.add("active", held.small, -1)
        self.add("active_bytes", held.small, -size)
        self.add("requested_bytes", held.small, -requested)

    def give_back(self, start: int, size: int) -> None:
        held = self.held.pop(start)
        assert not held.used and held.end - start == size
        self.heads.remove(start)
        self.add("segment", held.small, -1)
        self.add("reserved_bytes", held.small, -size)

    def unmap(self, start: int, size: int) -> None:
        """Pages go from the middle: what is left of the stretch is up to two of them."""
        held = self.at(start)
        end = start + size
        after = Held(end, held.end - end, held.small, True)
        after.starts = [end] + [s for s in held.starts if s > end]
        after.used = {s: u for s, u in held.used.items() if s >= end}
        held.starts = [s for s in held.starts if s < start]
        held.used = {s: u for s, u in held.used.items() if s < start}
        held.end = start
        head = self.heads[bisect.bisect_right(self.heads, start) - 1]
        if not held.starts:
            del self.held[head]
            self.heads.remove(head)
        if after.end > end:
            self.held[end] = after
            bisect.insort(self.heads, end)
        self.add("reserved_bytes", held.small, -size)

    def follow(self, events: list[dict[str, Any]]) -> None:
        for i, event in enumerate(events):
            action, address, size = event["action"], event.get("addr", 0), event["size"]
            if action == "segment_alloc":
                self.hold(address, size, expandable=False)
            elif action == "segment_map":
                self.hold(address, size, expandable=True)
            elif action == "segment_free":
                self.give_back(address, size)
            elif action == "segment_unmap":
                self.unmap(address, size)
            elif action == "alloc":
                self.alloc(address, size)
            elif action == "free_requested":
                self.free_requested(address)
            elif action == "free_completed":
                self.free_completed(address)
            unused = self.now("reserved_bytes") - self.now("active_bytes")
            if unused > self.most_unused[0]:
                self.most_unused = (unused, i)

    def now(self, key: str) -> int:
        return self.stats[key, "all"].current

    def blocks(self) -> dict[int, tuple[int, str]]:
        out = {}
        for held in self.held.values():
            for i, start in enumerate(held.starts):
                out[start] = (held.size_at(i), held.used.get(start, ("inactive", 0))[0])
        return out


def recorded_blocks(snapshot: Snapshot, device: int = 0) -> dict[int, tuple[int, str]]:
    return {
        b["address"]: (b["size"], b["state"])
        for s in snapshot["segments"]
        if s["device"] == device
        for b in s["blocks"]
    }
