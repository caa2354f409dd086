"""Hugging Face's Trainer: steps and loaders are torch's, evaluation and saves the trainer's."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from stepscope.launched.loop import LOOP
from stepscope.launched.waiting import note
from stepscope.recording.clocked import ClockedRange
from stepscope.recording.saving import saving

_NAMED = "_stepscope_named"


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


def on_callbacks(module: ModuleType) -> None:
    """transformers.trainer_callback: what a callback does between steps has its name."""
    kind: Any = getattr(module, "CallbackHandler", None)
    theirs = getattr(kind, "add_callback", None)
    if theirs is None:
        return

    @functools.wraps(theirs)
    def add_callback(self: Any, callback: Any) -> Any:
        added = theirs(self, callback)
        try:
            _name_hooks(callback if isinstance(callback, type) else type(callback))
        except Exception as error:  # a class may forbid it: its hooks have no name then
            note("warning", f"a callback is not named: {type(error).__name__}: {error}")
        return added

    kind.add_callback = add_callback


def _name_hooks(kind: type[Any]) -> None:
    """The hooks of a class, once; its instances stay as they are."""
    for one in kind.__mro__:
        if one.__name__ in ("TrainerCallback", "object"):
            continue
        for name, hook in list(vars(one).items()):
            if name.startswith("on_") and inspect.isfunction(hook) and not hasattr(hook, _NAMED):
                setattr(one, name, _named(hook, f"[Callback]{one.__name__}.{name}"))


def _named(hook: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(hook)
    def named(*args: Any, **kwargs: Any) -> Any:
        if not LOOP.is_recording:
            return hook(*args, **kwargs)
        with ClockedRange(name):
            return hook(*args, **kwargs)

    setattr(named, _NAMED, True)
    return named


def _evaluating(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def evaluate(*args: Any, **kwargs: Any) -> Any:
        LOOP.evaluation_begins()
        try:
            return theirs(*args, **kwargs)
        finally:
            LOOP.evaluation_ends()

    return evaluate
