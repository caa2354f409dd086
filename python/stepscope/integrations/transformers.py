"""Hugging Face's Trainer: `Trainer(…, callbacks=[Callback("runs/exp1")])`.

docs/start/transformers.md has a script.
"""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Any

from stepscope.integrations.following import Follower
from stepscope.integrations.harmless import harmless
from stepscope.integrations.packages import explain_missing
from stepscope.integrations.watched_saves import WatchedSaves

try:
    from transformers import Trainer, TrainerCallback
except ImportError as error:
    explain_missing(error, "transformers", __name__)


class Callback(TrainerCallback):  # type: ignore[misc]
    """Records `trainer.train()` into a run's folder, shared by all ranks.

    A step is a step of the optimizer. `training_rate` and `validation_rate` (batches a second) are
    added to what the trainer logs.

    Args:
        folder: of the run; as for `stepscope.profile`.
        **options: of `stepscope.profile`: `schedule=`, `trace=`, `snapshot=`, …
    """

    def __init__(self, folder: str | os.PathLike[str], **options: Any) -> None:
        self.follower = Follower("transformers", folder, options)
        self._saves = WatchedSaves(self.follower)
        self._training: weakref.ref[Any] | None = None
        self._validation_rate: float | None = None  # of the evaluation that is about to end
        self.has_failed = False

    @property
    def run_folder(self) -> Path | None:
        """Of the run, once recording has begun."""
        return self.follower.run_folder

    def give_up(self) -> None:
        """After an error of ours."""
        self.follower.end()

    def _phase_of(self, loader: Any) -> str | None:
        """A pass begins. The trainer does not tell when it evaluates: another loader says so."""
        training = self._training() if self._training is not None else None
        if loader is training or loader is getattr(training, "base_dataloader", training):
            return None  # Accelerate's loader holds torch's
        self.follower.validation_begins(with_range=True)
        return "validation"

    @harmless
    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The loader is known, and so are ranks and a checkpoint's step."""
        loader = kwargs.get("train_dataloader")
        self._training = weakref.ref(loader) if loader is not None else None
        self.follower.begin(self._phase_of, state.global_step, int(state.epoch or 0))
        self._saves.watch(Trainer, "_save_checkpoint")
        if (model := kwargs.get("model")) is not None:
            self.follower.trains(model)
        self.follower.expect_batches(int(getattr(args, "gradient_accumulation_steps", 1) or 1))

    @harmless
    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Batches follow."""
        self.follower.begin_step()
        self.follower.training.go_on()

    @harmless
    def on_substep_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """A batch whose gradients are kept for the next."""
        self.follower.training.batch_ended()
        self.follower.batch()

    @harmless
    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """A step of the optimizer."""
        self.follower.training.batch_ended()
        self.follower.batch()
        self.follower.step()
        self._maybe_saves(state, control)

    def _maybe_saves(self, state: Any, control: Any) -> None:
        """The trainer logs, evaluates and saves, in this order, and tells when each has ended."""
        logged = any(
            line.get("step") == state.global_step and "loss" in line
            for line in state.log_history[-2:]
        )
        is_next = not control.should_evaluate and (logged or not control.should_log)
        if control.should_save and is_next:
            self.follower.save_begins()

    @harmless
    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Training goes on; what came since the last step is part of none."""
        self.follower.save_ends()
        self.follower.begin_step()

    @harmless
    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        """The rate since the last line, in what is shown and kept."""
        if logs is None:
            return
        if "loss" in logs:
            rate = self.follower.training.take()
            if rate is not None:
                _add(logs, state, "training_rate", rate)
            self._maybe_saves(state, control)
            return
        # Of evaluation, which has ended then, or of the end.
        self.follower.validation.pause()
        self._validation_rate = self.follower.validation.take()
        if self._validation_rate is not None:
            _add(logs, state, "validation_rate", self._validation_rate)

    @harmless
    def on_prediction_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """A batch of evaluation."""
        self.follower.validation.batch_ended()

    @harmless
    def on_evaluate(
        self,
        args: Any,
        state: Any,
        control: Any,
        metrics: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Training goes on."""
        rate, self._validation_rate = self._validation_rate, None
        if rate is not None and metrics is not None:
            metrics["validation_rate"] = round(rate, 3)
        self.follower.validation_ends()
        self._maybe_saves(state, control)

    @harmless
    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """An epoch."""
        self.follower.training.pause()
        self.follower.epoch()
        self._maybe_saves(state, control)

    @harmless
    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The end: files are complete."""
        self._saves.forget()
        self.follower.end()


def _add(shown: dict[str, Any], state: Any, name: str, rate: float) -> None:
    shown[name] = round(rate, 3)
    if state.log_history:
        state.log_history[-1][name] = round(rate, 3)
