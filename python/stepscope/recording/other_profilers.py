"""Profilers of torch that the program itself starts while a window is open.

torch has one profiler: a second that is started takes the place of the first without a word, and
both end up with nothing. So the first must know before.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import Any

# What torch.profiler and torch.autograd.profiler call to get ready and to begin.
_DOORS = ("_prepare_profiler", "_enable_profiler")


class ProfilerWatch:
    """Between `watch_for_profilers` and `forget`."""

    def __init__(self, module: Any, before: Callable[[], None]) -> None:
        self._module = module
        self._before = before
        self._mine: dict[str, tuple[Any, Any]] = {}  # by name: what was there, and what is
        for name in _DOORS:
            if (door := getattr(module, name, None)) is not None:
                self._mine[name] = (door, self._guarded(door))
                setattr(module, name, self._mine[name][1])

    def _guarded(self, door: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(door)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            if self._mine:
                self.forget()
                self._before()
            return door(*args, **kwargs)

        return guarded

    def forget(self) -> None:
        """The doors are as before; where somebody came on top, ours only lets through."""
        mine, self._mine = self._mine, {}
        for name, (door, guarded) in mine.items():
            if getattr(self._module, name) is guarded:
                setattr(self._module, name, door)


def watch_for_profilers(before: Callable[[], None]) -> ProfilerWatch:
    """`before` is called once, before somebody's profiler begins."""
    import torch.autograd.profiler as module

    return ProfilerWatch(module, before)


def is_profiler_ready() -> bool:
    """Whether a profiler of this process is warming up or at work: starting ours would end it.

    torch tells only of those at work in this thread.
    """
    import torch.autograd.profiler as module

    return any(
        issubclass(type(one), module.profile)
        and getattr(one, "entered", False)
        and getattr(one, "kineto_results", None) is None
        for one in gc.get_objects()
    )
