"""How many samples a batch holds, by its shape as default collation makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

# What `watch(samples=…)` takes: a number, or a function of the batch.
Samples = int | Callable[[Any], int]

_DEEPEST = 4
_MOST_PARTS = 64  # that are looked at for their bytes; of more, none is known


def samples_in(batch: Any, most: int | None = None) -> int | None:
    """The number, or None where the batch does not tell.

    Args:
        batch: as the loader gave it.
        most: a batch cannot hold more; a larger number is something else's length.
    """
    found = _stated(batch) or _length(batch, _DEEPEST)
    if most is not None and (found is None or found > most):
        return most
    return found


def _stated(batch: Any) -> int | None:
    """Batches of graphs and of packed sequences say it."""
    for name in ("num_graphs", "batch_size"):
        stated = getattr(batch, name, None)
        if isinstance(stated, int) and not isinstance(stated, bool) and stated > 0:
            return stated
    return None


def _length(part: Any, deeper: int) -> int | None:
    shape = getattr(part, "shape", None)
    if shape is not None:
        try:
            return int(shape[0]) if len(shape) > 0 else None
        except TypeError:
            return None
    if deeper == 0 or isinstance(part, str | bytes):
        return None
    if isinstance(part, Mapping):
        return next((n for one in part.values() if (n := _length(one, deeper - 1))), None)
    if isinstance(part, list | tuple):
        inside = next((n for one in part if (n := _length(one, deeper - 1))), None)
        return inside or len(part) or None
    return None


def bytes_in(batch: Any) -> int | None:
    """Of its tensors and arrays; None where it has too many parts, or none of them tells."""
    found, parts, seen = 0, [batch], 0
    while parts:
        part = parts.pop()
        seen += 1
        size = getattr(part, "nbytes", None)
        if isinstance(size, int):
            found += size
        elif isinstance(part, Mapping):
            parts += list(part.values())
        elif isinstance(part, list | tuple):
            parts += part
        if seen + len(parts) > _MOST_PARTS:
            return None
    return found or None
