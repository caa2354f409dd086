"""B and E become spans, b and e asynchronous spans. Ends leave no row of their own."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable

from oracle.events import Event, set_duration, text_of


def join(events: list[Event], notes: Counter[str]) -> tuple[list[Event], list[Event]]:
    """The events that make rows, and those of them that never ended."""
    synchronous = [e for e in events if e.shape in ("begin", "end")]
    asynchronous = [e for e in events if e.shape in ("async_begin", "async_end")]
    by_track, by_id = (
        defaultdict[Hashable, list[Event]](list),
        defaultdict[Hashable, list[Event]](list),
    )
    for event in synchronous:
        by_track[event.track].append(event)
    for event in asynchronous:
        by_id[async_key(event)].append(event)
    open_spans = match(by_track.values(), "begin", notes)
    notes["unclosed_begin"] += len(open_spans)
    notes["end_without_begin"] += notes.pop("end", 0)
    open_async = match(by_id.values(), "async_begin", notes)
    notes["unclosed_async"] += len(open_async)
    notes["async_end_without_begin"] += notes.pop("end", 0)
    kept = [e for e in events if e.shape not in ("end", "async_end")]
    for event in kept:
        event.shape = {"begin": "span", "async_begin": "async_span"}.get(event.shape, event.shape)
    return kept, open_spans + open_async


def async_key(event: Event) -> Hashable:
    """What pairs an asynchronous begin with its end."""
    identity, process = event.entry.get("id"), event.track[0]
    scope = text_of(event.entry.get("scope"))
    if identity is None and isinstance(pair := event.entry.get("id2"), dict):
        if "global" in pair:
            process = ""
        identity = pair.get("global", pair.get("local"))
    return (process, event.category, text_of(identity), scope)


def match(groups: Iterable[list[Event]], begin: str, notes: Counter[str]) -> list[Event]:
    """Gives each begin the duration up to its end, innermost first; returns the unended ones."""
    unended: list[Event] = []
    for group in groups:
        open_now: list[Event] = []
        for event in sorted(group, key=lambda e: e.start):  # stable: file order at equal times
            if event.shape == begin:
                open_now.append(event)
            elif open_now:
                opened = open_now.pop()
                set_duration(opened, event.start - opened.start, notes)
            else:
                notes["end"] += 1
        unended += open_now
    return unended
