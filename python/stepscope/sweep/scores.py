"""What trials measured, and what that says.

How long a step takes with each setting, how well that is known, and how likely another setting is
the faster one. Definitions: docs/cli/sweep.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import NamedTuple

from stepscope import _core
from stepscope.sweep.settings import Settings, demand

WORTH_CHANGING = 0.02  # a smaller difference is none
SURE = 0.95  # with less confidence no setting is called the best
_ALIKE = 0.05  # of the time: further apart, the faster one is named
_UNSURE = 0.025  # a chance above this is one
_USUAL = 0.010**2  # variance between runs of one program, of the square of the mean step
_ASSUMED_FREEDOM = 2  # what is assumed counts as much as two trials
_CONFIDENCE_PARTS = 10_000


class Block(NamedTuple):
    """Steps that follow each other, as many as there are workers: batches come in bursts."""

    steps: int
    loading_ns: int
    training_ns: int
    samples: int | None = None  # None: not known


@dataclass(eq=False)
class Trial:
    """One process that walked over one loader."""

    blocks: list[Block] = field(default_factory=list)
    firsts: list[Block] = field(default_factory=list)  # the first step of each pass
    length: int | None = None  # batches of a pass
    storage_bytes: int | None = None
    trains: bool = False  # there was something to do with the batches


class Trouble(Enum):
    """Why a setting is no choice."""

    FAILED = "raised, crashed or hung"
    MEMORY = "stopped before it took all memory"
    SKIPPED = "a less demanding setting had no memory"
    SAME = "its loader is that of another setting, which has its trials"


@dataclass
class Tried:
    """A setting and what its trials measured."""

    given: Settings = field(default_factory=dict)  # what the target was asked for
    actual: Settings = field(default_factory=dict)  # what the loader says it has
    trials: list[Trial] = field(default_factory=list)
    trouble: Trouble | None = None
    why: str = ""  # of the trouble: a sentence
    peak_bytes: int | None = None
    shared_bytes: int | None = None
    job: str = ""
    job_cpus: float | None = None  # of a rank of that job, which may differ from job to job

    @property
    def settings(self) -> Settings:
        """As the loader has them, and as given where it does not say."""
        return {**self.given, **self.actual}

    @property
    def workers(self) -> int:
        """That make batches."""
        return self.settings.get("num_workers", 0)

    @property
    def is_measured(self) -> bool:
        """Whether any step was."""
        return any(trial.blocks for trial in self.trials)


def counts_samples(tried: Iterable[Tried]) -> bool:
    """Whether settings are compared by the sample: those of every measured block are known."""
    return all(block.samples for one in tried for trial in one.trials for block in trial.blocks)


class Run(NamedTuple):
    """One trial as a run to be compared."""

    value: float  # nanoseconds per sample or per step
    variance: float
    blocks: int
    steps: int
    samples: int
    loading_ns: float  # with the beginning of passes shared out
    training_ns: float
    start_ns: float  # of a pass


@cache
def _run_of(trial: Trial, by_sample: bool, persistent: bool) -> Run:
    lengths = [(b.loading_ns + b.training_ns) / b.steps for b in trial.blocks]
    blocks = trial.blocks[_core.warmup_steps(lengths) :]
    steps = sum(block.steps for block in blocks)
    samples = sum(block.samples or 0 for block in blocks)
    loading = sum(block.loading_ns for block in blocks)
    start = _start_of(trial, persistent)
    extra = max(0.0, start - loading / steps) / trial.length if trial.length else 0.0
    per_part = extra * steps / (samples if by_sample else steps)
    value, variance = _core.mean_estimate(
        [
            (b.loading_ns + b.training_ns) / ((b.samples or 1) if by_sample else b.steps) + per_part
            for b in blocks
        ]
    )
    training = sum(block.training_ns for block in blocks)
    all_loading = loading + extra * steps
    return Run(value, variance, len(blocks), steps, samples, all_loading, training, start)


def _start_of(trial: Trial, persistent: bool) -> float:
    """How long a pass takes to begin.

    Workers that persist are started once, and what a later pass takes says it best.
    """
    later = trial.firsts[1:]
    if later:
        return sum(first.loading_ns for first in later) / len(later)
    return 0 if persistent or not trial.firsts else trial.firsts[0].loading_ns


@dataclass
class Score:
    """What one setting is like."""

    runs: list[Run]
    per_ns: float  # per sample or per step, the mean of the runs
    loading_ns: float  # per step; so training_ns
    training_ns: float
    start_ns: float
    steps: int
    samples_per_second: float | None
    trains: bool


def score_of(tried: Tried, by_sample: bool) -> Score | None:
    """None where nothing was measured."""
    persistent = bool(tried.settings.get("persistent_workers", 0))
    trials = [trial for trial in tried.trials if trial.blocks]
    if not trials:
        return None
    runs = [_run_of(trial, by_sample, persistent) for trial in trials]
    steps, samples = sum(run.steps for run in runs), sum(run.samples for run in runs)
    loading, training = sum(run.loading_ns for run in runs), sum(run.training_ns for run in runs)
    return Score(
        runs=runs,
        per_ns=sum(run.value for run in runs) / len(runs),
        loading_ns=loading / steps,
        training_ns=training / steps,
        start_ns=sum(run.start_ns for run in runs) / len(runs),
        steps=steps,
        samples_per_second=1e9 * samples / (loading + training) if samples else None,
        trains=any(trial.trains for trial in trials),
    )


class Spread(NamedTuple):
    """How much trials of one setting differ though nothing was changed."""

    variance: float = 0  # of the square of the time
    freedom: float = 0  # trials beyond the first of each setting; 0: nothing is known


def trial_spread(scores: Iterable[Score | None]) -> Spread:
    """What settings that were tried again show, all of them together."""
    again = [score for score in scores if score is not None and len(score.runs) > 1]
    freedom = sum(len(score.runs) - 1 for score in again)
    if not freedom:
        return Spread()
    squares = sum((run.value / score.per_ns - 1) ** 2 for score in again for run in score.runs)
    # Two that happen to agree prove little: what is usual counts as two more.
    return Spread((squares + _ASSUMED_FREEDOM * _USUAL) / freedom, freedom)


def chance_of_faster(
    one: Score, other: Score, margin: float, spread: Spread | None = None
) -> float:
    """How likely `other` takes less than (1 − margin) of the time of `one`; 0.5: not known."""
    spread = spread or Spread()
    variance = 0.0  # of the ratio's logarithm: times vary by a share of themselves
    doubt = 0.0  # of that variance, as Welch adds it up
    for score in (one, other):
        trials, blocks = len(score.runs), sum(run.blocks for run in score.runs)
        if trials < 2 and blocks < 2:
            return 0.5
        within = sum(run.variance for run in score.runs) / score.per_ns**2 / trials
        variance += max(within + _USUAL, spread.variance) / trials
        if blocks > trials:
            doubt += within**2 / (trials**2 * (blocks - trials))
        doubt += _USUAL**2 / (trials**2 * _ASSUMED_FREEDOM)
    # The same trials show the spread of both sides: together they are known no better than that.
    freedom = spread.freedom + _ASSUMED_FREEDOM if spread.freedom else variance**2 / doubt
    ratio = math.log(other.per_ns / ((1 - margin) * one.per_ns))
    return _core.student_tail(ratio / math.sqrt(variance), freedom)


@dataclass
class Best:
    """Which setting to take. Numbers are places in what was tried."""

    place: int
    fastest: int  # another one, if that is as good and asks for more
    confidence: float = 0  # that no other is faster by WORTH_CHANGING
    as_good: list[int] = field(default_factory=list)  # without the best
    next: int | None = None  # the fastest of the others that are not as good
    # Others that may as well be faster by WORTH_CHANGING; none where the best is sure enough.
    rivals: list[int] = field(default_factory=list)


def best_setting(tried: Sequence[Tried]) -> Best | None:
    """None where nothing was measured."""
    by_sample = counts_samples(tried)
    # One that runs into memory or dies in the middle is no choice, however fast it was.
    scored = [score_of(one, by_sample) if one.trouble is None else None for one in tried]
    scores = {place: score for place, score in enumerate(scored) if score is not None}
    if not scores:
        return None
    spread = trial_spread(scored)
    fastest = min(scores, key=lambda i: scores[i].per_ns)
    first = scores[fastest]

    def is_alike(place: int) -> bool:
        share = scores[place].per_ns / first.per_ns - 1
        if share <= WORTH_CHANGING:
            return True
        return share <= _ALIKE and chance_of_faster(first, scores[place], 0, spread) > _UNSURE

    alike = [place for place in scores if is_alike(place)]
    out = Best(min(alike, key=lambda i: demand(tried[i].settings)), fastest)
    others = [place for place in scores if place != out.place]
    chance = {
        i: chance_of_faster(scores[out.place], scores[i], WORTH_CHANGING, spread) for i in others
    }
    out.as_good = [place for place in others if place in alike]
    slower = [place for place in others if place not in alike]
    out.next = min(slower, key=lambda i: scores[i].per_ns, default=None)
    # Rounded down: nothing is certain, and further digits say nothing.
    sure = min(max(1 - sum(chance.values()), 0), 1 - 1 / _CONFIDENCE_PARTS)
    out.confidence = math.floor(sure * _CONFIDENCE_PARTS) / _CONFIDENCE_PARTS
    if out.confidence < SURE:
        # Small chances of many add up: where that is too much, at least one is named.
        small = (1 - SURE) / max(1, len(others))
        out.rivals = [place for place in others if chance[place] > small]
    return out
