"""What was sampled of a machine (docs/formats/scope.md), read, written and summed the slow way."""

import math
import struct
from dataclasses import dataclass, field
from pathlib import Path

from oracle.scope import (
    ANCHOR,
    END,
    LOGS,
    MAGIC,
    PROCESS,
    Cursor,
    block,
    blocks,
    text,
    varint,
    zigzag,
)

SERIES, SAMPLES = 9, 10


@dataclass
class Series:
    """Values with their times, in nanoseconds since the file's first anchor."""

    about: dict[str, str]
    times: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)

    def __getitem__(self, key: str) -> str:
        return self.about.get(key, "")


@dataclass
class Machine:
    """One file."""

    about: dict[str, str] = field(default_factory=dict)
    start_ns: int = 0  # since 1970
    series: list[Series] = field(default_factory=list)
    notices: list[tuple[str, str]] = field(default_factory=list)
    finished: bool = False
    cpu_ns: int = 0

    def find(self, name: str, **about: str) -> Series | None:
        """The first series of that name that is about this."""
        for one in self.series:
            if one["name"] == name and one.values and about.items() <= one.about.items():
                return one
        return None


class _Clock:
    def __init__(self) -> None:
        self.anchors: list[tuple[int, int]] = []

    def time(self, ticks: int) -> int:
        after = next((i for i, a in enumerate(self.anchors) if a[0] > ticks), len(self.anchors))
        i = min(max(after - 1, 0), len(self.anchors) - 2)
        (t0, n0), (t1, n1) = self.anchors[i], self.anchors[i + 1]
        product = (ticks - t0) * (n1 - n0)
        whole = abs(product) // (t1 - t0)
        return n0 - self.anchors[0][1] + (whole if product >= 0 else -whole)


def read_machine(path: Path) -> Machine:
    """All blocks of a whole file."""
    machine, clock = Machine(), _Clock()
    found = blocks(path.read_bytes())
    for kind, payload in found:
        if kind == ANCHOR:
            ticks, mono, wall = struct.unpack("<Qqq", payload)
            machine.start_ns = machine.start_ns or wall
            clock.anchors.append((ticks, mono))
    series: dict[int, Series] = {}
    for kind, payload in found:
        at = Cursor(payload)
        if kind == PROCESS:
            machine.about = {at.text(): at.text() for _ in range(at.varint())}
        elif kind == SERIES:
            number = at.varint()
            series[number] = Series({at.text(): at.text() for _ in range(at.varint())})
        elif kind == SAMPLES:
            _take_samples(at, series, clock)
        elif kind == LOGS:
            while at.more():
                at.fixed("Q"), at.varint(), at.varint(), at.zigzag(), at.zigzag()
                machine.notices.append((at.text(), at.text()))
        elif kind == END:
            machine.finished = True
            [at.varint() for _ in range(5)]
            machine.cpu_ns = at.zigzag()
    machine.series = list(series.values())
    return machine


def _take_samples(at: Cursor, series: dict[int, Series], clock: _Clock) -> None:
    moments, ticks = [], 0
    for _ in range(at.varint()):
        ticks += at.zigzag()
        moments.append(clock.time(ticks))
    while at.more():
        one, count = series[at.varint()], at.varint()
        places, place = list(range(len(moments))), 0
        if count != len(moments):
            places = []
            for _ in range(count):
                place += at.varint()
                places.append(place)
        value = 0
        for place in places:
            value += at.zigzag()
            one.times.append(moments[place])
            one.values.append(value)


# Writing, for made recordings.


@dataclass
class Written:
    """A series to write: at each moment a value, or None."""

    about: dict[str, str]
    values: list[int | None]


def machine_bytes(
    about: dict[str, str],
    wall_ns: int,
    times: list[int],
    series: list[Written],
    notices: list[tuple[str, str]] = (),  # type: ignore[assignment]
    finished: bool = True,
    set_ns: int = 0,
) -> bytes:
    """One tick is one nanosecond, and the first anchor is time 0; its wall clock is set by some."""
    fields = {"role": "node", **about}
    out = MAGIC + block(PROCESS, _fields(fields))
    out += block(ANCHOR, struct.pack("<Qqq", 1_000, 7_000, wall_ns))
    for number, one in enumerate(series):
        out += block(SERIES, varint(number) + _fields(one.about))
    for first in range(0, len(times), 5):
        moments = times[first : first + 5]
        payload, before = varint(len(moments)), 0
        for moment in moments:
            payload += zigzag(moment + 1_000 - before)
            before = moment + 1_000
        for number, one in enumerate(series):
            payload += _column(number, one.values[first : first + 5])
        out += block(SAMPLES, payload)
    lines = b"".join(
        struct.pack("<Q", 1_000)
        + varint(0) * 2
        + zigzag(-1)
        + zigzag(20)
        + text(source)
        + text(what)
        for source, what in notices
    )
    if lines:
        out += block(LOGS, lines)
    end = max(times, default=0) + 1
    out += block(ANCHOR, struct.pack("<Qqq", 1_000 + end, 7_000 + end, wall_ns + end + set_ns))
    if finished:
        out += block(END, varint(1) * 5 + zigzag(2_000_000))
    return out


def _fields(fields: dict[str, str]) -> bytes:
    return varint(len(fields)) + b"".join(text(k) + text(v) for k, v in fields.items())


def _column(number: int, values: list[int | None]) -> bytes:
    places = [i for i, value in enumerate(values) if value is not None]
    out, before = varint(number) + varint(len(places)), 0
    if len(places) != len(values):
        for place in places:
            out += varint(place - before)
            before = place
    last = 0
    for place in places:
        value = values[place]
        assert value is not None
        out += zigzag(value - last)
        last = value
    return out


# Summing.


def percentile(values: list[float], share: float) -> float:
    """The smallest value that at least this share of the values do not exceed."""
    return sorted(values)[max(math.ceil(share * len(values) - 1e-9), 1) - 1]


def rates(one: Series, window: int) -> tuple[list[float], float] | None:
    """Growth per nanosecond over stretches of at least `window`, and that of all together."""
    # Parts within which the total never falls; a part's stretches follow each other.
    parts: list[list[int]] = [[0]]
    for i in range(1, len(one.values)):
        if one.values[i] < one.values[i - 1]:
            parts.append([])
        parts[-1].append(i)
    stretches: list[tuple[int, int]] = []
    for part in parts:
        begin, own = part[0], []
        for i in part:
            if one.times[i] - one.times[begin] >= window:
                own.append((begin, i))
                begin = i
        if part is parts[-1] and begin != part[-1]:  # what is left at the end
            if own:
                own[-1] = (own[-1][0], part[-1])
            elif not stretches:
                own = [(begin, part[-1])]
        stretches += own
    found = [(one.values[b] - one.values[a]) / (one.times[b] - one.times[a]) for a, b in stretches]
    grown = sum(one.values[part[-1]] - one.values[part[0]] for part in parts)
    covered = sum(one.times[part[-1]] - one.times[part[0]] for part in parts)
    return (found, grown / covered) if covered and found else None


def machine_load(machine: Machine) -> Series:
    """Busy time of all processors: between two readings, divided by those there at both."""
    busy, counts = machine.find("cpu.busy"), machine.find("cpu.count")
    assert busy
    assert counts

    def count(time: int) -> int:
        known = [n for t, n in zip(counts.times, counts.values, strict=True) if t <= time]
        return known[-1] if known else counts.values[0]

    at = [count(time) for time in busy.times]
    values = [0.0]
    for i in range(1, len(at)):
        grown = busy.values[i] - busy.values[i - 1]
        values.append(values[-1] + grown / min(at[i - 1], at[i]))
    return Series(busy.about, busy.times, [round(value) for value in values])


def joules_until(one: Series, time: int, power: Series | None = None) -> float:
    """Of a counter of energy or a power, by straight lines; a little beyond its ends too.

    With a power beside the counter: between two values of the counter as power was, and before the
    first and after the last by power alone.
    """
    times, total = one.times, [0.0]
    for i in range(1, len(one.values)):
        length = one.times[i] - one.times[i - 1]
        if one["name"].endswith("power"):
            total.append(total[-1] + (one.values[i] + one.values[i - 1]) / 2 * length * 1e-12)
        else:
            scale = 1e-3 if one["unit"] == "mJ" else 1e-6
            total.append(total[-1] + max(one.values[i] - one.values[i - 1], 0) * scale)
    if power:
        times = sorted({*one.times, *power.times})
        total = [_spread(one.times, total, power, t) for t in times]
        total = [value - total[0] for value in total]
    after = next((i for i, t in enumerate(times) if t >= time), len(times))
    i = min(max(after, 1), len(times) - 1)
    part = (time - times[i - 1]) / (times[i] - times[i - 1])
    return total[i - 1] + (total[i] - total[i - 1]) * part


def _spread(times: list[int], total: list[float], power: Series, time: int) -> float:
    if time <= times[0]:
        return -_area(power, time, times[0])
    if time >= times[-1]:
        return total[-1] + _area(power, times[-1], time)
    i = next(i for i, t in enumerate(times) if t >= time)
    part = _area(power, times[i - 1], time) / _area(power, times[i - 1], times[i])
    return total[i - 1] + (total[i] - total[i - 1]) * part


def _area(power: Series, start: int, end: int) -> float:
    """Joules between two times; before its first and after its last value power stays."""
    ends = [start, *(t for t in power.times if start < t < end), end]
    watts = [_watts(power, t) for t in ends]
    return sum(
        (watts[i] + watts[i - 1]) / 2 * (ends[i] - ends[i - 1]) * 1e-9 for i in range(1, len(ends))
    )


def _watts(power: Series, time: int) -> float:
    after = next((i for i, t in enumerate(power.times) if t >= time), len(power.times))
    if after in (0, len(power.times)):
        return power.values[min(after, len(power.times) - 1)] / 1000
    (t0, t1), (p0, p1) = power.times[after - 1 : after + 1], power.values[after - 1 : after + 1]
    return (p0 + (p1 - p0) * (time - t0) / (t1 - t0)) / 1000
