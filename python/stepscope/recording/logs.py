"""Lines of `logging` go into the recording while it runs.

Not by a handler on the root logger: with one there, `logging.basicConfig` would do nothing any
more, and warnings of programs that set nothing up would no longer be printed. Handlers, levels and
what is printed stay as they are.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

from stepscope import _capture
from stepscope.recording.settings import Settings


def listen_to_logs(settings: Settings) -> LogListener | None:
    """From now on, every line that a logger handles is recorded; None where none is wanted."""
    if settings.log_level is None or not settings.ranges:
        return None
    return LogListener(settings.log_level)


class LogListener:
    """Called after the handlers of every logger, until `stop`."""

    def __init__(self, level: int) -> None:
        from stepscope.ranges import LogHandler  # which joins a recording that needs this file

        self._handler = LogHandler(level)
        self._is_on = True
        before: Callable[..., Any] = logging.Logger.callHandlers
        self._before = before

        def call_handlers(logger: logging.Logger, record: logging.LogRecord) -> None:
            before(logger, record)
            if self._is_on and record.levelno >= self._handler.level:
                self._handler.handle(record)

        self._mine = call_handlers
        logging.Logger.callHandlers = call_handlers  # type: ignore[method-assign,assignment]

    def add_earlier(self, lines: Iterable[tuple[int, int, str, str]]) -> None:
        """Lines from before it listened: when, at which level, by whom, what."""
        now = time.time_ns()
        for when, level, logger, text in lines:
            if level >= self._handler.level:
                early = f"{max(0, now - when) / 1e9:.1f} s before the recording began"
                _capture.log(level, logger, f"{text} ({early})")

    def stop(self) -> None:
        """Takes itself away; where something was put on top since, it only falls silent."""
        self._is_on = False
        if logging.Logger.callHandlers is self._mine:
            logging.Logger.callHandlers = self._before  # type: ignore[method-assign]
