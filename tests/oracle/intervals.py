"""Sets of time as sorted lists of (start, end) that neither overlap nor touch."""

from collections.abc import Iterable

Interval = tuple[int, int]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The set these intervals cover, in whatever order they come."""
    out: list[Interval] = []
    for start, end in sorted(i for i in intervals if i[0] < i[1]):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def total(intervals: Iterable[Interval]) -> int:
    """Length of the set these intervals cover."""
    return sum(end - start for start, end in union(intervals))


def inverse(intervals: Iterable[Interval], within: Interval) -> list[Interval]:
    """What of `within` the intervals do not cover."""
    at, out = within[0], []
    for start, end in union(intervals):
        if start > at:
            out.append((at, min(start, within[1])))
        at = max(at, end)
    return union([(s, e) for s, e in [*out, (at, within[1])] if s < within[1]])


def intersect(a: Iterable[Interval], b: Iterable[Interval]) -> list[Interval]:
    """Time in both."""
    out, left, right = [], union(a), union(b)
    i = j = 0
    while i < len(left) and j < len(right):
        out.append((max(left[i][0], right[j][0]), min(left[i][1], right[j][1])))
        if left[i][1] <= right[j][1]:
            i += 1
        else:
            j += 1
    return union(out)


def subtract(a: Iterable[Interval], b: Iterable[Interval]) -> list[Interval]:
    """Time in a and not in b."""
    left = union(a)
    return intersect(left, inverse(b, (left[0][0], left[-1][1]))) if left else []
