"""Lightning's Trainer in a program that `stepscope run` started: followed by our own callback.

A trainer tells its batches, validation and epochs; torch's hooks alone would have to guess.
"""

from __future__ import annotations

import functools
import importlib
import os
from types import ModuleType
from typing import Any

from stepscope.integrations.following import Follower
from stepscope.integrations.passes import PhaseOf
from stepscope.launched.loop import LOOP
from stepscope.launched.waiting import note
from stepscope.recording.profile import profile


class LaunchedFollower(Follower):
    """Of the recording that the command's plan begins."""

    def begin(self, phase_of: PhaseOf, first_step: int = 0, first_epoch: int = 0) -> None:
        """The training begins; again: nothing."""
        if self.is_running and self._passes is not None:
            return
        prof = LOOP.follow()
        if prof is not None:
            self._follow(prof, phase_of)

    def end(self, error: BaseException | None = None) -> None:
        """The recording goes on, to the end of the program."""
        was_followed = self._passes is not None
        super().end(error)
        if was_followed:
            LOOP.unfollow()


@functools.cache
def _callback_of(package: str) -> type[Any]:
    """Of `lightning` or of `pytorch_lightning`, whose classes are not the same."""
    base: Any = importlib.import_module(f"stepscope.integrations.{package}").Callback

    class LaunchedCallback(base):  # type: ignore[misc]
        """Says nothing: the trainer's output stays as it is."""

        prints_times = False

        def __init__(self) -> None:
            super().__init__(None, progress=False)

        def make_follower(
            self, folder: str | os.PathLike[str] | None, options: dict[str, Any]
        ) -> Follower:
            """The command's."""
            return LaunchedFollower("lightning", folder, options)

        def summarize(self, prof: profile, pl_module: Any) -> None:
            """The model is not run an additional time, but looked at when it is."""
            LOOP.model.model_is(pl_module)
            prof.summarize(pl_module)

        def __reduce__(self) -> Any:
            """Strategies that spawn send the trainer to other processes."""
            return _make_callback, (package,)

    return LaunchedCallback


def _make_callback(package: str) -> Any:
    return _callback_of(package)()


def on_trainer(module: ModuleType) -> None:
    """lightning.pytorch.trainer.trainer, or the same of pytorch_lightning."""
    package = module.__name__.partition(".")[0]
    kind: Any = module.Trainer
    theirs = kind.__init__

    @functools.wraps(theirs)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        theirs(self, *args, **kwargs)
        try:
            _add_callback(self, package)
        except Exception as error:  # steps of torch are recorded all the same
            note("warning", f"{package}'s trainer is not followed: {type(error).__name__}: {error}")

    kind.__init__ = init


def _add_callback(trainer: Any, package: str) -> None:
    """Before those that write checkpoints, which Lightning keeps last."""
    callbacks: list[Any] = trainer.callbacks
    kind = _callback_of(package)
    if any(isinstance(one, kind) for one in callbacks):
        return
    checkpoint = importlib.import_module(
        "lightning.pytorch.callbacks" if package == "lightning" else "pytorch_lightning.callbacks"
    ).Checkpoint
    place = next((i for i, one in enumerate(callbacks) if isinstance(one, checkpoint)), None)
    callbacks.insert(len(callbacks) if place is None else place, kind())
