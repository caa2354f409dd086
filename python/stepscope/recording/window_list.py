"""The windows that a recording was asked for, and the memory of the moment when each one ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from stepscope.recording.memory_figures import write_memory
from stepscope.recording.memory_window import MemoryWindow
from stepscope.recording.notices import Notices
from stepscope.recording.run_folder import RankFolder
from stepscope.recording.schedule import Position, Schedule
from stepscope.recording.settings import Settings
from stepscope.recording.trace_window import TraceWindow
from stepscope.recording.windows import Limits, ScheduledWindow, Window


class WindowList:
    """All windows of a process; empty where none was asked for, or only on rank 0."""

    def __init__(self, settings: Settings, rank: RankFolder, notices: Notices) -> None:
        self._rank = rank
        self._windows: list[ScheduledWindow] = []
        is_first = rank.placement.rank == 0
        if settings.rank0_only and not is_first:
            return

        def add(window: Window, schedule: Schedule | None = None) -> None:
            limits = Limits(settings.max_bytes, settings.max_seconds)
            self._windows.append(ScheduledWindow(window, schedule or settings.schedule, limits))

        if settings.trace is not None:
            add(TraceWindow(settings.trace, settings.trace_wanted))
        asked = settings.snapshot
        if asked is not None and asked.window and (is_first or not asked.rank0_only):
            add(MemoryWindow(asked), asked.schedule)
        for window in self._windows:
            window.begin_run(rank, notices)

    def __iter__(self) -> Iterator[ScheduledWindow]:
        return iter(self._windows)

    def __bool__(self) -> bool:
        return bool(self._windows)

    def advance(self, ended: int | None, at: Position, number: int) -> bool:
        """A step ended and the next begins; whether something was opened or closed."""
        took_time = False
        for window in self._windows:
            took_time |= self._overhead(window, number, lambda w: w.advance(ended, at, number))
        return took_time

    def end_epoch(self, number: int) -> None:
        """Windows that count by epoch end with it."""
        for window in self._windows:
            if window.schedule.by_epoch:
                self._overhead(window, number, lambda w: w.close("epoch"))

    def close(self, reason: str, number: int) -> None:
        """Whatever is open ends now."""
        for window in self._windows:
            self._overhead(window, number, lambda w: w.close(reason))

    def end_run(self, reason: str, number: int) -> None:
        """Closes them for good."""
        for window in self._windows:
            self._overhead(window, number, lambda w: w.end_run(reason))

    def _overhead(
        self, window: ScheduledWindow, number: int, call: Callable[[ScheduledWindow], bool | None]
    ) -> bool:
        before, begun = window.completed, time.perf_counter_ns()
        did = call(window)
        is_over = window.completed > before
        if is_over:
            write_memory(self._rank, f"{window.kind} {before}", number)
        if did or is_over:
            window.spend(time.perf_counter_ns() - begun, is_over)
        return bool(did)
