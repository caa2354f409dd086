"""B and E become spans, b and e asynchronous spans. Ends leave no row of their own."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from oracle.events import Event, set_duration, text_of


@dataclass
class Halves:
    """Begins that never ended, and ends of what never began."""

    begins: list[Event] = field(default_factory=list)
    ends: list[Event] = field(default_factory=list)


def join(events: list[Event], notes: Counter[str]) -> tuple[list[Event], Halves]:
    """The events that make rows, and what found no partner."""
    by_track = defaultdict[Hashable, list[Event]](list)
    by_id = defaultdict[Hashable, list[Event]](list)
    for event in events:
        if event.shape in ("begin", "end"):
            by_track[event.track].append(event)
        elif event.shape in ("async_begin", "async_end"):
            by_id[async_key(event)].append(event)
    spans = match(by_track.values(), "begin", notes)
    requests = match(by_id.values(), "async_begin", notes)
    notes["unclosed_begin"] += len(spans.begins)
    notes["end_without_begin"] += len(spans.ends)
    notes["unclosed_async"] += len(requests.begins)
    notes["async_end_without_begin"] += len(requests.ends)
    kept = [e for e in events if e.shape not in ("end", "async_end")]
    for event in kept:
        event.shape = {"begin": "span", "async_begin": "async_span"}.get(event.shape, event.shape)
    return kept, Halves(spans.begins + requests.begins, spans.ends + requests.ends)


def async_key(event: Event) -> Hashable:
    """What pairs an asynchronous begin with its end."""
    identity, process = event.entry.get("id"), event.track[0]
    scope = text_of(event.entry.get("scope"))
    if identity is None and isinstance(pair := event.entry.get("id2"), dict):
        if "global" in pair:
            process = ""
        identity = pair.get("global", pair.get("local"))
    return (process, event.category, text_of(identity), scope)


def match(groups: Iterable[list[Event]], begin: str, notes: Counter[str]) -> Halves:
    """Gives each begin the duration up to its end, innermost first; returns what is left."""
    left = Halves()
    for group in groups:
        open_now: list[Event] = []
        for event in sorted(group, key=lambda e: e.start):  # stable: file order at equal times
            if event.shape == begin:
                open_now.append(event)
            elif open_now:
                opened = open_now.pop()
                set_duration(opened, event.start - opened.start, notes)
            else:
                left.ends.append(event)
        left.begins += open_now
    return left
