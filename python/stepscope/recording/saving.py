"""A checkpoint is saved: a range of that name, which is part of no step.

Frameworks save through each other's functions; the outermost save is the one that is recorded.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from stepscope._capture import range as named_range

SAVE = "save_checkpoint"  # as Lightning calls it; analyses know the name

_here = threading.local()


class Save:
    """Records one, unless it is part of another on this thread."""

    __slots__ = ("_range",)

    def __init__(self) -> None:
        self._range: Any = None

    def __enter__(self) -> Save:
        if not getattr(_here, "is_saving", False):
            _here.is_saving = True
            self._range = named_range(SAVE)
            self._range.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._range is not None:
            leaving, self._range = self._range, None
            leaving.__exit__(None, None, None)
            _here.is_saving = False


def saving(theirs: Callable[..., Any], is_meant: Callable[..., bool]) -> Callable[..., Any]:
    """The same function, recorded where its arguments say that it saves."""

    @functools.wraps(theirs)
    def save(*args: Any, **kwargs: Any) -> Any:
        if not is_meant(*args, **kwargs):
            return theirs(*args, **kwargs)
        with Save():
            return theirs(*args, **kwargs)

    return save
