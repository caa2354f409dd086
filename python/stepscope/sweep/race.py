"""Which setting of a loader to try next, and for how long.

Short trials for all, longer ones for those that may still win. A race has no clock and starts
nothing: the caller reports how each trial went. Why this order: docs/design, 0021.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stepscope.sweep.scores import (
    Score,
    Trial,
    Tried,
    Trouble,
    best_setting,
    chance_of_faster,
    counts_samples,
    score_of,
    trial_spread,
)
from stepscope.sweep.settings import NAMES, OF_WORKERS, Settings, keywords_text

_TRY_ALL = 12  # combinations; of more, one setting is varied after another
_MOST_ROUNDS = 4
_SURELY_SLOWER = 0.01  # a chance of being faster below this
_SURE_ENOUGH = 0.975  # it looks several times
_SHORTEST, _LONGEST = 0.3, 3.0  # seconds of a first trial
_FIRST_ROUND = 0.4  # of the time for a stage
_HOPELESS = 2  # times the best
_QUICK_START = 0.2  # of what a trial took: the first is slow

Choices = Mapping[str, list[int]]  # the values to try of each setting, in the order given


@dataclass
class NextTrial:
    """What to try."""

    seconds: float  # to measure for, from the first batch on
    hopeless_ns: float | None = None  # per sample or step: it has lost
    by_sample: bool = True


def _meaningful(settings: Settings) -> Settings:
    """A loader without workers neither prefetches nor keeps them."""
    if settings.get("num_workers") != 0:
        return settings
    return {name: value for name, value in settings.items() if name not in OF_WORKERS}


def _varied(settings: list[Settings], names: Iterable[str], choices: Choices) -> list[Settings]:
    """Each of the settings with every value of these."""
    for name in names:
        if values := choices.get(name):
            every = [_meaningful({**one, name: value}) for one in settings for value in values]
            settings = [one for place, one in enumerate(every) if one not in every[:place]]
    return settings


def combinations(choices: Choices) -> list[Settings]:
    """Those of all values that mean something."""
    return _varied([{}], NAMES, choices)


class Race:
    """Between settings."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self.tried: list[Tried] = []  # in the order of their first turn
        self.is_decided = False
        self._stages_left: list[tuple[str, ...]] = []  # what they vary, the next one last
        self._round, self._last = 0, 0
        self._seconds = 0.0  # of a trial of this round
        first = combinations(choices)
        if len(first) > _TRY_ALL:
            self._stages_left = [
                ("drop_last",),
                ("persistent_workers",),
                ("prefetch_factor",),
                ("pin_memory", "non_blocking"),
            ]
            given = {name: choices[name][0] for name in NAMES if choices.get(name)}
            first = _varied([given], ("num_workers", "batch_size"), choices)
        self._stage = [self._place_of(one) for one in first]
        self._queue = self._stage[::-1]  # of this round, the next one last

    @property
    def last(self) -> Tried:
        """That was asked for last."""
        return self.tried[self._last]

    def next(self, left_s: float, start_s: float) -> NextTrial | None:
        """What to try; None: it is decided, or there is no time for another trial.

        A first trial may be asked for where the time will hardly do: the caller ends it in time.

        Args:
            left_s: of the budget.
            start_s: what a trial takes beside measuring; 0: not known yet.
        """
        self._drop_troubled()
        while not self._queue:
            if self.is_decided or not (self._next_round() or self._next_stage()):
                self.is_decided = True
                return None
            self._drop_troubled()
            self._seconds = 0
        waiting = len(self._queue)
        if self._seconds == 0:
            stage = left_s / (1 + len(self._stages_left))
            share = _FIRST_ROUND if self._round == 0 else 1 / (_MOST_ROUNDS - self._round)
            longest = _LONGEST * 2**self._round
            self._seconds = min(max(share * stage / waiting - start_s, _SHORTEST), longest)
        # Better short trials of all that wait than long ones of some.
        seconds = max(_SHORTEST, min(self._seconds, left_s / waiting - start_s))
        # What was never tried may be the fastest: no answer is worth more than a look at it, so it
        # is begun though only a quick start leaves time to measure. Starts vary, and nothing else
        # is left to do with the time.
        is_first = not self.tried[self._queue[-1]].is_measured
        if left_s < (_QUICK_START if is_first else 1) * (start_s + seconds):
            return None
        self._last = self._queue.pop()
        out = NextTrial(seconds, by_sample=counts_samples(self.tried))
        best = best_setting(self.tried)
        if best is not None and best.fastest != self._last:
            score = score_of(self.tried[best.fastest], out.by_sample)
            out.hopeless_ns = _HOPELESS * score.per_ns if score is not None else None
        return out

    def take(self, trial: Trial) -> None:
        """The trial that was asked for last ended.

        What it measured counts, also if it had trouble.
        """
        if trial.blocks:
            self.last.trials.append(trial)
            self._merge_same()

    def take_trouble(self, trouble: Trouble, why: str) -> None:
        """It is no choice any more."""
        self.last.trouble, self.last.why = trouble, why
        if trouble is Trouble.MEMORY:
            self._skip_more_demanding(self.last.given)

    def not_tried(self) -> int:
        """Combinations that nothing is known of."""
        known = [one.given for one in self.tried if one.is_measured or one.trouble is not None]
        return sum(one not in known for one in combinations(self._choices))

    def out_of_time(self) -> int:
        """Of them, those that would have had a trial."""
        count = sum(not one.is_measured and one.trouble is None for one in self.tried)
        best = best_setting(self.tried)
        if self.is_decided or best is None:
            return count
        given = self.tried[best.place].given
        return count + sum(
            len(_varied([given], names, self._choices)) - 1 for names in self._stages_left
        )

    def _drop_troubled(self) -> None:
        self._queue = [place for place in self._queue if self.tried[place].trouble is None]

    def _place_of(self, settings: Settings) -> int:
        for place, one in enumerate(self.tried):
            if one.given == settings:
                return place
        self.tried.append(Tried(settings))
        return len(self.tried) - 1

    def _merge_same(self) -> None:
        """A target that does not pass a keyword on makes the same loader whatever it is given.

        There is nothing to choose, and what was measured is another trial of the one.
        """
        one = self.last
        for other in self.tried:
            if other is one or other.trouble is not None or not other.is_measured:
                continue
            if not one.actual or not other.actual or other.settings != one.settings:
                continue
            other.trials += one.trials
            one.trials = []
            other.peak_bytes = max_known(other.peak_bytes, one.peak_bytes)
            other.shared_bytes = max_known(other.shared_bytes, one.shared_bytes)
            one.trouble = Trouble.SAME
            one.why = f"the same loader as with {keywords_text(other.given)}"
            return

    def _skip_more_demanding(self, than: Settings) -> None:
        """What has no less of anything that takes memory would run into the same."""
        of_memory = ("num_workers", "batch_size", "prefetch_factor")
        for one in self.tried:
            if one.trouble is not None or one.trials:
                continue
            if all(one.given.get(name, -1) >= than.get(name, -1) for name in of_memory):
                one.trouble = Trouble.SKIPPED
                one.why = f"not tried: {keywords_text(than)} was out of memory already"

    def _contenders(self) -> list[int]:
        """Those of the stage that may still win.

        The best two are given a second trial in any case: one process may be lucky.
        """
        by_sample = counts_samples(self.tried)
        scores: dict[int, Score] = {}
        for place in self._stage:
            score = score_of(self.tried[place], by_sample)
            if score is not None and self.tried[place].trouble is None:
                scores[place] = score
        spread = trial_spread(scores.values())
        order = sorted(scores, key=lambda i: scores[i].per_ns)
        always = 2 if self._round == 0 else 1
        return [
            place
            for rank, place in enumerate(order)
            if rank < always
            or chance_of_faster(scores[order[0]], scores[place], 0, spread) >= _SURELY_SLOWER
        ]

    def _next_round(self) -> bool:
        members = self._contenders()
        if len(members) < 2 or self._round + 1 >= _MOST_ROUNDS:
            return False
        best = best_setting([self.tried[i] for i in members]) if self._round > 0 else None
        if best is not None and best.confidence >= _SURE_ENOUGH:
            return False
        # The next one is last: so the order is the reverse of the last round's.
        self._queue = [place for place in self._stage if place in members]
        if self._round % 2 == 1:
            self._queue.reverse()
        self._round += 1
        return True

    def _next_stage(self) -> bool:
        while self._stages_left:
            names = self._stages_left.pop()
            best = best_setting(self.tried)
            if best is None:
                return False
            known = self.tried[best.place].given
            self._stage = [self._place_of(one) for one in _varied([known], names, self._choices)]
            if best.place not in self._stage:  # it has been measured in the stage before
                self._stage.append(best.place)
            self._queue = [i for i in self._stage[::-1] if not self.tried[i].is_measured]
            self._round = 0
            if self._queue:
                return True
        return False


def max_known(one: int | None, other: int | None) -> int | None:
    """The larger of those that are known."""
    return max((value for value in (one, other) if value is not None), default=None)
