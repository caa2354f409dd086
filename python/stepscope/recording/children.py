"""Processes that a recorded process starts: they find its folder and write their own files there.

Forked ones need nothing: the recorder goes on in them. Spawned ones are new programs that find
the folder in the environment as soon as they use a range; from then on lines of `logging` are
recorded there, too, as the recording was asked to.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import _capture
from stepscope.recording.foreign_text import folder_for_recorder

if TYPE_CHECKING:
    from stepscope.recording.logs import LogListener

VARIABLE = "STEPSCOPE_RANK_FOLDER"
# The least level of log lines, a number; empty: none are wanted; not there: all, as by default.
LOG_LEVEL = "STEPSCOPE_LOG_LEVEL"

# The file that joining began, so that a recording of this process's own can take its place.
_joined: Path | None = None
_logs: LogListener | None = None  # of a process that joined
_is_prepared = False
_is_forked = False  # from a process that may have recorded


def invite(folder: Path, log_level: int | None) -> None:
    """Processes started from here on record into this rank's folder, and lines of such a level."""
    os.environ[VARIABLE] = str(folder)
    os.environ[LOG_LEVEL] = "" if log_level is None else str(log_level)


def withdraw() -> None:
    """No longer."""
    for name in (VARIABLE, LOG_LEVEL):
        os.environ.pop(name, None)


def _finish_with_multiprocessing(_: object = None) -> None:
    """Its processes end without running what Python runs at exit, but they ask this list."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, _capture.stop, exitpriority=-100)


def finish_in_forked_workers() -> None:
    """Processes that multiprocessing forks from here on write their last before they end."""
    from multiprocessing import util

    global _is_prepared
    if not _is_prepared:
        _is_prepared = True
        util.register_after_fork(finish_in_forked_workers, _finish_with_multiprocessing)


def join() -> None:
    """Records this process as a worker, if a parent invited it; silent where that fails.

    A worker that cannot write must not fail its parent's training, and cannot reach the parent.
    """
    global _joined, _logs
    folder = os.environ.get(VARIABLE)
    if not folder or _capture.is_recording():
        return
    file = Path(folder) / f"worker-{os.getpid()}.scope"
    about = {"role": "worker"}
    if (rank := file.parent.name.removeprefix("rank")).isdigit():
        about["rank"] = str(int(rank))
    try:
        _capture.start(folder_for_recorder(folder), file.name, about)
    except OSError:
        return
    _joined = file
    # A handler of the program's own decides; one that comes later replaces this.
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        _capture.finish_on_sigterm()
    _logs = _listen_to_logs()
    _finish_with_multiprocessing()
    finish_in_forked_workers()  # a fork server joins first, and its children are forked


def _listen_to_logs() -> LogListener | None:
    from stepscope.recording.logs import LogListener  # which needs what joins

    level = os.environ.get(LOG_LEVEL, str(logging.NOTSET))
    return LogListener(int(level)) if level.isdecimal() else None


def _note_fork() -> None:
    """A forked child goes on recording; where it begins a run of its own, that ends."""
    global _is_forked
    _is_forked = True


os.register_at_fork(after_in_child=_note_fork)


def leave() -> None:
    """A recording of its own begins here: what joining began ends, and goes if it is empty."""
    global _joined, _logs, _is_forked
    file = _joined
    if _is_forked:
        file = Path(path) if (path := _capture.path()) else None
    _joined, _is_forked = None, False
    if file is None:
        return
    if _logs is not None:
        _logs.stop()
        _logs = None
    _capture.stop()
    cost = _capture.cost()
    if cost["records"] == 0 and cost["log_lines"] == 0:
        file.unlink(missing_ok=True)
