"""Ranges, counters and log lines of the process that imports this, into its recording.

>>> from stepscope.ranges import range
>>> with range("forward"):
...     pass
>>> @range("load")
... def load():
...     return 1
>>> load()
1

Without a recording a range costs about as much as an empty `with`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from stepscope import _capture
from stepscope._capture import counter, instant, range
from stepscope.around import around

__all__ = ["LogHandler", "counter", "instant", "log", "range", "step"]


def step() -> None:
    """A training step ends now: `step()` of the profile that runs, from anywhere; else nothing."""
    from stepscope.recording.profile import current

    if (recording := current()) is not None:
        recording.step()


def log(text: object, level: int = logging.INFO, logger: str = "stepscope") -> None:
    """A line of its own, beside what the trace shows of that moment."""
    _capture.log(level, logger, str(text))


class LogHandler(logging.Handler):
    """Puts what a program logs into its recording; `logging.getLogger().addHandler` takes it.

    Each line has its time, thread, step, level and logger; the recording knows process and rank. A
    line that reaches two of these is recorded once.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Called by logging; an error in the line must not become one of the program."""
        if record.__dict__.setdefault("stepscope_recorded_by", id(self)) != id(self):
            return
        try:
            text = self.format(record)
        except Exception:  # logging tells of it where the line is printed
            text = f"{record.msg!s} {record.args!r}"
        _capture.log(record.levelno, record.name, text)


def _decorate(function: Callable[..., Any], name: str | None) -> Callable[..., Any]:
    """The function with a range around each call; generators and coroutines around their life."""
    title = name or getattr(function, "__qualname__", None) or repr(function)
    return around(function, partial(range, title))


_capture.set_decorate(_decorate)

# A process that a recorded one spawned records too.
if "STEPSCOPE_RANK_FOLDER" in os.environ:
    from stepscope.recording import children

    children.join()
