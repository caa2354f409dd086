"""The model of a program that does not name it: what holds the parameters that optimizers step.

It is found once, behind the first step, and one forward pass of the next step is looked at through
torch's global hooks: nothing is run, no module is touched (one with a hook of ours could not be
saved), and afterwards the hooks are gone. What fails in here costs the summary alone.
"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from stepscope.recording.model_summary import (
    Calls,
    bytes_of,
    summary_of,
    summary_of_seen,
    tensors_in,
)

# Around a model, by torch: the attribute that holds what it is around.
_WRAPPERS = {
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "module",
    "OptimizedModule": "_orig_mod",
}
_MOST_CALLS = 200_000  # of modules in the step that is looked at
_MOST_NAMES = 3  # of models in the name of all


class ModelWatch:
    """Of one process: `write` gets what model.json holds, and again when more is known."""

    def __init__(self) -> None:
        self._first: weakref.ref[Any] | None = None  # the optimizer that stepped first
        self._stepped: list[weakref.ref[Any]] = []
        self._found: list[Any] = []
        self._pass: SeenPass | None = None
        self._told: Any = None
        self.is_done = False

    def model_is(self, model: Any) -> None:
        """A framework tells, and has written what is known without a pass."""
        self._told = weakref.ref(model)

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
        self._pass = self._told = None
        self._found = []

    def _stepped_once(self, optimizer: Any, write: Callable[[dict[str, Any]], None]) -> None:
        is_new = all(one() is not optimizer for one in self._stepped)
        if is_new:
            self._stepped.append(weakref.ref(optimizer))
        if self._first is None:
            self._first = self._stepped[0]
            self._look(write)
            if _has_compiled():  # hooks would be compiled, too, or compile anew
                self.end()
            else:
                self._pass = SeenPass()
        elif self._first() is optimizer or self._first() is None:
            self._write_pass(write)
            self.end()

    def _look(self, write: Callable[[dict[str, Any]], None]) -> None:
        self._found = self._models()
        if self._found and self._told is None:
            model, name = _as_one(self._found)
            write(summary_of(model, None) | {"name": name})

    def _write_pass(self, write: Callable[[dict[str, Any]], None]) -> None:
        if len(self._stepped) > 1:
            self._found = self._models()
        seen = self._pass
        if not self._found or seen is None:
            return
        seen.end()
        model, name = _as_one(self._found)
        if seen.has_seen(model):
            given = sum(seen.input_bytes.get(id(one), 0) for one in model.modules())
            write(summary_of_seen(model, seen.calls, given) | {"name": name})
        else:
            write(summary_of(model, None) | {"name": name})

    def _models(self) -> list[Any]:
        told = self._told() if self._told is not None else None
        if told is not None:
            return [told]
        alive = [one() for one in self._stepped]
        return models_of([one for one in alive if one is not None])


def models_of(optimizers: Iterable[Any]) -> list[Any]:
    """Modules that hold one of their parameters, themselves or further in, and are in no other."""
    from torch.nn import Module

    held = {
        id(one)
        for optimizer in optimizers
        for group in optimizer.param_groups
        for one in group["params"]
    }
    # By type(): an object's own answer to isinstance() may do anything.
    modules = [one for one in gc.get_objects() if issubclass(type(one), Module)]
    around: dict[int, list[Any]] = {}
    to_see = []
    for one in modules:
        own = one.__dict__
        if any(id(parameter) in held for parameter in own.get("_parameters", {}).values()):
            to_see.append(one)
        for child in own.get("_modules", {}).values():
            around.setdefault(id(child), []).append(one)
    found, known = [], {id(one) for one in to_see}
    while to_see:
        one = to_see.pop()
        if id(one) not in around:
            found.append(one)
        for outer in around.get(id(one), ()):
            if id(outer) not in known:
                known.add(id(outer))
                to_see.append(outer)
    order = {id(one): place for place, one in enumerate(modules)}
    return [_unwrapped(one) for one in sorted(found, key=lambda one: order[id(one)])]


def _unwrapped(module: Any) -> Any:
    while type(module).__module__.startswith("torch."):
        inner = getattr(module, _WRAPPERS.get(type(module).__name__, ""), None)
        if inner is None:
            break
        module = inner
    return module


def _as_one(models: list[Any]) -> tuple[Any, str]:
    """Several are the layers of one that nobody made."""
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


def _has_compiled() -> bool:
    """Whether torch's compiler has been at work."""
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", None)
    return bool(counters and counters.get("frames"))


class SeenPass:
    """The first call of each module that no other calls, and all calls inside of it.

    With gradients, on this thread: neither validation nor what a checkpoint computes again.
    """

    def __init__(self) -> None:
        from torch import is_grad_enabled
        from torch.nn.modules import module

        # torch leaves the numbers of hooks here that are gone.
        self._left_behind: Any = getattr(module, "_global_forward_hooks_with_kwargs", {})
        self.calls: dict[int, Calls] = {}
        self.input_bytes: dict[int, int] = {}  # of those that no other calls
        self._is_training = is_grad_enabled
        self._modules: list[Any] = []  # kept, so that no other gets the same id
        self._outermost: Any = None
        self._counts = False  # what is inside of it
        self._thread = threading.get_ident()
        self._left = _MOST_CALLS
        self._handles = [
            module.register_module_forward_pre_hook(self._enter),
            module.register_module_forward_hook(self._leave, with_kwargs=True, always_call=True),
        ]

    def has_seen(self, model: Any) -> bool:
        """Or a part of it."""
        return any(id(one) in self.calls for one in model.modules())

    def end(self) -> None:
        """The hooks are gone; again: nothing."""
        self._left = 0
        for handle in self._handles:
            handle.remove()
            self._left_behind.pop(handle.id, None)
        self._handles = []

    def _enter(self, module: Any, _: Any) -> None:
        if self._left <= 0 or threading.get_ident() != self._thread:
            return
        self._left -= 1
        if self._outermost is None:
            self._outermost = module
            self._counts = id(module) not in self.calls and self._is_training()

    # Behind an error torch leaves out `named`.
    def _leave(self, module: Any, args: Any, named: Any, output: Any = None) -> None:
        if self._left <= 0 or threading.get_ident() != self._thread:
            return
        try:
            if self._counts:
                self._take_down(module, tensors_in([args, named]), tensors_in(output))
        except Exception:  # of somebody's tensors
            self._left = 0
            self._forget()
        if module is self._outermost:
            self._outermost, self._counts = None, False

    def _take_down(self, module: Any, given: list[Any], gave: list[Any]) -> None:
        if sys.exc_info()[0] is not None:  # it raised, and is called again if at all
            self._forget()
            return
        if id(module) not in self.calls:
            self.calls[id(module)] = Calls()
            self._modules.append(module)
        self.calls[id(module)].take_down(module, given, gave)
        if module is self._outermost:  # what has a gradient came from another
            data = (bytes_of(one) for one in given if one.grad_fn is None)
            self.input_bytes[id(_unwrapped(module))] = sum(data)

    def _forget(self) -> None:
        self.calls.clear()
        self._modules.clear()
        self.input_bytes.clear()
