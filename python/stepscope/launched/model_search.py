"""Which modules hold the parameters that optimizers step, in a program that does not tell."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from stepscope.recording.model_pass import unwrapped


def models_of(optimizers: Iterable[Any], called: Iterable[Any] = ()) -> list[Any]:
    """Modules that hold one of their parameters, themselves or further in, and are in no other.

    Args:
        optimizers: that step.
        called: modules that are known, from a pass through them.
    """
    held = {
        id(one)
        for optimizer in optimizers
        for group in optimizer.param_groups
        for one in group["params"]
    }
    modules = _modules_of_process(called)
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
    return [unwrapped(one) for one in sorted(found, key=lambda one: order[id(one)])]


def _modules_of_process(called: Iterable[Any]) -> list[Any]:
    """All that can be found."""
    from torch.nn import Module

    # By type(): an object's own answer to isinstance() may do anything.
    found = {id(one): one for one in gc.get_objects() if issubclass(type(one), Module)}
    # What gc.freeze() has put aside is in no list.
    outside = [*called, *_held_by_callers(Module)] if gc.get_freeze_count() else called
    for outer in outside:
        for one in outer.modules():
            found.setdefault(id(one), one)
    return list(found.values())


def _held_by_callers(kind: type[Any]) -> Iterator[Any]:
    """By names of the functions that are under way, and by attributes of what those name."""
    frame = sys._getframe(1)
    namespaces: dict[int, Any] = {}
    while frame is not None:
        namespaces.setdefault(id(frame.f_globals), frame.f_globals)
        namespaces[id(frame)] = frame.f_locals
        frame = frame.f_back  # type: ignore[assignment]
    for names in namespaces.values():
        for value in list(names.values()):
            if issubclass(type(value), kind):
                yield value
            elif not issubclass(type(value), type | type(sys)):
                yield from (one for one in _attributes(value) if issubclass(type(one), kind))


def _attributes(value: Any) -> list[Any]:
    try:
        return list(object.__getattribute__(value, "__dict__").values())
    except Exception:  # it has none, or odd ones
        return []
