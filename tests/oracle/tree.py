"""Who called whom: the parent of every span of a host thread."""

from collections import Counter, defaultdict

from oracle.events import ON_DEVICE, Event, Track

NOT_CALLS = {"overhead", "profiler"}
CLOCK_NOISE = 1000


def set_parents(rows: list[Event], notes: Counter[str]) -> None:
    """Sets the parents. rows are in row order."""
    streams = {e.track for e in rows if e.kind in ON_DEVICE}
    threads = defaultdict[Track, list[Event]](list)
    for event in rows:
        if event.shape == "span" and event.kind not in NOT_CALLS and event.track not in streams:
            threads[event.track].append(event)
    for spans in threads.values():
        open_now: list[Event] = []
        python: dict[int, Event] = {}
        for span in spans:
            place(span, open_now, notes)
            follow_python_ids(span, python)
            if span.parent is not None and span.end > span.parent.end:
                span.flags.add("outlives_parent")
                notes["callee_outlives_caller"] += 1
            open_now.append(span)


def place(span: Event, open_now: list[Event], notes: Counter[str]) -> None:
    """Finds the parent by time, closing what ended before or what overlaps without nesting."""
    while open_now:
        top = open_now[-1]
        if top.end <= span.start:
            open_now.pop()
        elif span.end <= top.end + CLOCK_NOISE:
            span.parent = top
            break
        else:
            notes["overlapping_spans"] += 1
            open_now.pop()


def follow_python_ids(span: Event, python: dict[int, Event]) -> None:
    """Where the file says which Python call called this one, that holds."""
    own = python_id(span)
    if own is None:
        return
    said = span.id("Python parent id")
    if said is not None and said >= 0 and said in python:
        above = span.parent
        while above is not None and python_id(above) is None:
            above = above.parent
        if above is None or python_id(above) != said:
            span.parent = python[said]
    python[own] = span


def python_id(span: Event) -> int | None:
    """The number of a Python call."""
    return span.id("Python id") if span.kind == "python" else None
