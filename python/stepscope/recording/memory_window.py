"""A window of the allocator's history: what asked for memory and when it came back, as a snapshot.

The snapshot is written when the window closes. History that the program itself records is left
alone and only looked at.
"""

from __future__ import annotations

import time
from typing import Any

from stepscope.recording import memory_history, memory_places
from stepscope.recording.notices import Notices
from stepscope.recording.run_folder import RankFolder
from stepscope.recording.snapshot_file import write_snapshot
from stepscope.recording.snapshot_options import SnapshotOptions
from stepscope.recording.windows import Facts


class MemoryWindow:
    """Drives torch's memory history."""

    kind = "snapshot"

    def __init__(self, options: SnapshotOptions) -> None:
        self._options = options
        self._next_file = 0
        self._step = 0
        self._step_starts_ns: list[int] = []
        self._is_recording = False
        self._is_mine = False  # and not the program's own history
        self._places: memory_places.MemoryPlaces | None = None
        self._complained = ""
        self._start_cost_ns = 0
        self._stacks = options.stacks

    def begin_run(self, rank: RankFolder, notices: Notices) -> None:
        """Nothing is loaded yet: torch may be imported later than this."""
        self._rank = rank
        self._notices = notices

    def warm_up(self, step: int) -> None:
        """There is nothing to warm up."""

    def open(self, step: int) -> None:
        """The history begins here; without a GPU it is said once that there is none."""
        if reason := memory_history.why_not():
            if reason != self._complained:
                self._complained = reason
                self._notices.warn(f"no memory snapshot was recorded: {reason}")
            return
        begun = time.perf_counter_ns()
        self._is_mine = not memory_history.is_on()
        if self._is_mine:
            self._stacks = self._stacks_here()
            memory_history.start(self._stacks, self._options.max_entries, self._options.frees)
            if self._stacks == "modules":
                self._places = memory_places.MemoryPlaces()
                self._places.begin(self._options.models)
        self._start_cost_ns = time.perf_counter_ns() - begun
        self._is_recording = True
        self._step = step
        self._step_starts_ns = [time.time_ns()]

    def on_step(self, step: int) -> None:
        """Remembers when steps began, to tell what an overwritten history lost."""
        if self._is_recording:
            self._step = step + 1
            if self._places is not None:
                self._places.reset()
            self._step_starts_ns.append(time.time_ns())

    def close(self, reason: str) -> Facts:
        """Writes the snapshot, and ends the history."""
        if not self._is_recording:
            return {}
        self._end()
        name = f"memory-{self._next_file}"
        self._next_file += 1
        try:
            facts, snapshot = write_snapshot(self._rank, name, self._options, self._step)
        finally:
            if self._is_mine:
                memory_history.stop()
        facts["cost_ns"]["start"] = self._start_cost_ns
        return {
            **facts,
            "start_ns": self._step_starts_ns[0],
            "stacks": self._stacks if self._is_mine else "as the program chose",
            "whole": self._reaches_back(snapshot),
        }

    def drop(self) -> None:
        """Without a file."""
        if self._is_recording:
            self._end()
            if self._is_mine:
                memory_history.stop()

    def _end(self) -> None:
        self._is_recording = False
        if self._places is not None:
            self._places.end()
            self._places = None

    def end_run(self, reason: str) -> None:
        """Nothing is left to do."""

    def _stacks_here(self) -> str:
        """As asked for; Python's where this torch does not keep what modules say."""
        asked = self._options.stacks
        reason = memory_places.why_not() if asked == "modules" else ""
        if not reason:
            return asked
        self._notices.warn(
            f'the memory snapshot has stacks of Python, not stacks="modules": {reason}'
        )
        return "python"

    def _reaches_back(self, snapshot: dict[str, Any]) -> bool:
        """Whether the history holds the whole window; says so where it does not."""
        if not self._is_mine:
            return True
        oldest = memory_history.oldest_ns(snapshot, self._options.max_entries)
        if oldest is None or 0 < oldest <= self._step_starts_ns[0]:
            return True
        in_full = sum(start >= oldest for start in self._step_starts_ns) if oldest else 0
        self._notices.warn(
            f"the memory history was too short: {self._options.max_entries:,} entries hold only "
            f"the last {in_full} of {len(self._step_starts_ns)} step(s) in full; give "
            "snapshot(max_entries=…) more, or fewer steps"
        )
        return False
