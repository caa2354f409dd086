"""The repeats of a text worth joining, found by counting every stretch of it.

The text is a list of symbols; None is a break. joining[i] is what is saved by joining symbol i to
the one before it. The rule is that of docs/metrics/patterns.md.
"""

import heapq
from collections import defaultdict
from dataclasses import dataclass, field


@dataclass
class Repeat:
    """A stretch and the places where it was taken: (first, count)."""

    length: int
    saves: int = 0
    in_a_row: int = 0
    places: list[tuple[int, int]] = field(default_factory=list)


def stretches_of(text: list[str | None], longest: int) -> dict[tuple[str, ...], list[int]]:
    """Where each stretch of two symbols or more stands that is not always followed by the same."""
    found = defaultdict[tuple[str, ...], list[int]](list)
    after = defaultdict[tuple[str, ...], set[object]](set)
    for at in range(len(text)):
        word: list[str] = []
        for end in range(at, min(at + longest, len(text))):
            symbol = text[end]
            if symbol is None:
                break
            word.append(symbol)
            if len(word) > 1:
                found[tuple(word)].append(at)
                follows = text[end + 1] if end + 1 < len(text) else None
                after[tuple(word)].add(follows if follows is not None else end)
    return {
        word: places
        for word, places in found.items()
        if len(places) > 1 and len(set(word)) > 1 and (len(word) == longest or len(after[word]) > 1)
    }


class Chooser:
    """Takes the stretch that saves most, again and again."""

    def __init__(self, text: list[str | None], joining: list[int], min_count: int) -> None:
        self.text, self.joining, self.min_count = text, joining, min_count
        self.taken = [False] * len(text)

    def saved(self, first: int, count: int) -> int:
        """What joining these symbols saves."""
        return sum(self.joining[first + 1 : first + count])

    def stretch(self, length: int, places: list[int]) -> Repeat | None:
        """What a stretch is worth now."""
        apart, end = 0, 0
        for at in places:
            if at >= end:
                apart, end = apart + 1, at + length
        out, row, end = Repeat(length), 0, 0
        for at in places:
            if at < end or any(self.taken[at : at + length]):
                continue
            row = row + 1 if out.places and at == end else 1
            out.in_a_row = max(out.in_a_row, row)
            out.places.append((at, length))
            out.saves += self.saved(at, length)
            end = at + length
        if apart * 4 < len(places) * 3 or len(out.places) < self.min_count:
            return None
        return out

    def run(self, places: list[int]) -> Repeat | None:
        """What one symbol several times in a row is worth now."""
        out, joined = Repeat(1), 0
        free = [at for at in places if not self.taken[at]]
        while free:
            count = 1
            while count < len(free) and free[count] == free[0] + count:
                count += 1
            if count > 1:
                out.places.append((free[0], count))
                out.in_a_row = max(out.in_a_row, count)
                out.saves += self.saved(free[0], count)
                joined += count - 1
            free = free[count:]
        return out if joined >= self.min_count else None


def find_repeats(
    text: list[str | None], joining: list[int], longest: int, min_count: int, top: int
) -> list[Repeat]:
    """In the order they are taken."""
    chooser = Chooser(text, joining, min_count)
    heap: list[tuple[int, int, int, list[int]]] = []
    for word, places in stretches_of(text, longest).items():
        bound = sum(chooser.saved(at, len(word)) for at in places)
        if len(places) >= min_count and bound > 0:
            heap.append((-bound, -len(word), places[0], places))
    for symbol in {s for s in text if s is not None}:
        places = [at for at, s in enumerate(text) if s == symbol]
        bound = sum(joining[at] for at in places if at > 0 and text[at - 1] == symbol)
        if bound > 0:
            heap.append((-bound, -1, places[0], places))
    heapq.heapify(heap)
    out: list[Repeat] = []
    while heap and (top == 0 or len(out) < top):
        _, length, first, places = heapq.heappop(heap)
        repeat = chooser.run(places) if length == -1 else chooser.stretch(-length, places)
        if repeat is None or repeat.saves <= 0:
            continue
        now = (-repeat.saves, length, first, places)
        if heap and heap[0] < now:
            heapq.heappush(heap, now)
            continue
        for at, count in repeat.places:
            chooser.taken[at : at + count] = [True] * count
        out.append(repeat)
    return out
