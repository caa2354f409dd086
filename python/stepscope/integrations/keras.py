"""Keras 3, on any of its backends: `model.fit(…, callbacks=[Callback("runs/exp1")])`.

A step is a batch. Traces are torch's, so there are some with the backend torch alone.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from stepscope.integrations.following import Follower
from stepscope.integrations.harmless import harmless
from stepscope.integrations.packages import explain_missing

try:
    import keras
except ImportError as error:
    explain_missing(error, "keras", __name__)


class Callback(keras.callbacks.Callback):  # type: ignore[misc]
    """Records `model.fit` into a run's folder.

    Args:
        folder: of the run; as for `stepscope.profile`.
        **options: of `stepscope.profile`: `schedule=`, `trace=`, …
    """

    def __init__(self, folder: str | os.PathLike[str], **options: Any) -> None:
        super().__init__()
        self.follower = Follower("keras", folder, options)
        self._is_validating = False
        self.has_failed = False

    @property
    def run_folder(self) -> Path | None:
        """Of the run, once recording has begun."""
        return self.follower.run_folder

    def give_up(self) -> None:
        """After an error of ours."""
        self.follower.end()

    @harmless
    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Recording begins."""
        self.follower.begin(lambda loader: "validation" if self._is_validating else None)

    @harmless
    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Batches follow."""
        self.follower.begin_step()
        self.follower.training.go_on()

    @harmless
    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """A step."""
        self.follower.training.batch_ended()
        self.follower.step()

    @harmless
    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Validation within `fit`."""
        self._is_validating = True
        self.follower.validation_begins(with_range=True)

    @harmless
    def on_test_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Counted."""
        self.follower.validation.batch_ended()

    @harmless
    def on_test_end(self, logs: dict[str, Any] | None = None) -> None:
        """Training goes on."""
        self._is_validating = False
        self.follower.validation_ends()

    @harmless
    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """An epoch; its rates stand beside its loss."""
        self.follower.training.pause()
        for name, pace in (
            ("training_rate", self.follower.training),
            ("validation_rate", self.follower.validation),
        ):
            rate = pace.take()
            if rate is not None and logs is not None:
                logs[name] = rate
        self.follower.epoch()

    @harmless
    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """The end: files are complete."""
        self.follower.end()
