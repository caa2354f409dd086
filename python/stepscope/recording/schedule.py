"""Which steps of a training are recorded in detail. Pure: nothing here looks at clocks or torch.

>>> two = schedule(wait=1, warmup=1, active=2, repeat=2)
>>> [str(two.phase(Position(step, step, 0)).action) for step in range(9)]
['wait', 'warm up', 'record', 'record', 'wait', 'warm up', 'record', 'record', 'wait']
"""

from __future__ import annotations

import enum
from collections.abc import Collection
from dataclasses import dataclass

from stepscope.errors import UsageError


class Action(enum.Enum):
    """What is done during one step."""

    WAIT = "wait"
    WARM_UP = "warm up"  # profiled and thrown away: the first profiled step is slower than others
    RECORD = "record"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Position:
    """Where a step stands.

    Attributes:
        step: steps since the recording began, from 0.
        batch: batches that came since the epoch began, from 0; steps where batches are not counted.
        epoch: the number of the epoch; the first one where epochs are not counted.
        batches: how many this step will take: as many as the last one, which is more than one
            where gradients are accumulated.
        steps: since the epoch began, from 0; None: as many as batches.
    """

    step: int
    batch: int
    epoch: int
    batches: int = 1
    steps: int | None = None


@dataclass(frozen=True)
class Phase:
    """What is done during a step, and for which window: two windows may follow each other."""

    action: Action
    window: tuple[int, int] | None = None  # the epoch (0 without epochs) and the turn


_WAIT = Phase(Action.WAIT)


@dataclass(frozen=True)
class Schedule:
    """Turns of `wait`, `warmup` and `active` steps; made by `schedule()`."""

    wait: int
    warmup: int
    active: int | None  # None: to the end of the epoch
    repeat: int  # 0: again and again
    skip_first: int
    epochs: frozenset[int] | None
    by_epoch: bool  # counts from the beginning of each epoch
    by_batch: bool = False  # its numbers are of batches, not of steps

    @property
    def steps_needed(self) -> int:
        """Steps until the first window is complete, from where counting begins."""
        return self.skip_first + self.wait + self.warmup + (self.active or 1)

    def phase(self, at: Position) -> Phase:
        """What is done during the step at this position."""
        if self.epochs is not None and at.epoch not in self.epochs:
            return _WAIT
        if self.by_batch:
            return self._phase_of_batches(at)
        of_epoch = at.batch if at.steps is None else at.steps
        counted = (of_epoch if self.by_epoch else at.step) - self.skip_first
        if counted < 0:
            return _WAIT
        if self.active is None:
            turn, place = 0, counted
        else:
            turn, place = divmod(counted, self.wait + self.warmup + self.active)
            if self.repeat and turn >= self.repeat:
                return _WAIT
        if place < self.wait:
            return _WAIT
        action = Action.WARM_UP if place < self.wait + self.warmup else Action.RECORD
        return Phase(action, (at.epoch if self.by_epoch else 0, turn))

    def _phase_of_batches(self, at: Position) -> Phase:
        """Every step that takes one of the batches is recorded."""
        first = self.wait + self.warmup
        stop = first + (self.active or 1)
        window = (at.epoch, 0)
        if at.batch < stop and at.batch + at.batches > first:
            return Phase(Action.RECORD, window)
        if at.batch < first and (first - at.batch) // max(1, at.batches) <= self.warmup:
            return Phase(Action.WARM_UP, window)
        return _WAIT

    def __str__(self) -> str:
        """In words, for messages: "5 steps after 2 others, in epochs 1, 3"."""
        if self.by_batch and self.active is not None:
            return self._batches_text(self.wait + self.warmup, self.active)
        first = self.skip_first + self.wait + self.warmup
        what = "all steps" if self.active is None else counted(self.active)
        after = f" after {counted(first)}" if first else ""
        if self.active is not None and self.repeat != 1:
            after += f", {self.repeat} times" if self.repeat else ", again and again"
        if self.epochs is not None:
            numbers = ", ".join(map(str, sorted(self.epochs)))
            return f"{what}{after} of epoch{'s' if len(self.epochs) > 1 else ''} {numbers}"
        return f"{what}{after} of every epoch" if self.by_epoch else f"{what}{after}"

    def _batches_text(self, first: int, count: int) -> str:
        what = f"batch {first}" if count == 1 else f"batches {first} to {first + count - 1}"
        if self.epochs is None:
            return f"{what} of every epoch"
        numbers = ", ".join(map(str, sorted(self.epochs)))
        return f"{what} of epoch{'s' if len(self.epochs) > 1 else ''} {numbers}"


def schedule(
    wait: int = 0,
    warmup: int | None = None,
    active: int | None = None,
    repeat: int = 1,
    skip_first: int = 0,
    *,
    epochs: int | Collection[int] | None = None,
    batches: tuple[int, int] | range | None = None,
) -> Schedule:
    """Which steps are recorded in detail, in the words of torch.profiler.

    Args:
        wait: steps of each turn that are left alone.
        warmup: steps that are profiled and thrown away; when left out 1, and 0 for whole epochs.
        active: steps that are recorded; when left out 3, or the whole epoch with `epochs`.
        repeat: turns; 0 for again and again. (torch's default is 0; here it is one turn.)
        skip_first: steps before the first turn.
        epochs: only in these epochs, by number; counting begins anew in each. Needs `epoch()`.
        batches: only these batches of an epoch, `(first, stop)` as in `range(first, stop)`: every
            step that takes one of them, also where gradients of several batches are accumulated.
            Takes the place of `wait`, `active`, `skip_first` and `repeat`.

    Example:
        >>> print(schedule(wait=10, warmup=2, active=5))
        5 steps after 12 steps
        >>> print(schedule(epochs=[1, 3], batches=(20, 25)))
        batches 20 to 24 of epochs 1, 3
        >>> schedule(active=0)
        Traceback (most recent call last):
        stepscope.errors.UsageError: schedule: active is 0, but at least 1 step must be recorded
    """
    chosen = _epochs(epochs)
    if warmup is None:
        is_whole = chosen is not None and batches is None and active is None
        warmup = 0 if is_whole and not wait and not skip_first else 1
    given = {"wait": wait, "warmup": warmup, "repeat": repeat, "skip_first": skip_first}
    for name, value in given.items():
        _whole_number(name, value, 0)
    if active is not None:
        _whole_number("active", active, 1)
    if batches is not None:
        if wait or skip_first or active is not None or repeat != 1:
            raise UsageError(
                "schedule: batches takes the place of wait, active, skip_first, repeat"
            )
        first, stop = _batches(batches)
        warmup = min(warmup, first)  # an epoch has no steps before its first
        return Schedule(first - warmup, warmup, stop - first, 1, 0, chosen, True, True)
    if active is None and chosen is None:
        active = 3
    return Schedule(wait, warmup, active, repeat, skip_first, chosen, chosen is not None)


def _whole_number(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(f"schedule: {name} is a number of steps, not {value!r}")
    if value < least:
        much = "but at least 1 step must be recorded" if least else "which is negative"
        raise UsageError(f"schedule: {name} is {value}, {much}")


def _epochs(epochs: int | Collection[int] | None) -> frozenset[int] | None:
    if epochs is None:
        return None
    try:
        chosen = frozenset([epochs] if isinstance(epochs, int) else epochs)
    except TypeError:
        raise UsageError(f"schedule: epochs are numbers, not {epochs!r}") from None
    if not chosen:
        raise UsageError("schedule: epochs is empty, so nothing would be recorded")
    for epoch in chosen:
        if not isinstance(epoch, int) or isinstance(epoch, bool) or epoch < 0:
            raise UsageError(f"schedule: {epoch!r} is no epoch; they are counted from 0")
    return chosen


def _batches(batches: tuple[int, int] | range) -> tuple[int, int]:
    if isinstance(batches, range):
        first, stop, stride = batches.start, batches.stop, batches.step
    else:
        try:
            first, stop = batches
        except (TypeError, ValueError):
            raise UsageError(f"schedule: batches is (first, stop), not {batches!r}") from None
        stride = 1
    for value in (first, stop):
        _whole_number("batches", value, 0)
    if stop <= first or stride != 1:
        raise UsageError(f"schedule: batches {first} to {stop} hold none that follow each other")
    return first, stop


def counted(count: int, what: str = "step") -> str:
    """Steps in words."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
