"""Costs of operator calls, as docs/metrics/operators.md defines them, by looking at every pair.

calls = calls_of(view)
sum(call.device_self for call in calls)
"""

from collections import defaultdict
from dataclasses import dataclass, field

from oracle.events import API_CALLS, Event
from oracle.intervals import total, union
from oracle.links import external_id
from oracle.values import integer
from oracle.work import View, Work


@dataclass(eq=False)
class Call:
    """One call of an operator."""

    event: Event
    parent: "Call | None" = None
    children: "list[Call]" = field(default_factory=list)
    api: list[Event] = field(default_factory=list)
    work: list[Work] = field(default_factory=list)
    own_bytes: list[int] = field(default_factory=lambda: [0, 0])  # host, device

    def covered(self, events: list[Event]) -> int:
        """How much of it these take."""
        start, end = self.event.start, self.event.end
        inside = [(max(e.start, start), min(e.end, end)) for e in events]
        return total(union(i for i in inside if i[0] < i[1]))

    @property
    def host_self(self) -> int:
        """Without the operators it called."""
        return self.event.duration - self.covered([c.event for c in self.children])

    @property
    def runtime(self) -> int:
        """In its own calls into the runtime and driver."""
        return min(self.covered(self.api), self.host_self)

    @property
    def device_self(self) -> int:
        """Lengths of its own work."""
        return sum(w.length for w in self.work)

    @property
    def below(self) -> "list[Call]":
        """It and all under it."""
        return [self, *(deeper for child in self.children for deeper in child.below)]

    @property
    def device_total(self) -> int:
        """Lengths of the work of all under it."""
        return sum(call.device_self for call in self.below)

    def bytes(self, device: int) -> int:
        """Net bytes of all under it."""
        return sum(call.own_bytes[device] for call in self.below)

    def above(self) -> "list[Call]":
        """All around it, the innermost first."""
        return [] if self.parent is None else [self.parent, *self.parent.above()]


def is_operator(event: Event) -> bool:
    """An operator that takes part."""
    return event.kind == "cpu_op" and event.shape == "span" and "far_time" not in event.flags


def nearest(event: Event, calls: dict[int, Call]) -> Call | None:
    """The operator around an event."""
    above = event.parent
    while above is not None and id(above) not in calls:
        above = above.parent
    return None if above is None else calls[id(above)]


def calls_of(view: View) -> tuple[list[Call], list[Work], list[int]]:
    """All calls; the work of no operator; net bytes of no operator."""
    events = view.trace.events
    calls = {id(e): Call(e) for e in events if is_operator(e)}
    for call in calls.values():
        call.parent = nearest(call.event, calls)
        if call.parent is not None:
            call.parent.children.append(call)
    for event in events:
        if event.kind in API_CALLS and event.parent and event.parent.kind not in API_CALLS:
            owner = nearest(event, calls)
            if owner is not None:
                owner.api.append(event)
    by_id = defaultdict[int, list[Call]](list)
    for call in sorted(calls.values(), key=lambda c: c.event.start):
        if number := external_id(call.event):
            by_id[number].append(call)
    outside: list[Work] = []
    for work in view.work:
        owner = owner_of(work, calls, by_id)
        (outside if owner is None else owner.work).append(work)
    return list(calls.values()), outside, add_memory(events, list(calls.values()))


def owner_of(work: Work, calls: dict[int, Call], by_id: dict[int, list[Call]]) -> Call | None:
    """The operator of its launch, else the one with its id."""
    launch = work.event.launch
    if launch is not None:
        return None if launch.op is None else calls.get(id(launch.op))
    begun = [
        c for c in by_id.get(external_id(work.event) or 0, []) if c.event.start <= work.event.start
    ]
    return begun[-1] if begun else None


def add_memory(events: list[Event], calls: list[Call]) -> list[int]:
    """Gives each mark to the latest call of its thread that holds it; returns what is left."""
    by_event = {id(call.event): call for call in calls}
    begun = defaultdict[tuple[str, str], list[Call]](list)
    left = [0, 0]
    for event in events:
        if id(event) in by_event:
            begun[event.track].append(by_event[id(event)])
        if event.kind != "memory" or "far_time" in event.flags:
            continue
        size, device = integer(event.args.get("Bytes")), integer(event.args.get("Device Type"))
        latest_first = reversed(begun[event.track])
        holding = next((c for c in latest_first if event.start <= c.event.end), None)
        (holding.own_bytes if holding else left)[0 if device == 0 else 1] += size or 0
    return left
