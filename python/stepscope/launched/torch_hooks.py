"""The places of torch that every training loop passes: an optimizer's step, a pass over a loader.

They are wrapped as their modules are imported, so that nobody has taken a reference yet. Inside of
compiled graphs the wrappers step aside.
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
        inner, is_compiling = torchs_own(step), _is_compiling()

        @functools.wraps(inner)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if is_compiling():
                return inner(*args, **kwargs)
            LOOP.step_begins()
            try:
                return inner(*args, **kwargs)
            finally:
                LOOP.step_ends(args[0])

        return wrapper

    kind.profile_hook_step = staticmethod(profile_hook_step)
    _begin_at_zero_grad(kind)
    note("torch", getattr(sys.modules.get("torch.version"), "__version__", "of unknown version"))


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
        caller = str(sys._getframe(1).f_globals.get("__name__"))
        return LOOP.iterate(self, lambda: torchs_own(self), caller.startswith("accelerate."))

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
