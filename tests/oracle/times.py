"""Which times belong together, how long the window lasts, and the order of its rows."""

from collections import Counter
from collections.abc import Iterable

from oracle.events import DAY, Event, Track


def settle(events: list[Event], unended: list[Event], notes: Counter[str]) -> tuple[int, int]:
    """Flags times far from the rest, ends what never ended; returns the window's span."""
    if not events:
        return 0, 0
    starts = sorted(e.start for e in events)
    median = starts[len(starts) // 2]
    for event in events:
        if abs(event.start - median) > DAY:
            event.flags.add("far_time")
            notes["far_from_the_rest"] += 1
    near = [e for e in events if "far_time" not in e.flags]
    first, last = min(e.start for e in near), max(e.end for e in near)
    for event in unended:
        event.flags.add("unclosed")
        event.duration = max(0, last - event.start)
    return first, last


def row_order(tracks: Iterable[Track], events: list[Event]) -> list[Event]:
    """All rows: by track in order of appearance, then start, the longer first, then file order."""
    place = {track: i for i, track in enumerate(tracks)}
    return sorted(events, key=lambda e: (place[e.track], e.start, -e.duration, e.ordinal))
