"""A loop that a framework owns is followed: its recording begins, steps and ends with it.

Callbacks of all frameworks share it; each only says which of its events is which.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from stepscope._capture import range as named_range
from stepscope.integrations.passes import Passes, PhaseOf
from stepscope.integrations.tracked_model import TrackedModel
from stepscope.recording.profile import current, profile
from stepscope.recording.saving import Save


class Pace:
    """Batches a second since it was last asked, without what it was paused for."""

    def __init__(self) -> None:
        self._batches = 0
        self._spent_s = 0.0
        self._since_s: float | None = None

    @property
    def is_going(self) -> bool:
        """Whether time counts."""
        return self._since_s is not None

    def go_on(self) -> None:
        """Time counts from now on, if it does not yet."""
        if self._since_s is None:
            self._since_s = time.monotonic()

    def pause(self) -> None:
        """Time does not count until `go_on`."""
        if self._since_s is not None:
            self._spent_s += time.monotonic() - self._since_s
            self._since_s = None

    def batch_ended(self) -> int:
        """One more; how many since it was last asked."""
        self._batches += 1
        return self._batches

    def take(self) -> float | None:
        """Batches a second; counting begins anew. None where nothing was counted."""
        was_going = self._since_s is not None
        self.pause()
        batches, spent = self._batches, self._spent_s
        self._batches, self._spent_s = 0, 0.0
        if was_going:
            self.go_on()
        return batches / spent if batches and spent > 0 else None


class Follower:
    """The recording of one training, driven by the events of a framework.

    Where the program records itself already, its recording is followed, and not ended.
    """

    def __init__(
        self, framework: str, folder: str | os.PathLike[str] | None, options: Mapping[str, Any]
    ) -> None:
        self._framework, self._folder, self._options = framework, folder, dict(options)
        if folder is not None:
            profile(folder, **options)  # what is wrong with the arguments is said here
        self.prof: profile | None = None
        self._is_own = False
        self._passes: Passes | None = None
        self.training, self.validation = Pace(), Pace()
        self._validating: Any = None
        self._save: Save | None = None
        self._was_training = False  # when the save began
        self._model: TrackedModel | None = None

    @property
    def is_running(self) -> bool:
        """Whether steps are recorded."""
        return self.prof is not None and current() is self.prof

    @property
    def run_folder(self) -> Path | None:
        """Of the run, once it has begun."""
        return self.prof.rank.path.parent.parent if self.prof is not None else None

    def begin(self, phase_of: PhaseOf, first_step: int = 0, first_epoch: int = 0) -> None:
        """The training begins; again: nothing."""
        if self.is_running:
            return
        running = current()
        if running is not None and not running.gives_way:
            self.prof, self._is_own = running, False
        elif self._folder is not None:
            numbers = {"first_step": first_step, "first_epoch": first_epoch}
            prof = profile(self._folder, **{**numbers, **self._options})
            prof.recorded_by = self._framework
            self.prof, self._is_own = prof.start(), True
        else:
            return
        self._follow(self.prof, phase_of)

    def _follow(self, prof: profile, phase_of: PhaseOf) -> None:
        self.prof = prof
        self.training, self.validation = Pace(), Pace()
        self._passes = Passes(prof, phase_of)
        self._passes.begin()

    def trains(self, model: Any) -> None:
        """A torch module, whose layers are recorded."""
        if self.is_running and self.prof is not None:
            self._model = TrackedModel(self.prof, model)

    def expect_batches(self, batches: int) -> None:
        """A step takes so many."""
        if self.is_running and self.prof is not None:
            self.prof.expect_batches(batches)

    def begin_step(self) -> None:
        """What came since the last step is part of none."""
        if self.is_running and self.prof is not None:
            self.prof.begin_step()

    def batch(self) -> None:
        """A batch of training has ended; after it perhaps a step."""
        if self.is_running and self.prof is not None:
            if self._model is not None and not self._model.is_done:
                self._model.batch_ended()
            self.prof.count_batches()

    def step(self) -> None:
        """A step of the optimizer has ended."""
        if self.is_running and self.prof is not None:
            self.prof.step()

    def epoch(self) -> None:
        """An epoch has ended."""
        if self.is_running and self.prof is not None:
            self._end_passes(trains=True)
            self.prof.epoch()

    def validation_begins(self, with_range: bool = False) -> None:
        """Its time is no training's; with a range where the framework has none of its own."""
        self.training.pause()
        self.validation.go_on()
        if with_range and self._validating is None:
            self._validating = named_range("validation")
            self._validating.__enter__()

    def validation_ends(self) -> None:
        """The next step begins."""
        self._end_passes(trains=False)
        self.validation.pause()
        if self._validating is not None:
            leaving, self._validating = self._validating, None
            leaving.__exit__(None, None, None)
        self.begin_step()
        self.training.go_on()

    def save_begins(self) -> None:
        """Of a checkpoint: its time is no training's."""
        if self._save is None:
            self._was_training = self.training.is_going
            self.training.pause()
            self._save = Save()
            self._save.__enter__()

    def save_ends(self) -> None:
        """Training goes on where it was; again: nothing."""
        if self._save is not None:
            leaving, self._save = self._save, None
            leaving.__exit__(None, None, None)
            if self._was_training:
                self.training.go_on()

    def _end_passes(self, trains: bool) -> None:
        if self._passes is not None:
            self._passes.end_passes(trains)

    def end(self, error: BaseException | None = None) -> None:
        """The training has ended, well or not; again: nothing."""
        if self._passes is not None:
            self._passes.end()
            self._passes = None
        self.save_ends()
        if self._validating is not None:
            self.validation_ends()
        if self._model is not None:
            self._model.end()
        if not self._is_own or not self.is_running or self.prof is None:
            return
        trace: TracebackType | None = error.__traceback__ if error is not None else None
        self.prof.__exit__(type(error) if error is not None else None, error, trace)
