"""Lines of `logging` go into the recording while it runs."""

from __future__ import annotations

import logging

from stepscope.ranges import LogHandler
from stepscope.recording.settings import Settings


def listen_to_logs(settings: Settings) -> LogHandler | None:
    """A handler beside those that are there, on the root logger; None where none is wanted."""
    if settings.log_level is None or not settings.ranges:
        return None
    handler = LogHandler(settings.log_level)
    logging.getLogger().addHandler(handler)
    return handler
