"""What the host did and when, and time shared out by priority, as docs/metrics/steps.md says."""

import re
from collections.abc import Iterable, Sequence

from oracle.events import Event
from oracle.intervals import Interval, intersect, subtract, total, union
from oracle.work import View, is_communication_call

RANGES = ("cpu_op", "annotation")
LOADING = re.compile(
    r"enumerate\(DataLoader\)#.*\.__next__|enumerate\(DataPipe\)#.*|wait for data#.*"
    r"|(\[pl\]\[profile\]|\[_).*(dataloader_next|\.(val|test|sanity|predict)_next)",
    re.S,
)
TENSORBOARD_COMMUNICATION = re.compile(
    r"(nccl|gloo):(broadcast|reduce|all_reduce|all_gather|reduce_scatter)"
)


def host_spans(view: View) -> list[Event]:
    """Spans at plausible times; kinds tell what they are of."""
    return [e for e in view.trace.events if e.shape == "span" and "far_time" not in e.flags]


def is_loading(event: Event) -> bool:
    """A range in which the loop waits for its loader."""
    return event.kind in RANGES and bool(LOADING.fullmatch(event.name))


def is_step_mark(event: Event, view: View) -> bool:
    """ProfilerStep#N, or whatever else the steps were taken from."""
    if event.name.startswith("ProfilerStep#"):
        return True
    batch = "run_training_batch" in event.name
    return batch and any((event.start, event.end) == step.host for step in view.steps)


def times(events: Iterable[Event]) -> list[Interval]:
    """The set of time they cover."""
    return union((e.start, e.end) for e in events)


def host_roles(view: View, tensorboard: bool = False) -> dict[str, list[Interval]]:
    """Communication, runtime, dataloader and cpu_exec of one window; they overlap."""
    spans = host_spans(view)
    calls = ("runtime",) if tensorboard else ("runtime", "driver")

    def communicates(event: Event) -> bool:
        if not tensorboard:
            return is_communication_call(event)
        return event.kind in RANGES and bool(TENSORBOARD_COMMUNICATION.fullmatch(event.name))

    return {
        "communication": times(e for e in spans if communicates(e)),
        "runtime": times(e for e in spans if e.kind in calls),
        "dataloader": times(e for e in spans if is_loading(e)),
        "cpu_exec": times(e for e in spans if e.kind in RANGES and not is_step_mark(e, view)),
    }


def share_out(sets: Sequence[list[Interval]], within: Interval) -> list[int]:
    """Each moment to the first set that holds it; what none holds comes last."""
    left, parts = union([within]), []
    for one in sets:
        parts.append(total(intersect(left, one)))
        left = subtract(left, one)
    return [*parts, total(left)]
