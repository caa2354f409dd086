"""Profilers of torch that the program itself uses, before and while a window is open.

torch has one profiler: a second that is started takes the place of the first without a word, and
both end up with nothing. So the first must know before. Those that begin while a recording runs are
seen at their doors; all objects are looked through at most once, and only where torch says that a
profiler may have begun before.
"""

from __future__ import annotations

import functools
import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

# What torch.profiler and torch.autograd.profiler call to get ready and to begin.
_DOORS = ("_prepare_profiler", "_enable_profiler")
# Methods of torch's profiler after which it is warming up or at work; it ends by __exit__.
_BEGINNINGS = ("_prepare_trace", "_start_trace")
# By which torch.profiler counts steps, from when one is made until its `with` is left.
_STEP_COUNT = "ProfilerStep"


class _Covers:
    """Attributes of other modules that are covered until `take_off`."""

    def __init__(self) -> None:
        self._put: list[tuple[Any, str, Any, Any]] = []  # whose, name, what was there, what is

    def put(self, owner: Any, name: str, cover: Callable[[Any], Any]) -> None:
        """Over the attribute of this name, where there is one."""
        if (before := getattr(owner, name, None)) is not None:
            mine = functools.wraps(before)(cover(before))
            self._put.append((owner, name, before, mine))
            setattr(owner, name, mine)

    def take_off(self) -> bool:
        """As before; with something put on top, ours must let through. Whether any was put on."""
        put, self._put = self._put, []
        for owner, name, before, mine in put:
            if getattr(owner, name) is mine:
                setattr(owner, name, before)
        return bool(put)


class ProfilerWatch:
    """Between `watch_for_profilers` and `forget`."""

    def __init__(self, module: Any, before: Callable[[], None]) -> None:
        self._before = before
        self._covers = _Covers()
        for name in _DOORS:
            self._covers.put(module, name, self._guarded)

    def _guarded(self, door: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*args: Any, **kwargs: Any) -> Any:
            if self._covers.take_off():
                self._before()
            return door(*args, **kwargs)

        return guarded

    def forget(self) -> None:
        """The doors are as before."""
        self._covers.take_off()


def watch_for_profilers(before: Callable[[], None]) -> ProfilerWatch:
    """`before` is called once, before another profiler begins."""
    import torch.autograd.profiler as module

    return ProfilerWatch(module, before)


class ReadyProfilers:
    """Those of this process that are warming up or at work, until `forget`.

    torch tells only of those at work in the thread that asks.
    """

    def __init__(self, module: Any) -> None:
        kind = module.profile
        self._ready = weakref.WeakSet(_begun_before(module))
        self._covers = _Covers()
        for name in _BEGINNINGS:
            self._covers.put(kind, name, self._adding)
        self._covers.put(kind, "__exit__", self._discarding)

    def __bool__(self) -> bool:
        """Whether there is one: starting another would end it."""
        return len(self._ready) > 0

    def _adding(self, begin: Callable[..., Any]) -> Callable[..., Any]:
        def adding(profiler: Any, *args: Any, **kwargs: Any) -> Any:
            self._ready.add(profiler)
            return begin(profiler, *args, **kwargs)

        return adding

    def _discarding(self, end: Callable[..., Any]) -> Callable[..., Any]:
        def discarding(profiler: Any, *args: Any, **kwargs: Any) -> Any:
            result = end(profiler, *args, **kwargs)
            self._ready.discard(profiler)
            return result

        return discarding

    def forget(self) -> None:
        """The methods of torch are as before."""
        self._covers.take_off()


def ready_profilers() -> ReadyProfilers | None:
    """From now on; None where torch is not imported yet, and so has none."""
    module = sys.modules.get("torch.autograd.profiler")
    return None if getattr(module, "profile", None) is None else ReadyProfilers(module)


def without_step_count(make: Callable[[], Any]) -> Any:
    """What `make` gives: a torch.profiler that is not used by `with`.

    torch would count its steps for ever, and the next recording take it for another profiler's.
    """
    import torch.autograd.profiler as module

    counts = _step_counts(module)
    was_there = counts is None or _STEP_COUNT in counts
    made = make()
    if counts is not None and not was_there:
        counts.pop(_STEP_COUNT, None)
    return made


def _step_counts(module: Any) -> Any:
    """By what counts; None in a torch that is not known."""
    return getattr(getattr(module, "KinetoStepTracker", None), "_step_dict", None)


def _begun_before(module: Any) -> list[Any]:
    """Profilers that are ready already.

    To find them takes as long as the program has objects, so torch is asked first: most programs
    have none.
    """
    counts = _step_counts(module)
    has_steps = counts is None or _STEP_COUNT in counts  # one without has no warm-up
    if not has_steps and getattr(module, "_is_profiler_enabled", True) is False:
        return []
    kinds = (module.profile, *module.profile.__subclasses__())
    return [
        one
        for one in gc.get_referrers(*kinds)
        if isinstance(one, kinds)
        and getattr(one, "entered", False)
        and getattr(one, "kineto_results", None) is None
    ]
