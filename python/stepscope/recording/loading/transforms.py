"""How long a dataset's transforms take, by putting a stopwatch in their place.

Only where the dataset is a worker's own copy, or while a batch is being made. What cannot be
exchanged stays as it is, and its time is counted as fetching.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# Attributes and methods of datasets that are transforms by custom (torchvision, timm, MONAI, …).
USUAL = (
    "transform",
    "transforms",
    "target_transform",
    "joint_transform",
    "augment",
    "augmentation",
    "augmentations",
    "preprocess",
)
# Datasets inside of datasets: torch's Subset and ConcatDataset, and those that follow them.
_INSIDE = ("dataset", "datasets")
_DEEPEST = 8
_MOST_DATASETS = 1000


class Stopwatch:
    """The time that passed in calls; a call within a call is part of it."""

    __slots__ = ("inside", "ns")

    def __init__(self) -> None:
        self.ns = 0
        self.inside = False

    def take(self) -> int:
        """Since last asked."""
        taken, self.ns = self.ns, 0
        return taken


class TimedCall:
    """A callable in whose place it stands, but for the time that calls take."""

    __slots__ = ("_inner", "_stopwatch")

    def __init__(self, inner: Callable[..., Any], stopwatch: Stopwatch) -> None:
        self._inner = inner
        self._stopwatch = stopwatch

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As the callable would, on the clock."""
        stopwatch = self._stopwatch
        if stopwatch.inside:
            return self._inner(*args, **kwargs)
        stopwatch.inside = True
        start = time.perf_counter_ns()
        try:
            return self._inner(*args, **kwargs)
        finally:
            stopwatch.ns += time.perf_counter_ns() - start
            stopwatch.inside = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self._inner.__class__

    def __repr__(self) -> str:
        return repr(self._inner)

    def __reduce__(self) -> Any:  # a dataset that pickles itself gets what is its own
        return _same, (self._inner,)


def _same(one: Any) -> Any:
    return one


class Exchange:
    """One attribute of one dataset, and the stopwatch that takes its place."""

    def __init__(self, owner: Any, name: str, stopwatch: Stopwatch) -> None:
        self._owner, self._name = owner, name
        self._was: Any = None
        self._own: dict[str, Any] | None = _own_attributes(owner)
        self._had = self._own is None or name in self._own
        self._stopwatch = stopwatch

    def put_in(self) -> bool:
        """False where the dataset does not let us, or the attribute is no longer a transform."""
        try:
            current = getattr(self._owner, self._name)
            if type(current) is TimedCall or not _is_transform(current):
                return False
            self._was = current
            self._set(TimedCall(current, self._stopwatch))
            if type(getattr(self._owner, self._name)) is not TimedCall:  # a property hides it
                self._forget()
                return False
        except Exception:  # a dataset may do anything in a property
            return False
        return True

    def take_out(self) -> None:
        """As it was; what the dataset itself set meanwhile stays."""
        try:
            if type(getattr(self._owner, self._name)) is not TimedCall:
                return
            self._forget()
        except Exception:
            return

    def _forget(self) -> None:
        if self._own is not None and not self._had:
            self._own.pop(self._name, None)
        else:
            self._set(self._was)

    def _set(self, value: Any) -> None:
        if self._own is not None:
            self._own[self._name] = value  # past a __setattr__ that checks or copies
        else:
            setattr(self._owner, self._name, value)


def _own_attributes(owner: Any) -> dict[str, Any] | None:
    try:
        own = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return None
    return own if isinstance(own, dict) else None


def _is_transform(one: Any) -> bool:
    return callable(one) and not isinstance(one, type)


def exchanges(dataset: Any, names: Iterable[str], stopwatch: Stopwatch) -> list[Exchange]:
    """For all transforms of a dataset and of those inside it."""
    return [
        Exchange(one, name, stopwatch)
        for one in datasets_in(dataset)
        for name in names
        if _has_transform(one, name)
    ]


def _has_transform(owner: Any, name: str) -> bool:
    try:
        return _is_transform(getattr(owner, name, None))
    except Exception:  # a property of the user's class
        return False


def datasets_in(dataset: Any) -> Iterator[Any]:
    """A dataset and those it is made of, each once."""
    seen: set[int] = set()
    level = [dataset]
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for one in level:
            if one is None or id(one) in seen or len(seen) >= _MOST_DATASETS:
                continue
            seen.add(id(one))
            yield one
            own = _own_attributes(one) or {}
            for name in _INSIDE:
                inner = own.get(name)
                if isinstance(inner, list | tuple):
                    below += [part for part in inner if hasattr(part, "__dict__")]
                elif hasattr(inner, "__dict__"):
                    below.append(inner)
        level = below
