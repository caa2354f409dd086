"""The places of torch that every training loop passes: an optimizer's step, a pass over a loader.

They are wrapped as their modules are imported, before anything else has taken a reference. Inside
of compiled graphs the wrappers step aside.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from stepscope._capture import range as named_range
from stepscope.launched.loop import LOOP
from stepscope.launched.waiting import note
from stepscope.recording.loading.watching import keeps_one_back

Step = Callable[..., Any]


def _is_compiling() -> Callable[[], bool]:
    """A function of torch, whose compiler knows the answer."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    return getattr(compiler, "is_compiling", None) or (lambda: False)


def on_optimizer(module: ModuleType) -> None:
    """torch.optim.optimizer: its class wraps `step` of each kind of optimizer, and so do we."""
    kind: Any = module.Optimizer
    torchs_own: Callable[[Step], Step] = kind.profile_hook_step

    def profile_hook_step(step: Step) -> Step:
        LOOP.optimizer_made()
        is_compiling = _is_compiling()

        @functools.wraps(step)
        def bare(*args: Any, **kwargs: Any) -> Any:
            if is_compiling():
                return step(*args, **kwargs)
            try:
                return step(*args, **kwargs)
            finally:
                LOOP.step_with_closure_ends()

        inner = torchs_own(bare)

        @functools.wraps(inner)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if is_compiling():
                return inner(*args, **kwargs)
            args, kwargs = _outside_of_closure(args, kwargs)
            try:
                return inner(*args, **kwargs)
            finally:
                LOOP.step_ends(args[0])

        return wrapper

    kind.profile_hook_step = staticmethod(profile_hook_step)
    _begin_at_zero_grad(kind)
    note("torch", getattr(sys.modules.get("torch.version"), "__version__", "of unknown version"))


def _outside_of_closure(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A step begins; where it is given a closure, that is forward and backward, and no step."""
    closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
    if not callable(closure):
        LOOP.step_begins()
        return args, kwargs
    LOOP.step_begins(with_range=False)

    @functools.wraps(closure)
    def outside(*inner_args: Any, **inner_kwargs: Any) -> Any:
        LOOP.closure_begins()
        try:
            return closure(*inner_args, **inner_kwargs)
        finally:
            LOOP.closure_ends()

    if "closure" in kwargs:
        return args, {**kwargs, "closure": outside}
    return (args[0], outside, *args[2:]), kwargs


def _begin_at_zero_grad(kind: Any) -> None:
    """Loops without a DataLoader begin with it; once recorded, torch's own is back."""
    torchs_own = kind.zero_grad

    @functools.wraps(torchs_own)
    def zero_grad(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_compiling()():
            LOOP.begin()
        return torchs_own(self, *args, **kwargs)

    def restore() -> None:
        if kind.zero_grad is zero_grad:
            kind.zero_grad = torchs_own

    kind.zero_grad = zero_grad
    LOOP.when_decided(restore)


def on_dataloader(module: ModuleType) -> None:
    """torch.utils.data.dataloader."""
    kind: Any = module.DataLoader
    torchs_own = kind.__iter__

    @functools.wraps(torchs_own)
    def begin_pass(self: Any) -> Any:
        return LOOP.iterate(self, lambda: torchs_own(self), keeps_one_back(1))

    kind.__iter__ = begin_pass


def on_autograd(module: ModuleType) -> None:
    """torch.autograd: `loss.backward()` ends up here."""
    torchs_own: Callable[..., Any] = module.backward
    backward_range = named_range("backward")

    @functools.wraps(torchs_own)
    def backward(*args: Any, **kwargs: Any) -> Any:
        if not LOOP.is_recording or _is_compiling()():
            return torchs_own(*args, **kwargs)
        with backward_range:
            return torchs_own(*args, **kwargs)

    module.backward = backward  # type: ignore[attr-defined]
