"""Which times belong together, how long the window lasts, and the order of its rows."""

from collections import Counter
from collections.abc import Iterable

from oracle.events import DAY, Event, Track
from oracle.pairs import Halves


def span_of(events: list[Event], halves: Halves, notes: Counter[str]) -> tuple[int, int]:
    """Flags times far from the rest, ends what never ended; returns the window's span."""
    if not events:
        return 0, 0
    starts = sorted(e.start for e in events)
    median = starts[len(starts) // 2]
    for event in events:
        if is_far(event, median):
            event.flags.add("far_time")
            notes["far_from_the_rest"] += 1
    near = [e for e in events if "far_time" not in e.flags]
    last_seen = max(e.end for e in near + [e for e in halves.ends if not is_far(e, median)])
    for event in halves.begins:
        event.flags.add("unclosed")
        event.duration = max(0, last_seen - event.start)
    return min(e.start for e in near), max(e.end for e in near)


def is_far(event: Event, median: int) -> bool:
    """More than a day away?"""
    return abs(event.start - median) > DAY


def row_order(tracks: Iterable[Track], events: list[Event]) -> list[Event]:
    """All rows: by track in order of appearance, then start, the longer first, then file order."""
    place = {track: i for i, track in enumerate(tracks)}
    return sorted(events, key=lambda e: (place[e.track], e.start, -e.duration, e.ordinal))
