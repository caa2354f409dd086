"""What the kernel counts of a process that loads data: bytes, processor time, waiting for a core.

Read before and after a batch. What a system does not tell (no /proc, no schedstat) is None, never a
zero.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass

_ENOUGH = 512  # bytes of such a file


@dataclass
class Usage:
    """At one moment, or between two."""

    cpu_ns: int
    read_bytes: int | None = None
    storage_bytes: int | None = None
    starved_ns: int | None = None

    def since(self, before: Usage) -> Usage:
        """What came since then."""
        return Usage(
            self.cpu_ns - before.cpu_ns,
            _less(self.read_bytes, before.read_bytes),
            _less(self.storage_bytes, before.storage_bytes),
            _less(self.starved_ns, before.starved_ns),
        )


class UsageReader:
    """Of this process, or of the thread that makes it where the process does other things too."""

    def __init__(self, *, whole_process: bool) -> None:
        place = "/proc/self" if whole_process else "/proc/thread-self"
        self._cpu_ns = time.process_time_ns if whole_process else time.thread_time_ns
        self._io = _opened(f"{place}/io")
        # Of the first thread: the one of a worker that loads.
        self._schedule = _opened(f"{place}/schedstat")
        self._own_bytes = 0  # that reading the last figures added to them

    def close(self) -> None:
        """Files are closed."""
        for file in (self._io, self._schedule):
            if file is not None:
                os.close(file)
        self._io = self._schedule = None

    def now(self) -> Usage:
        """All figures as they stand."""
        usage = Usage(self._cpu_ns())
        try:
            self._read_into(usage)
        except (OSError, IndexError, ValueError):  # the worker must load, whatever the system says
            self.close()
        return usage

    def _read_into(self, usage: Usage) -> None:
        own = 0
        if self._schedule is not None:
            text = os.pread(self._schedule, _ENOUGH, 0)
            own += len(text)
            usage.starved_ns = int(text.split()[1])
        if self._io is not None:
            text = os.pread(self._io, _ENOUGH, 0)
            words = text.split()  # rchar: 1 wchar: 2 syscr: 3 syscw: 4 read_bytes: 5
            # Says what was read before this very read.
            usage.read_bytes = int(words[1]) - self._own_bytes - own
            usage.storage_bytes = int(words[9])
            own += len(text)
        self._own_bytes += own


@dataclass
class ThreadIo:
    """What a thread has read so far."""

    read_bytes: int  # before this very look
    storage_bytes: int
    own_bytes: int  # that the look itself read


def io_of_thread(thread: int | None = None) -> ThreadIo | None:
    """Of this thread, or of one of this process by its number; None where it is unknown."""
    place = "thread-self" if thread is None else f"self/task/{thread}"
    try:
        file = os.open(f"/proc/{place}/io", os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(file, _ENOUGH)
        finally:
            os.close(file)
        words = text.split()
        return ThreadIo(int(words[1]), int(words[9]), len(text))
    except (OSError, IndexError, ValueError):
        return None


def sharing_thread() -> int | None:
    """The thread that hands batches in shared memory to the main process, where there is one."""
    sharer = sys.modules.get("multiprocessing.resource_sharer")
    thread = getattr(getattr(sharer, "_resource_sharer", None), "_thread", None)
    return getattr(thread, "native_id", None)


def _less(now: int | None, before: int | None) -> int | None:
    return None if now is None or before is None else max(0, now - before)


def _opened(path: str) -> int | None:
    """The file, if it can be read and is what we know."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        words = os.pread(file, _ENOUGH, 0).split()
        known = len(words) >= 2 and words[1].isdigit()
        if path.endswith("io"):
            known = known and len(words) >= 10 and words[8] == b"read_bytes:"
    except OSError:
        known = False
    if not known:
        os.close(file)
        return None
    return file
