"""The model of a program that does not name it: what holds the parameters that optimizers step.

It is found once, after the first step, and one forward pass of the next step is looked at through
torch's global hooks: nothing is run, no module is touched (one with a hook of ours could not be
saved), and afterwards the hooks are gone. What fails in here costs the summary alone.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from stepscope.launched.model_search import models_of
from stepscope.recording.model_pass import SeenPass, has_compiled
from stepscope.recording.model_summary import summary_of

_MOST_NAMES = 3  # of models in the name of all


class ModelWatch:
    """Of one process: `write` gets what model.json holds, and again when more is known."""

    def __init__(self) -> None:
        self._first: weakref.ref[Any] | None = None  # the optimizer that stepped first
        self._stepped: list[weakref.ref[Any]] = []
        self._found: list[Any] = []
        self._pass: SeenPass | None = None
        self._given: Any = None
        self.is_done = False

    def model_is(self, model: Any) -> None:
        """A framework names it, and has written what is known without a pass."""
        self._given = weakref.ref(model)

    def stepped(self, optimizer: Any, write: Callable[[dict[str, Any]], None]) -> None:
        """An optimizer's step has ended."""
        try:
            self._stepped_once(optimizer, write)
        except Exception:  # a model may be anything
            self.end()

    def end(self) -> None:
        """Nothing more is looked at."""
        self.is_done = True
        if self._pass is not None:
            self._pass.end()
        self._pass = self._given = None
        self._found = []

    def _stepped_once(self, optimizer: Any, write: Callable[[dict[str, Any]], None]) -> None:
        is_new = all(one() is not optimizer for one in self._stepped)
        if is_new:
            self._stepped.append(weakref.ref(optimizer))
        if self._first is None:
            self._first = self._stepped[0]
            self._look(write)
            if has_compiled():  # hooks would be compiled, too, or compile anew
                self.end()
            else:
                self._pass = SeenPass()
        elif self._first() is optimizer or self._first() is None:
            self._write_pass(write)
            self.end()

    def _look(self, write: Callable[[dict[str, Any]], None]) -> None:
        self._found = self._models()
        if self._found and self._given is None:
            model, name = _as_one(self._found)
            write(summary_of(model, None) | {"name": name})

    def _write_pass(self, write: Callable[[dict[str, Any]], None]) -> None:
        seen = self._pass
        if seen is None:
            return
        seen.end()
        if len(self._stepped) > 1 or gc.get_freeze_count() > 0:
            self._found = self._models(seen.modules())
        if not self._found:
            return
        model, name = _as_one(self._found)
        if seen.has_seen(model):
            write(seen.summary(model) | {"name": name})
        else:
            write(summary_of(model, None) | {"name": name})

    def _models(self, called: Iterable[Any] = ()) -> list[Any]:
        given = self._given() if self._given is not None else None
        if given is not None:
            return [given]
        alive = [one() for one in self._stepped]
        return models_of([one for one in alive if one is not None], called)


def _as_one(models: list[Any]) -> tuple[Any, str]:
    """Several become the layers of one model, made here."""
    if len(models) == 1:
        return models[0], type(models[0]).__name__
    from torch.nn import ModuleDict

    named: dict[str, Any] = {}
    for one in models:
        kind, number = type(one).__name__, 1
        while (name := kind if number == 1 else f"{kind}_{number}") in named:
            number += 1
        named[name] = one
    names = list(named)[:_MOST_NAMES] + ["…"] * (len(named) > _MOST_NAMES)
    return ModuleDict(named), " + ".join(names)
