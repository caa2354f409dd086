"""Where parameters, gradients and optimizer state lie: what no snapshot of the allocator tells.

Only addresses and sizes are asked for; no tensor is read, moved or kept alive.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from typing import Any

SCHEMA = "stepscope.addresses/1"

Place = tuple[int, int]  # address and bytes of the storage


def contents(
    models: Iterable[Any] = (), optimizers: Iterable[Any] = (), device: str = "cuda"
) -> dict[str, Any]:
    """Storages on devices of this type by what they hold, each once, under its first name.

    Without models and optimizers those that are alive in the process are found.
    """
    models, optimizers = list(models), list(optimizers)
    found_by = "given"
    if not models and not optimizers:
        found_by = "search"
        models, optimizers = alive()
    parameters = [p for module in models for p in _of_modules(module, "_parameters")]
    buffers = [b for module in models for b in _of_modules(module, "_buffers")]
    mine = {id(parameter) for parameter in parameters}
    in_groups = [p for optimizer in optimizers for p in _in_groups(optimizer)]
    # Copies in another precision, which only the optimizer knows; or all there is.
    others = [p for p in in_groups if id(p) not in mine]
    states = [t for o in optimizers for t in _tensors(getattr(o, "state", None))]
    named = {
        "parameters": parameters if models else others,
        "buffers": buffers,
        "gradients": [
            gradient
            for parameter in (*parameters, *others)
            if (gradient := _gradient_of(parameter)) is not None
        ],
        "optimizer_state": [*states, *(others if models else [])],
    }
    taken: set[int] = set()
    answer: dict[str, Any] = {"schema": SCHEMA, "found_by": found_by}
    for key, tensors in named.items():
        answer[key] = sorted(_places(tensors, device, taken))
    return answer


def alive() -> tuple[list[Any], list[Any]]:
    """Modules and optimizers of this process.

    By their type alone: asking a lazy object for an attribute would wake it up.
    """
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return [], []
    module, optimizer = torch.nn.Module, torch.optim.Optimizer
    modules, optimizers = [], []
    for thing in gc.get_objects():
        kind = type(thing)
        if issubclass(kind, module):
            modules.append(thing)
        elif issubclass(kind, optimizer):
            optimizers.append(thing)
    return modules, optimizers


def _of_modules(module: Any, which: str) -> Iterator[Any]:
    """Tensors of a module and of all it holds, each module once."""
    waiting, seen = [module], set()
    while waiting:
        now = waiting.pop()
        if id(now) in seen:
            continue
        seen.add(id(now))
        own = getattr(now, "__dict__", {})
        yield from (t for t in (own.get(which) or {}).values() if t is not None)
        waiting.extend(m for m in (own.get("_modules") or {}).values() if m is not None)


def _in_groups(optimizer: Any) -> Iterator[Any]:
    for group in getattr(optimizer, "param_groups", ()):
        yield from group.get("params", ())


def _gradient_of(parameter: Any) -> Any:
    try:
        return parameter.grad
    except Exception:  # a parameter that is not there yet
        return None


def _tensors(thing: Any, depth: int = 5) -> Iterator[Any]:
    """Tensors in nested dictionaries and lists, as optimizers keep them."""
    if hasattr(thing, "untyped_storage"):
        yield thing
    elif depth > 0 and hasattr(thing, "values"):
        for value in list(thing.values()):
            yield from _tensors(value, depth - 1)
    elif depth > 0 and isinstance(thing, list | tuple):
        for value in thing:
            yield from _tensors(value, depth - 1)


def _places(tensors: Iterable[Any], device: str, taken: set[int]) -> Iterator[Place]:
    for tensor in tensors:
        place = _place_of(tensor, device)
        if place is not None and place[0] not in taken:
            taken.add(place[0])
            yield place


def _place_of(tensor: Any, device: str) -> Place | None:
    """Of the storage it lies in; None where it has none: meta, not made yet, given back."""
    try:
        local = getattr(tensor, "_local_tensor", tensor)  # the part of a DTensor that is here
        if local.device.type != device:
            return None
        storage = local.untyped_storage()
        size = storage.nbytes()
        address = storage.data_ptr() if size > 0 else 0
    except Exception:
        return None
    return (address, size) if address else None
