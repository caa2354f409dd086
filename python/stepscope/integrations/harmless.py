"""What a framework calls of ours must never stop a training.

The first error is said, in a warning and in the recording; from then on the object is silent.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from stepscope.errors import RecordingWarning
from stepscope.ranges import log

_F = TypeVar("_F", bound=Callable[..., Any])


def harmless(method: _F) -> _F:
    """A method that a framework calls: its errors are said once, and nothing of it is done again.

    `give_up()` of the object is called then. Wrong arguments are an error where the object is made,
    before the training has begun.
    """

    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(self, "has_failed", False):
            return None
        try:
            return method(self, *args, **kwargs)
        except Exception as error:
            self.has_failed = True
            say_failed(type(self).__name__, error)
            with contextlib.suppress(Exception):
                self.give_up()
            return None

    return guarded  # type: ignore[return-value]


def say_failed(part: str, error: Exception) -> None:
    """Once: what failed, and that the training goes on."""
    say_lost(
        f"{part} of stepscope failed and is given up; the training goes on "
        f"({type(error).__name__}: {error})"
    )


def say_lost(text: str) -> None:
    """A warning, which the recording holds too."""
    log(text, level=30)
    with contextlib.suppress(RecordingWarning):  # where warnings are errors, this one is not
        warnings.warn(text, RecordingWarning, stacklevel=4)
