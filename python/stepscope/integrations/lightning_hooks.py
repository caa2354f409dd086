"""What Lightning calls: the hooks of a callback and of a profiler, without Lightning's classes.

`lightning` and `pytorch_lightning` are two packages with the same content and different classes;
`integrations.lightning` and `integrations.pytorch_lightning` put these onto either.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from stepscope import _capture
from stepscope._capture import range as named_range
from stepscope.integrations.actions import read_actions, time_report
from stepscope.integrations.following import Follower
from stepscope.integrations.harmless import harmless, say_failed, say_lost
from stepscope.integrations.recorded import RecordedRun
from stepscope.integrations.watched_saves import WatchedSaves
from stepscope.recording.clocked import ClockedRange
from stepscope.recording.profile import current, profile
from stepscope.recording.saving import SAVE, Save

# Of our own callback: a step ends within it, so that it would lie in two.
_OF_STEP = "[Callback]Stepscope.on_train_batch_end"
_PASS_THROUGH = "PassThroughProfiler"  # of a trainer without any
_PACKAGES = ("lightning", "pytorch_lightning")  # as our modules for them are called


def phase_of(trainer: Any) -> str | None:
    """Of a pass over a loader that begins now; None for training."""
    if trainer.testing:
        return "test"
    if trainer.predicting:
        return "prediction"
    if trainer.sanity_checking:  # before the training, and slower than validation is
        return "sanity check"
    return "validation" if trainer.validating else None


def profiler_class_for(trainer: Any) -> type[Any] | None:
    """The profiler that the trainer's own package takes; None where it has one already.

    A callback made for the other of the two packages is called all the same, so it is the trainer
    that says which of them is in use.
    """
    kind = type(trainer.profiler)
    if kind.__name__ != _PASS_THROUGH:
        return None
    package = kind.__module__.partition(".")[0]
    if package not in _PACKAGES:
        say_lost(f"actions of a trainer of '{package}' are not recorded: only of {_PACKAGES}")
        return None
    module = importlib.import_module(f"stepscope.integrations.{package}")
    found: type[Any] = module.Profiler
    return found


def range_of(action_name: str) -> Any:
    """Hooks of callbacks and modules are anybody's code: whether they work or wait is noted."""
    is_hook = action_name.startswith("[Callback]") or (
        action_name.startswith("[LightningModule]") and ".on_" in action_name
    )
    return ClockedRange(action_name) if is_hook else named_range(action_name)


class StepCounter:
    """Tells the steps of the optimizer from the batches of a trainer."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._last: int | None = None

    def begin(self, trainer: Any) -> None:
        """Training begins, perhaps from a checkpoint."""
        self._last = trainer.global_step
        batches = getattr(trainer, "accumulate_grad_batches", 1)
        self._follower.expect_batches(batches if isinstance(batches, int) else 1)

    def batch_ended(self, trainer: Any) -> None:
        """A step ends with the batch after which an optimizer has stepped."""
        self._follower.batch()
        if trainer.global_step != self._last:
            self._last = trainer.global_step
            self._follower.step()


class CallbackHooks:
    """Records `trainer.fit` into a run's folder, shared by all ranks.

    Args:
        folder: of the run; as for `stepscope.profile`.
        actions: whether Lightning's own actions become ranges and the time report is printed at
            the end, where the trainer has no other profiler.
        verbose: whether that report shows every action.
        progress: whether `training_rate` and `validation_rate` (batches a second) are logged, to
            the progress bar and to the trainer's loggers.
        **options: of `stepscope.profile`: `schedule=`, `trace=`, `snapshot=`, …
    """

    prints_times = True  # at the end

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        *,
        actions: bool = True,
        verbose: bool = False,
        progress: bool = True,
        **options: Any,
    ) -> None:
        super().__init__()
        self.follower = self.make_follower(folder, options)
        self._steps = StepCounter(self.follower)
        self._saves = WatchedSaves(self.follower)
        self._actions, self._verbose, self._progress = actions, verbose, progress
        self.has_failed = False

    def make_follower(
        self, folder: str | os.PathLike[str] | None, options: dict[str, Any]
    ) -> Follower:
        """What records, with this folder and options."""
        return Follower("lightning", folder, options)

    @property
    def state_key(self) -> str:
        """The name among callbacks."""
        return "Stepscope"

    @property
    def run_folder(self) -> Path | None:
        """Of the run, once recording has begun."""
        return self.follower.run_folder

    def give_up(self) -> None:
        """After an error of ours."""
        self.follower.end()

    @harmless
    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Ranks are known from here on, so recording begins."""
        if stage != "fit":
            return
        self.follower.begin(lambda loader: phase_of(trainer))
        if self.follower.prof is not None:
            self.summarize(self.follower.prof, pl_module)
            self._saves.watch(trainer, "save_checkpoint")
        profiler_class = profiler_class_for(trainer) if self._actions else None
        if profiler_class is not None:
            trainer.profiler = profiler_class(verbose=self._verbose)
            trainer.profiler.prints_times = self.prints_times
            trainer.profiler.setup(stage, trainer.local_rank if trainer.world_size > 1 else None)

    def summarize(self, prof: profile, pl_module: Any) -> None:
        """As Lightning's own summary does: run only where the module says with what."""
        batch = getattr(pl_module, "example_input_array", None)
        if batch is not None:
            prof.summarize(pl_module, batch)
        else:
            self.follower.trains(pl_module)

    @harmless
    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """The first step begins."""
        self._steps.begin(trainer)
        self.follower.training.pause()
        self.follower.training.take()
        self.follower.begin_step()

    @harmless
    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Batches follow."""
        self.follower.training.go_on()

    @harmless
    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Perhaps a step."""
        self._steps.batch_ended(trainer)
        batches = self.follower.training.batch_ended()
        if batches >= max(1, trainer.log_every_n_steps):
            rate = self.follower.training.take()
            self._log(pl_module, "training_rate", rate, on_step=True, on_epoch=False)

    @harmless
    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        """No time of training."""
        if not trainer.sanity_checking:
            self.follower.validation_begins()

    @harmless
    def on_validation_batch_end(
        self,
        trainer: Any,
        pl_module: Any,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Counted."""
        if not trainer.sanity_checking:
            self.follower.validation.batch_ended()

    @harmless
    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Later hooks may not log."""
        if trainer.sanity_checking:
            return
        self.follower.validation.pause()
        rate = self.follower.validation.take()
        self._log(pl_module, "validation_rate", rate, on_step=False, on_epoch=True)

    @harmless
    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Training goes on, or begins."""
        self.follower.validation_ends()

    @harmless
    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """An epoch."""
        self.follower.training.pause()
        self.follower.epoch()

    @harmless
    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """The recording says of what the training died."""
        self.follower.end(exception)

    @harmless
    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """The end: files are complete."""
        if stage == "fit":
            self._saves.forget()
            self.follower.end()
            if self.run_folder is not None:
                self.finished(trainer, self.run_folder)

    def finished(self, trainer: Any, run_folder: Path) -> None:
        """For those who do more with the run."""

    def _log(self, pl_module: Any, name: str, rate: float | None, **when: bool) -> None:
        if rate is None or not self._progress:
            return
        try:
            logger = bool(pl_module.trainer.loggers)  # asked in vain, Lightning warns
            pl_module.log(
                name, rate, prog_bar=True, logger=logger, batch_size=1, rank_zero_only=True, **when
            )
        except Exception as error:  # a trainer that logs nothing: recording goes on
            self._progress = False
            say_failed(f"the progress bar's {name}", error)


class ProfilerActions:
    """Makes ranges of Lightning's actions, and prints where the time went.

    With a folder it records `trainer.fit` by itself; without, it tells the recording that runs,
    whoever began it, of actions, steps and epochs.

    Args:
        folder: of the run; as for `stepscope.profile`.
        verbose: whether the report shows every action.
        dirpath: with `filename`, where the report is written instead of logged; as in Lightning.
        filename: see above.
        **options: of `stepscope.profile`.
    """

    prints_times = True  # at the end
    _lightning_module: Any  # set by the trainer

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        verbose: bool = False,
        dirpath: str | Path | None = None,
        filename: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(dirpath=dirpath, filename=filename)  # type: ignore[call-arg]
        self._follower = Follower("lightning", folder, options)
        self._steps = StepCounter(self._follower)
        self._verbose = verbose
        self._open: list[tuple[str, Any]] = []
        self._recording: profile | None = None  # the one that the report is about
        self.has_failed = False

    def give_up(self) -> None:
        """After an error of ours."""
        self._follower.end()

    def setup(self, stage: str, local_rank: int | None = None, log_dir: str | None = None) -> None:
        """Ranks are known from here on."""
        super().setup(stage, local_rank, log_dir)  # type: ignore[misc]
        self._begin(stage)

    @harmless
    def _begin(self, stage: str) -> None:
        self._recording = None
        trainer = getattr(getattr(self, "_lightning_module", None), "trainer", None)
        if stage != "fit" or trainer is None:
            return
        # A callback counts steps better: it hears of validation, too.
        if not any(isinstance(one, CallbackHooks) for one in trainer.callbacks):
            self._follower.begin(lambda loader: phase_of(trainer))
            self._steps.begin(trainer)

    def start(self, action_name: str) -> None:
        """An action begins."""
        if self._recording is None:
            self._recording = current()
        if action_name == _OF_STEP:
            return
        action = Save() if action_name == SAVE else range_of(action_name)
        action.__enter__()
        self._open.append((action_name, action))

    def stop(self, action_name: str) -> None:
        """It has ended; one that began before us is none of ours."""
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place][0] == action_name:
                self._open.pop(place)[1].__exit__(None, None, None)
                break
        if action_name.startswith("run_training_") and self._follower.is_running:
            self._count(action_name)

    @harmless
    def _count(self, action_name: str) -> None:
        if action_name == "run_training_batch":
            self._steps.batch_ended(self._lightning_module.trainer)
        elif action_name == "run_training_epoch":
            self._follower.epoch()

    def summary(self) -> str:
        """The time report of all ranks that can be read from here."""
        return (self._report() or "") if self.prints_times else ""

    @harmless
    def _report(self) -> str:
        self._follower.end()
        recording, self._recording = self._recording, None
        if recording is None:
            return "Time report: nothing was recorded."
        _capture.flush()
        run = RecordedRun(recording.rank.path.parent)
        return time_report(read_actions(run), self._verbose)

    def teardown(self, stage: str | None) -> None:
        """The end of a fit, or of the program."""
        if getattr(self, "_follower", None) is not None:
            self._follower.end()
        super().teardown(stage)  # type: ignore[misc]
