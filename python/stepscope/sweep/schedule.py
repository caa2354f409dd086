"""Spends the budget of a sweep: trials one after the other, until the race is decided."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from stepscope import _core
from stepscope.sweep.race import Choices, NextTrial, Race, max_known
from stepscope.sweep.runner import Limits, Outcome, shared_memory
from stepscope.sweep.scores import Tried, Trouble, best_setting
from stepscope.sweep.settings import NAMES, Settings, keywords_text

_LINES_SHOWN = 6  # of the user's output
_OVER_S = 0.05  # of the budget left: it has ended
_PATIENCE = 3  # times the measuring that was asked for
# A trial that takes this many times as long to start as others, and this longer, hangs.
_SLOW_START, _SLOW_START_S = 5, 5


class TrialRunner(Protocol):
    """What starts trials."""

    memory_limit: int
    stopped_by: int

    def run(
        self, given: Settings, keywords: list[str] | None, trial: NextTrial, limits: Limits
    ) -> Outcome:
        """One of them."""
        ...

    def last_lines(self, most: int) -> list[str]:
        """Of what the user's code printed."""
        ...


@dataclass
class Scene:
    """Where a sweep was done, as far as that is known."""

    cpus: int | None = None  # of the job
    memory_limit: int | None = None  # of a trial
    shared_limit: int | None = None  # of /dev/shm, free when it began
    not_tried: int = 0  # combinations, for any reason
    out_of_time: int = 0  # of them, those that the race did not come to
    was_stopped: bool = False  # by the user, not by the end of the budget
    was_given_up: bool = False  # the target fails whatever the setting
    sentences: list[str] = field(default_factory=list)


@dataclass
class Swept:
    """What was tried and where."""

    tried: list[Tried] = field(default_factory=list)
    scene: Scene = field(default_factory=Scene)
    facts: list[tuple[str, str]] = field(default_factory=list)
    failure: str = ""  # why nothing could be measured: a sentence
    last_lines: list[str] = field(default_factory=list)  # of what the user's code printed then


@dataclass(frozen=True)
class Plan:
    """What a sweep is asked for."""

    target: str
    choices: Choices
    budget_s: float
    cpus: int
    job: str = ""


def usual_workers(cpus: int) -> list[int]:
    """0, 1, 2, 4, … up to the CPUs of the job."""
    return [0, *(2**i for i in range(cpus.bit_length()) if 2**i < cpus), cpus]


def seconds_text(seconds: float) -> str:
    """As the pages have it."""
    return _core.duration_text(round(seconds * 1e9))


class Schedule:
    """Of one sweep."""

    def __init__(
        self,
        plan: Plan,
        runner: TrialRunner,
        clock: Callable[[], float] = time.monotonic,
        show: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._plan, self._runner, self._clock, self._show = plan, runner, clock, show
        self._began = clock()
        self._choices = dict(plan.choices) or {"num_workers": usual_workers(plan.cpus)}
        self._race = Race(self._choices)
        self._keywords: list[str] | None = None  # that the target takes; None: not known yet
        self._import_s = 0.0  # of the first trial
        self._starts: list[float] = []  # of trials that ended well
        self._trials = 0
        self._has_batch = False
        self._last_trouble = "none"
        shared = shared_memory()
        self._out = Swept(
            scene=Scene(plan.cpus, runner.memory_limit, shared[1] if shared else None)
        )

    def run(self) -> Swept:
        """To the end of the race, of the budget, or of the user's patience."""
        while not self._runner.stopped_by:
            trial = self._race.next(self._left(), self._start_s())
            if trial is None or not self._try_one(trial):
                break
        self._conclude()
        self._describe()
        return self._out

    def _spent(self) -> float:
        return self._clock() - self._began

    def _left(self) -> float:
        return max(0.0, self._plan.budget_s - self._spent())

    def _start_s(self) -> float:
        """What a trial takes beside measuring: the mean of those that were, as times vary."""
        return sum(self._starts) / len(self._starts) if self._starts else self._import_s

    def _try_one(self, trial: NextTrial) -> bool:
        """False: there is no point in going on."""
        self._trials += 1
        given = self._race.last.given
        left = seconds_text(math.ceil(self._left()))
        self._show(f"trial {self._trials}: {keywords_text(given)} ({left} left)")
        outcome = self._runner.run(given, self._keywords, trial, self._limits(trial))
        if self._keywords is None:
            if outcome.import_s is None:
                if not self._runner.stopped_by:
                    self._fail(outcome)
                return False
            self._import_s = outcome.import_s
            self._learn_keywords(outcome.keywords)
        tried = self._race.last
        tried.actual, tried.job = outcome.actual, self._plan.job
        tried.peak_bytes = max_known(tried.peak_bytes, outcome.peak_bytes or None)
        tried.shared_bytes = max_known(tried.shared_bytes, outcome.shared_bytes)
        self._learn_start(outcome)
        self._has_batch |= bool(outcome.trial.firsts)
        self._race.take(outcome.trial)
        # The end of the budget is no failure of the setting; what was measured until then counts.
        if outcome.was_cut and (self._left() < _OVER_S or self._runner.stopped_by):
            if not outcome.trial.blocks and outcome.was_silent and not self._has_batch:
                self._race.take_trouble(Trouble.FAILED, outcome.why)
            return False
        if outcome.trouble is None:
            return True
        self._race.take_trouble(outcome.trouble, outcome.why)
        is_same = without_digits(outcome.why) == without_digits(self._last_trouble)
        if outcome.is_wrong or (not self._has_batch and is_same):
            self._fail(outcome)
            return False
        self._last_trouble = outcome.why
        return True

    def _limits(self, trial: NextTrial) -> Limits:
        left, measuring = self._left(), _PATIENCE * trial.seconds
        if self._keywords is None:  # how long importing takes is not known
            return Limits(left, self._plan.budget_s / 3, measuring)
        start = self._plan.budget_s / 3
        if self._has_batch:
            start = _SLOW_START * self._start_s() + _SLOW_START_S
        usual = min(left, start + measuring)
        return Limits(usual, usual, usual)

    def _learn_keywords(self, keywords: list[str]) -> None:
        """The first trial says what the target takes.

        A process that only looked would cost as much as a trial, which is mostly importing.
        """
        self._keywords = keywords
        unknown = [name for name in NAMES if self._choices.get(name) and name not in keywords]
        if not unknown:
            return
        for name in unknown:
            del self._choices[name]
            self._out.scene.sentences.append(
                f"{self._plan.target} takes no keyword {name}: {name} was not varied."
            )
        # Begun anew with fewer settings, whose first one is what was tried.
        self._race = Race(self._choices)
        self._race.next(self._plan.budget_s, 0)

    def _learn_start(self, outcome: Outcome) -> None:
        if outcome.trouble is None:
            measured = sum(b.loading_ns + b.training_ns for b in outcome.trial.blocks) / 1e9
            self._starts.append(outcome.wall_s - measured)

    def _fail(self, outcome: Outcome) -> None:
        out = self._out
        of_target = outcome.is_wrong and outcome.why.startswith("returned ")
        out.failure = f"{self._plan.target} {outcome.why}" if of_target else outcome.why
        if outcome.was_cut:
            out.failure += ": it hangs, or give more with --budget"
        if not outcome.is_wrong:
            out.last_lines = self._runner.last_lines(_LINES_SHOWN)

    def _conclude(self) -> None:
        out, race = self._out, self._race
        out.tried = race.tried
        out.scene.not_tried, out.scene.out_of_time = race.not_tried(), race.out_of_time()
        out.scene.was_stopped = bool(self._runner.stopped_by)
        if out.failure:
            out.scene.was_given_up = not out.scene.was_stopped
            if self._keywords is None:  # it could not be imported: there is nothing to show
                out.tried = []
        elif best_setting(out.tried) is None:
            self._say_nothing_was_measured()
        elif out.scene.was_stopped and not race.is_decided:
            out.scene.sentences.append(
                "Stopped before the race was decided: this is what was known."
            )
        elif not race.is_decided:
            out.scene.sentences.append(
                "The budget ended before the race was decided; a longer one (--budget) makes the "
                "answer surer."
            )

    def _say_nothing_was_measured(self) -> None:
        out = self._out
        for one in out.tried:
            if one.trouble is not None:
                out.failure = f"no setting could be measured: {one.why}"
                out.last_lines = self._runner.last_lines(_LINES_SHOWN)
                return
        out.failure = (
            f"the budget of {seconds_text(self._plan.budget_s)} ended before a setting could be "
            f"measured: starting a trial takes {seconds_text(self._start_s())}; give more with "
            "--budget"
        )
        out.tried = []

    def _describe(self) -> None:
        scene, spent, budget = self._out.scene, self._spent(), self._plan.budget_s
        job = (
            f"{counted(self._plan.cpus, 'CPU')}; "
            f"{_core.bytes_text(self._runner.memory_limit)} of memory for a trial"
        )
        if scene.shared_limit is not None:
            job += f"; {_core.bytes_text(scene.shared_limit)} of /dev/shm"
        of = "for a budget of" if spent > budget else "of"
        took = f"{seconds_text(spent)} {of} {seconds_text(budget)}"
        took += f", in {counted(self._trials, 'trial')}"
        if spent > budget:
            took += "; ending the last took the rest"
        self._out.facts = [("Target", self._plan.target), ("Job", job), ("Spent", took)]


def counted(count: int, what: str) -> str:
    """`1 trial`, `2 trials`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def without_digits(text: str) -> str:
    """The same for every process, worker or number of bytes."""
    return "".join(c for c in text if not c.isdigit())
