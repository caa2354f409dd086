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

import inspect
import logging
import os
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

from stepscope import _capture
from stepscope._capture import counter, instant, range
from stepscope.around import around, awaited_within, resumed_within

__all__ = ["LogHandler", "counter", "instant", "log", "range", "step"]


def step() -> None:
    """A training step ends now: `step()` of the profile that runs, from anywhere; else nothing."""
    from stepscope.recording.profile import current

    if (recording := current()) is not None:
        recording.step()


def log(
    text: object, *values: object, level: int | str = logging.INFO, logger: str = "stepscope"
) -> None:
    """A line of its own, beside what the trace shows of that moment.

    Args:
        text: the line; with values in it as in `logging`: `log("loss %.3f", loss)`.
        values: that take the places of `%…`. Where they do not fit, they are added as they are.
        level: a number or a name of `logging`.
        logger: the name it is recorded under.
    """
    line = _shown(lambda: str(text) % values if values else str(text))
    if line is None:
        line = _shown(lambda: f"{text!s} {values!r}") or _UNSHOWN
    _capture.log(_level_number(level), _shown(lambda: str(logger)) or _UNSHOWN, line)


_UNSHOWN = "(a line whose values cannot be shown)"


def _shown(make: Callable[[], str]) -> str | None:
    """None where a value fails to show itself, as it may in any way: nothing is to be raised."""
    try:
        return make()
    except Exception:
        return None


def _level_number(level: int | str) -> int:
    """What `logging` calls so; INFO for anything else: a line must not stop a training."""
    number = logging.getLevelName(level.upper()) if isinstance(level, str) else level
    return number if isinstance(number, int) and abs(number) < 1 << 31 else logging.INFO


class LogHandler(logging.Handler):
    """Puts what a program logs into its recording; `logging.getLogger().addHandler` takes it.

    Each line has its time, thread, step, level and logger; the recording knows process and rank. A
    line that reaches two of these is recorded once.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Called by logging; an error in the line must not become one of the program."""
        if record.__dict__.setdefault("stepscope_recorded_by", id(self)) != id(self):
            return
        text = _shown(lambda: str(self.format(record)))
        if text is None:  # logging tells of it where the line is printed
            text = _shown(lambda: f"{record.msg!s} {record.args!r}") or _UNSHOWN
        name = _shown(lambda: str(record.name)) or _UNSHOWN
        _capture.log(_level_number(record.levelno), name, text)


def _decorate(function: Callable[..., Any], name: str | None) -> Callable[..., Any]:
    """The function with a range around each call; a coroutine's lasts from its start to its end.

    A generator has one each time it runs: what is done with its items is not its own.
    """
    if not callable(function) and not isinstance(function, classmethod):
        raise TypeError(f"a range stands above a function, not above {function!r}")
    if isinstance(function, classmethod | staticmethod):  # the range stands above the other
        return type(function)(_decorate(function.__func__, name))
    begin = partial(range, name or getattr(function, "__qualname__", None) or repr(function))
    if inspect.isgeneratorfunction(function):
        return around(function, nullcontext, partial(resumed_within, begin))
    if inspect.isasyncgenfunction(function):
        return around(function, nullcontext, partial(awaited_within, begin))
    return around(function, begin)


def _warn(key: str, text: str) -> None:
    """Of something odd that a program records: warned of once, in the recording that runs."""
    if _capture.is_recording():
        from stepscope.recording.profile import warn_once

        warn_once(key, text)


_capture.set_decorate(_decorate)
_capture.set_warn(_warn)

# A process that a recorded one spawned records too.
if "STEPSCOPE_RANK_FOLDER" in os.environ:
    from stepscope.recording import children

    children.join()
