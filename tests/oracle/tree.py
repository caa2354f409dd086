"""What called what: the parent of every span of a host thread."""

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
        order = {span: i for i, span in enumerate(spans)}
        for span in spans:
            place(span, open_now, notes)
            follow_python_ids(span, open_now, python, order)
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


def follow_python_ids(
    span: Event, open_now: list[Event], python: dict[int, Event], order: dict[Event, int]
) -> None:
    """Where times leave it open which Python frame called this one, the file's ids say it."""
    own = python_id(span)
    if own is None:
        return
    said = span.id("Python parent id")
    named = python.get(said) if said is not None and said >= 0 else None
    python[own] = span
    above = span.parent
    while above is not None and python_id(above) is None:
        above = above.parent
    if named is None or (above is not None and python_id(above) == said):
        return
    if not (named.start <= span.start < named.end and span.end <= named.end + CLOCK_NOISE):
        return  # The named frame was not running.
    later = [e for e in open_now if order[e] > order[named]]
    callers = [e for e in later if python_id(e) is None or surely_holds(e, span, named)]
    span.parent = callers[-1] if callers else named


def surely_holds(frame: Event, span: Event, named: Event) -> bool:
    """Whether a frame lies around a span, without being its twin or overlapping the named one."""
    twin = (frame.start, frame.end) == (span.start, span.end)
    return not twin and span.end <= frame.end <= named.end + CLOCK_NOISE


def python_id(span: Event) -> int | None:
    """The number of a Python call."""
    return span.id("Python id") if span.kind == "python" else None
