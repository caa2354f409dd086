"""Processes that a recorded process starts: they find its folder and write their own files there.

Forked ones need nothing: the recorder goes on in them. Spawned ones are new programs that find
the folder in the environment as soon as they use a range.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stepscope import _capture

VARIABLE = "STEPSCOPE_RANK_FOLDER"

# The file that joining began, so that a recording of this process's own can take its place.
_joined: Path | None = None
_is_prepared = False


def invite(folder: Path, environment: dict[str, str] | os._Environ[str] = os.environ) -> None:
    """Processes started from here on record into this rank's folder."""
    environment[VARIABLE] = str(folder)


def withdraw() -> None:
    """No longer."""
    os.environ.pop(VARIABLE, None)


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

    A worker that cannot write must not fail its parent's training, and the parent cannot be told.
    """
    global _joined
    folder = os.environ.get(VARIABLE)
    if not folder or _capture.is_recording():
        return
    file = Path(folder) / f"worker-{os.getpid()}.scope"
    about = {"role": "worker"}
    if (rank := file.parent.name.removeprefix("rank")).isdigit():
        about["rank"] = str(int(rank))
    try:
        _capture.start(folder, file.name, about)
    except OSError:
        return
    _joined = file
    _finish_with_multiprocessing()
    finish_in_forked_workers()  # a fork server joins first, and its children are forked


def leave() -> None:
    """A recording of its own begins here: what joining began ends, and goes if it is empty."""
    global _joined
    if _joined is None:
        return
    file, _joined = _joined, None
    _capture.stop()
    cost = _capture.cost()
    if cost["records"] == 0 and cost["log_lines"] == 0:
        file.unlink(missing_ok=True)
