"""Launch to device work, operator to launch, forward to backward."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from oracle import values
from oracle.events import API_CALLS, DEVICE_WORK, ON_DEVICE, Event, Track, text_of

FORWARD_BACKWARD = {"fwdbwd", "forward_backward"}


def external_id(event: Event) -> int | None:
    """Today's spelling or that of 2021."""
    return event.id("External id", "external id")


def is_launch(event: Event) -> bool:
    """A call that device work can name."""
    return event.kind in API_CALLS and event.id("correlation") is not None


def latest_before(candidates: Iterable[Event], event: Event) -> Event | None:
    """The last of these, given in order of start, that starts at or before the event."""
    found = None
    for candidate in candidates:
        if candidate.start <= event.start:
            found = candidate
    return found


def set_launches(rows: list[Event], notes: Counter[str]) -> None:
    """Joins device events with the calls of the same correlation. rows are in row order."""
    calls = defaultdict[int, list[Event]](list)
    for event in sorted(rows, key=lambda e: e.start):
        correlation = event.id("correlation")
        if is_launch(event) and correlation not in (None, 0):
            calls[correlation].append(event)
    for event in rows:
        correlation = event.id("correlation")
        if event.kind not in ON_DEVICE:
            continue
        found = calls.get(correlation or 0, [])
        if not found:
            notes["without_launch"] += event.kind in DEVICE_WORK
            continue
        notes["shared_correlation"] += len(found) > 1
        event.launch = latest_before(found, event) or found[0]
        if event.kind in DEVICE_WORK:
            event.launch.work.append(event)
            notes["before_its_launch"] += event.launch.start > event.start


def set_ops(rows: list[Event]) -> None:
    """Finds the operator, else the annotation, that made each call."""
    by_external = defaultdict[int, list[Event]](list)
    for event in sorted(rows, key=lambda e: e.start):
        if event.kind in ("cpu_op", "annotation") and (number := external_id(event)):
            by_external[number].append(event)
    for event in filter(is_launch, rows):
        event.op = enclosing(event, "cpu_op") or enclosing(event, "annotation")
        if event.op is None and (number := external_id(event)):
            event.op = latest_before(by_external.get(number, []), event)


def enclosing(event: Event, kind: str) -> Event | None:
    """The nearest ancestor of a kind."""
    above = event.parent
    while above is not None and above.kind != kind:
        above = above.parent
    return above


def flow_id(flow: Event) -> int:
    """The number that ties an arrow's ends; of a name its 64-bit FNV-1a hash."""
    given = flow.entry.get("id")
    number = values.integer(given)
    if number is not None:
        return number % 2**64
    number = 0xCBF29CE484222325
    for byte in text_of(given).encode():
        number = (number ^ byte) * 0x100000001B3 % 2**64
    return number


def set_forward(rows: list[Event], flows: list[Event]) -> None:
    """Finds the forward operator of each backward one: by arrow, else by sequence number."""
    ops = [e for e in rows if e.kind == "cpu_op"]
    starting = defaultdict[tuple[Track, int], list[Event]](list)
    for op in ops:
        starting[op.track, op.start].append(op)  # in row order: the last is the innermost
    tails = defaultdict[int, list[Event]](list)
    arrows = [f for f in flows if f.category in FORWARD_BACKWARD]
    for flow in arrows:
        if flow.phase == "s":
            tails[flow_id(flow)].append(flow)
    for begun in tails.values():
        begun.sort(key=lambda flow: flow.start)
    for flow in arrows:
        begun = tails.get(flow_id(flow), [])
        if flow.phase != "f" or not begun:
            continue
        tail = latest_before(begun, flow) or begun[0]
        heads = starting.get((flow.track, flow.start))
        origins = starting.get((tail.track, tail.start))
        if heads and origins and heads[-1] is not origins[-1]:
            heads[-1].forward = origins[-1]
    by_sequence(ops)


def by_sequence(ops: list[Event]) -> None:
    """Links backward operators that no arrow reaches."""
    forward = defaultdict[int, list[Event]](list)
    for op in sorted(ops, key=lambda e: e.start):
        number = op.id("Sequence number")
        if number is not None and number >= 0 and not (op.id("Fwd thread id") or 0) > 0:
            forward[number].append(op)
    for op in ops:
        number = op.id("Sequence number")
        if op.forward is None and number is not None and (op.id("Fwd thread id") or 0) > 0:
            earlier = [f for f in forward.get(number, []) if f.start < op.start]
            op.forward = earlier[-1] if earlier else None
