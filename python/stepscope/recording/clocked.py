"""A range that notes the processor time of its thread: whether what is in it works or waits."""

from __future__ import annotations

import time
from types import TracebackType

from stepscope import _capture

# Shorter ones are never what holds a training up; their counters would only cost.
_WORTH_NOTING_NS = 200_000


class ClockedRange:
    """Like `range`, with a counter of its name behind it where it took long."""

    __slots__ = ("_began_cpu_ns", "_began_ns", "_name", "_range")

    def __init__(self, name: str) -> None:
        self._name = name
        self._range = _capture.range(name)

    def __enter__(self) -> ClockedRange:
        self._range.__enter__()
        self._began_ns, self._began_cpu_ns = time.perf_counter_ns(), time.thread_time_ns()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        is_long = time.perf_counter_ns() - self._began_ns >= _WORTH_NOTING_NS
        used = time.thread_time_ns() - self._began_cpu_ns if is_long else 0
        self._range.__exit__(kind, error, trace)
        if is_long:
            _capture.counter(f"processor time#{self._name}", used)
