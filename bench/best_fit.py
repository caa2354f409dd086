"""torch's caching allocator as far as a generated history needs it: where a request is put.

Best fit by size, then by address, per stream and size class; blocks are cut and joined as torch
does with its own settings. The driver never refuses, and nothing is returned to it.
"""

from bisect import bisect_left, insort
from dataclasses import dataclass

MIB = 1 << 20
NONE = -1


@dataclass(slots=True)
class Block:
    """A stretch of a segment; neighbours by address, NONE at its ends."""

    size: int
    pool: tuple[int, bool]  # stream, small
    before: int = NONE
    after: int = NONE
    is_free: bool = True
    requested: int = 0
    holder: int = NONE  # the event that took it


@dataclass(slots=True)
class Segment:
    """A stretch of memory from the driver."""

    address: int
    size: int
    pool: tuple[int, bool]
    holder: int  # the event for which it was taken


class BestFit:
    """The state of one device."""

    def __init__(self) -> None:
        """Nothing is held yet."""
        self.blocks: dict[int, Block] = {}  # by address
        self.segments: list[Segment] = []
        self.free: dict[tuple[int, bool], list[tuple[int, int]]] = {}  # size, address
        self.rising = 0x7F0000000000

    def request(self, size: int, stream: int, event: int) -> tuple[int, Segment | None]:
        """Where the request lies, and the segment that had to be taken for it."""
        rounded = -(-max(size, 1) // 512) * 512
        small = rounded <= MIB
        pool = (stream, small)
        free = self.free.setdefault(pool, [])
        at = bisect_left(free, (rounded, 0))
        taken = None
        if at == len(free):
            taken = self._segment_for(rounded, pool, event)
            address = taken.address
        else:
            address = free.pop(at)[1]
        block = self.blocks[address]
        rest = block.size - rounded
        if rest >= 512 if small else rest > MIB:
            self.blocks[address + rounded] = Block(rest, pool, address, block.after)
            if block.after != NONE:
                self.blocks[block.after].before = address + rounded
            block.size, block.after = rounded, address + rounded
            insort(free, (rest, address + rounded))
        block.is_free, block.requested, block.holder = False, size, event
        return address, taken

    def give_back(self, address: int) -> None:
        """Frees a block and joins it with free neighbours."""
        block = self.blocks[address]
        free = self.free[block.pool]
        block.is_free, block.holder = True, NONE
        if block.after != NONE and self.blocks[block.after].is_free:
            self._drop(free, block.after)
            self._absorb(block, address)
        if block.before != NONE and self.blocks[block.before].is_free:
            address = block.before
            self._drop(free, address)
            block = self.blocks[address]
            self._absorb(block, address)
        insort(free, (block.size, address))

    def blocks_of(self, segment: Segment) -> list[tuple[int, Block]]:
        """Its blocks with their addresses, in order."""
        found = []
        address = segment.address
        while address != NONE:
            found.append((address, self.blocks[address]))
            address = self.blocks[address].after
        return found

    def _segment_for(self, rounded: int, pool: tuple[int, bool], event: int) -> Segment:
        if pool[1]:
            size = 2 * MIB
        elif rounded < 10 * MIB:
            size = 20 * MIB
        else:
            size = -(-rounded // (2 * MIB)) * 2 * MIB
        segment = Segment(self.rising, size, pool, event)
        self.rising += size + 2 * MIB
        self.segments.append(segment)
        self.blocks[segment.address] = Block(size, pool)
        return segment

    def _drop(self, free: list[tuple[int, int]], address: int) -> None:
        del free[bisect_left(free, (self.blocks[address].size, address))]

    def _absorb(self, block: Block, address: int) -> None:
        gone = self.blocks.pop(block.after)
        block.size += gone.size
        block.after = gone.after
        if gone.after != NONE:
            self.blocks[gone.after].before = address
