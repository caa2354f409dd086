"""Pauses of Python's garbage collector: a full collection stops every thread of the program.

Each that takes a millisecond or more leaves a counter at its end, the milliseconds it took; shorter
ones, thousands in a run, cost two looks at the clock. A range would reach other tools from inside
the collector, where little should run.
"""

from __future__ import annotations

import gc
import time
from typing import Any

from stepscope import _capture

COUNTER = "python gc ms"
_LEAST_NS = 1_000_000


class CollectorWatch:
    """Listens to the collector from the moment it is made until `stop()`."""

    def __init__(self) -> None:
        self._began = 0
        gc.callbacks.append(self._hear)

    def stop(self) -> None:
        """Listens no longer. Again: nothing."""
        if self._hear in gc.callbacks:
            gc.callbacks.remove(self._hear)

    def _hear(self, phase: str, _: dict[str, Any]) -> None:
        """Called by the collector; only one collection goes on at a time."""
        now = time.perf_counter_ns()
        if phase == "start":
            self._began = now
        elif self._began and now - self._began >= _LEAST_NS:
            _capture.counter(COUNTER, (now - self._began) / 1e6)
