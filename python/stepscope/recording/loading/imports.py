"""What a process reads while it imports modules: code, and no data of the training.

Datasets import decoders when they are asked for their first sample, and the thread that sends a
batch imports what pickles it. The bytes are those of the importing thread, so that others may read
data meanwhile.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stepscope import _capture
from stepscope.recording.loading.usage import io_of_thread

# Only imports of modules that are not there yet come here.
_MACHINERY: Any = importlib._bootstrap
_NAME = "_find_and_load"


@dataclass
class ImportReads:
    """Sums over all threads, since the counting began."""

    read_bytes: int = 0
    storage_bytes: int = 0
    files: int = 0

    def since(self, before: ImportReads) -> ImportReads:
        """What came since then."""
        return ImportReads(
            self.read_bytes - before.read_bytes,
            self.storage_bytes - before.storage_bytes,
            self.files - before.files,
        )


class ImportCounter:
    """Counts while it is put in."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begins anew, as in a child that was forked."""
        self._sums = ImportReads()
        self._counts_files = False
        self._lock = threading.Lock()
        self._depth = threading.local()
        self._before: Callable[..., Any] | None = None
        self._mine: Callable[..., Any] | None = None

    def now(self) -> ImportReads:
        """As it stands."""
        with self._lock:
            return ImportReads(self._sums.read_bytes, self._sums.storage_bytes, self._sums.files)

    def put_in(self, *, counts_files: bool) -> None:
        """From now on; not where the interpreter has no such place.

        Args:
            counts_files: whether files are counted in this process at all.
        """
        self._counts_files = counts_files
        before = getattr(_MACHINERY, _NAME, None)
        if before is None or self._mine is not None:
            return

        def find_and_load(*args: Any, **kwargs: Any) -> Any:
            begun = self._begin()
            try:
                return before(*args, **kwargs)
            finally:
                self._end(begun)

        # Python takes frames of its own machinery out of tracebacks: nobody is to see ours.
        code = find_and_load.__code__
        find_and_load.__code__ = code.replace(co_filename=before.__code__.co_filename)
        self._before, self._mine = before, find_and_load
        setattr(_MACHINERY, _NAME, find_and_load)

    def take_out(self) -> None:
        """As it was, unless somebody has come on top."""
        if self._mine is not None and getattr(_MACHINERY, _NAME, None) is self._mine:
            setattr(_MACHINERY, _NAME, self._before)
        self._mine = None

    def _begin(self) -> tuple[int, int, int] | None:
        """Of the outermost import of a thread; None for those inside."""
        depth = getattr(self._depth, "value", 0)
        self._depth.value = depth + 1
        if depth > 0:
            return None
        files = self._files()  # before the one that we open
        io = io_of_thread()
        return None if io is None else (io.read_bytes, io.storage_bytes, files)

    def _end(self, begun: tuple[int, int, int] | None) -> None:
        self._depth.value -= 1
        if begun is None:
            return
        io = io_of_thread()
        if io is None:
            return
        files = self._files()
        with self._lock:
            self._sums.read_bytes += max(0, io.read_bytes + io.own_bytes - begun[0])
            self._sums.storage_bytes += max(0, io.storage_bytes - begun[1])
            self._sums.files += max(0, files - begun[2])

    def _files(self) -> int:
        return (_capture.opened_files() or 0) if self._counts_files else 0


COUNTER = ImportCounter()  # one per process: there is one importing machinery
os.register_at_fork(after_in_child=COUNTER.forget)
