"""What a recording has to say: to the user as warnings, to later readers in rank.json.

rank.json is written anew, whole, whenever something is added: killed at any moment, a process
leaves the last state of it.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from stepscope import _capture
from stepscope.errors import RecordingWarning
from stepscope.recording.run_folder import RankFolder


class Notices:
    """Warnings, windows and the end of one process's recording."""

    def __init__(
        self,
        rank: RankFolder,
        facts: dict[str, Any],
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._rank = rank
        self._tell = tell  # the user, by other means than Python's warnings
        self._facts = {**facts, "windows": [], "warnings": []}
        self._warned: set[str] = set()
        self._write()

    def warn(self, text: str) -> None:
        """A Python warning, a line in the recording, and an entry in rank.json."""
        _capture.log(logging.WARNING, "stepscope", text)
        self._facts["warnings"].append({"text": text, "time_ns": time.time_ns()})
        self._write()
        if self._tell is not None:
            self._tell(text)
            return
        warn_in_python(text)

    def warn_once(self, key: str, text: str) -> None:
        """Likewise, of what may happen in every step."""
        if key not in self._warned:
            self._warned.add(key)
            self.warn(text)

    def add_window(self, facts: dict[str, Any]) -> None:
        """A window was closed."""
        self._facts["windows"].append(facts)
        self._write()

    def complete_cost(self, spent_ns: int) -> None:
        """All that the last window cost the training, beside what it could tell itself."""
        costs = self._facts["windows"][-1].setdefault("cost_ns", {})
        # Written with whatever comes next: writing would be a cost again.
        costs["other"] = max(0, spent_ns - sum(costs.values()))

    def set(self, **facts: Any) -> None:
        """Other facts about this process."""
        self._facts.update(facts)
        self._write()

    def _write(self) -> None:
        # A full disk: the recorder's own file tells of it.
        with contextlib.suppress(OSError):
            self._rank.write_json("rank.json", self._facts)


def shown(error: BaseException) -> str:
    """Its text; an error may fail in that, too."""
    try:
        return str(error)
    except Exception:
        return "(an error that cannot be shown)"


def warn_in_python(text: str) -> None:
    """Where warnings are errors this one is not: it must not stop a training."""
    with contextlib.suppress(RecordingWarning):
        warnings.warn(text, RecordingWarning, stacklevel=_frames_of_this_package())


def _frames_of_this_package() -> int:
    """So that a warning names the line of the user's that led to it."""
    frame, count = sys._getframe(1), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("stepscope."):
        frame, count = frame.f_back, count + 1  # type: ignore[assignment]
    return count
