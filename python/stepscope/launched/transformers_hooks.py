"""Hugging Face's Trainer: steps and loaders are torch's, evaluation and saves the trainer's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from stepscope.launched.loop import LOOP
from stepscope.recording.saving import saving


def on_trainer(module: ModuleType) -> None:
    """transformers.trainer: passes within an evaluation, and saves, are no training."""
    kind: Any = getattr(module, "Trainer", None)
    for name in ("evaluation_loop", "prediction_loop"):
        theirs = getattr(kind, name, None)
        if theirs is not None:
            setattr(kind, name, _evaluating(theirs))
    theirs = getattr(kind, "_save_checkpoint", None)
    if theirs is not None:
        kind._save_checkpoint = saving(theirs, lambda *args, **kwargs: LOOP.is_recording)


def _evaluating(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def evaluate(*args: Any, **kwargs: Any) -> Any:
        LOOP.evaluation_begins()
        try:
            return theirs(*args, **kwargs)
        finally:
            LOOP.evaluation_ends()

    return evaluate
