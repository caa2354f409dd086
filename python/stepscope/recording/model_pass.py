"""One pass through a model that the program makes, looked at through torch's global hooks.

Nothing is run, no module is touched (one with a hook of ours could not be saved), and afterwards
the hooks are gone.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from stepscope.recording.model_summary import Calls, bytes_of, summary_of_seen, tensors_in

# Around a model, by torch: the attribute that holds what it is around.
_WRAPPERS = {
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "module",
    "OptimizedModule": "_orig_mod",
}
_MOST_CALLS = 200_000  # of modules in the step that is looked at


def unwrapped(module: Any) -> Any:
    """What torch has put around a model is none of it."""
    while type(module).__module__.startswith("torch."):
        inner = getattr(module, _WRAPPERS.get(type(module).__name__, ""), None)
        if inner is None:
            break
        module = inner
    return module


def has_compiled() -> bool:
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

        # torch keeps the numbers of removed hooks here.
        self._removed: Any = getattr(module, "_global_forward_hooks_with_kwargs", {})
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

    def modules(self) -> list[Any]:
        """That were called."""
        return list(self._modules)

    def summary(self, model: Any) -> dict[str, Any]:
        """What model.json holds of a model that it has seen."""
        given = sum(self.input_bytes.get(id(one), 0) for one in model.modules())
        return summary_of_seen(model, self.calls, given)

    def end(self) -> None:
        """The hooks are gone; again: nothing."""
        self._left = 0
        for handle in self._handles:
            handle.remove()
            self._removed.pop(handle.id, None)
        self._handles = []

    def _enter(self, module: Any, _: Any) -> None:
        if self._left <= 0 or threading.get_ident() != self._thread:
            return
        self._left -= 1
        if self._outermost is None:
            self._outermost = module
            self._counts = id(module) not in self.calls and self._is_training()

    # After an error torch leaves out `named`.
    def _leave(self, module: Any, args: Any, named: Any, output: Any = None) -> None:
        if self._left <= 0 or threading.get_ident() != self._thread:
            return
        try:
            if self._counts:
                self._take_down(module, tensors_in([args, named]), tensors_in(output))
        except Exception:  # of the user's tensors
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
            self.input_bytes[id(unwrapped(module))] = sum(data)

    def _forget(self) -> None:
        self.calls.clear()
        self._modules.clear()
        self.input_bytes.clear()
