"""The time in which each span of a host thread is the innermost one (docs/metrics/stacks.md).

own = own_times(trace)
own[event]  # nanoseconds
"""

from collections import defaultdict

from oracle.events import ON_DEVICE, Event
from oracle.trace import Trace
from oracle.tree import NOT_CALLS


def is_span(event: Event) -> bool:
    """Whether it can call or be called."""
    return event.shape == "span" and event.kind not in NOT_CALLS and "far_time" not in event.flags


def caller(event: Event | None) -> Event | None:
    """The nearest span around an event."""
    above = event.parent if event else None
    while above is not None and not is_span(above):
        above = above.parent
    return above


def own_times(trace: Trace, within: list[tuple[int, int]] | None = None) -> dict[Event, int]:
    """Of every span on a host thread; only time inside of `within` counts."""
    streams = {e.track for e in trace.events if e.kind in ON_DEVICE}
    threads = defaultdict[object, list[Event]](list)
    for event in trace.events:
        if is_span(event) and event.track not in streams:
            threads[event.track].append(event)
    own: dict[Event, int] = {}
    for spans in threads.values():
        own.update(dict.fromkeys(spans, 0))
        starts = dict[int, list[Event]]()
        for span in spans:
            starts.setdefault(span.start, []).append(span)
        times = sorted({time for span in spans for time in (span.start, span.end)})
        open_spans: list[Event] = []
        for start, end in zip(times, times[1:], strict=False):
            open_spans = [s for s in open_spans + starts.get(start, []) if s.end > start]
            if open_spans:
                own[open_spans[-1]] += length((start, end), within)
    return own


def length(piece: tuple[int, int], within: list[tuple[int, int]] | None) -> int:
    """How much of a piece of time counts."""
    start, end = piece
    if within is None:
        return end - start
    return sum(max(0, min(end, e) - max(start, s)) for s, e in within)
