"""A quantity over time the slow way: its value at every moment at which it can change."""

from collections import Counter
from collections.abc import Iterable
from math import ceil

from oracle.intervals import Interval

Stay = tuple[int, int, int]  # from, to, how much


def value_at(stays: Iterable[Stay], time: int) -> int:
    """The sum of what is there at a time."""
    return sum(much for start, end, much in stays if start <= time < end)


def series(stays: list[Stay]) -> list[tuple[int, int]]:
    """(time, value) wherever the sum changes."""
    by_time = Counter[int]()
    for start, end, much in stays:
        if start < end:
            by_time[start] += much
            by_time[end] -= much
    out, value = [], 0
    for time in sorted(by_time):
        if by_time[time]:
            value += by_time[time]
            out.append((time, value))
    return out


def time_at(stays: list[Stay], within: list[Interval]) -> Counter[int]:
    """How long the sum had which value inside a set of time."""
    points = [(-(1 << 62), 0), *series(stays), (1 << 62, 0)]
    out = Counter[int]()
    for (start, value), (end, _) in zip(points, points[1:], strict=False):
        for first, last in within:
            out[value] += max(0, min(end, last) - max(start, first))
    return +out


def percentile(times: Counter[int], share: float) -> int:
    """The smallest value not exceeded for at least this share of the time."""
    wanted, so_far = ceil(share * times.total()), 0
    for value in sorted(times):
        so_far += times[value]
        if so_far >= wanted:
            return value
    return 0


def mean(times: Counter[int]) -> float:
    """By time."""
    area = sum(value * time for value, time in times.items())
    return area / times.total() if times else 0.0
