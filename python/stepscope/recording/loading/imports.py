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
from stepscope.recording.loading.usage import ThreadIo, io_of_thread

# Only imports of modules that are not there yet come here.
_MACHINERY: Any = importlib._bootstrap
_NAME = "_find_and_load"


@dataclass
class ImportReads:
    """Since the counting began."""

    read_bytes: int = 0
    storage_bytes: int = 0

    def since(self, before: ImportReads) -> ImportReads:
        """What came since then."""
        return ImportReads(
            self.read_bytes - before.read_bytes, self.storage_bytes - before.storage_bytes
        )


class ImportCounter:
    """Counts while it is put in."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begins anew, as in a child that was forked."""
        self._ended: dict[int, ImportReads] = {}  # by thread: the imports that are over
        self._begun: dict[int, ThreadIo] = {}  # by thread: the one under way
        self._lock = threading.RLock()  # a handler of signals may import while we look
        self._depth = threading.local()
        self._before: Callable[..., Any] | None = None
        self._mine: Callable[..., Any] | None = None
        self.looked_bytes = 0  # that `now` itself has read, in the thread that asks

    def now(self, *, whole_process: bool, besides: int | None = None) -> ImportReads:
        """As it stands: of all threads, or of this one. Imports under way count as far as they are.

        A thread may have begun to import before a batch and end within it.

        Args:
            whole_process: of all threads.
            besides: a thread that is left out.
        """
        sums = ImportReads()
        with self._lock:
            own = threading.get_native_id()
            for thread, reads in list(self._ended.items()):
                if thread != besides and (whole_process or thread == own):
                    sums.read_bytes += reads.read_bytes
                    sums.storage_bytes += reads.storage_bytes
            _capture.set_importing(True)  # the files that we open ourselves are no data
            for thread, begun in list(self._begun.items()):
                if thread == besides or not (whole_process or thread == own):
                    continue
                if (io := io_of_thread(thread)) is not None:
                    self.looked_bytes += io.own_bytes
                    sums.read_bytes += max(0, io.read_bytes - begun.read_bytes)
                    sums.storage_bytes += max(0, io.storage_bytes - begun.storage_bytes)
            _capture.set_importing(False)
        return sums

    def put_in(self) -> None:
        """From now on; not where the interpreter has no such place."""
        before = getattr(_MACHINERY, _NAME, None)
        if before is None or self._mine is not None:
            return

        def find_and_load(*args: Any, **kwargs: Any) -> Any:
            is_outermost = self._begin()
            try:
                return before(*args, **kwargs)
            finally:
                self._end(is_outermost)

        # Python takes frames of its own machinery out of tracebacks: ours must not be seen either.
        code = find_and_load.__code__
        find_and_load.__code__ = code.replace(co_filename=before.__code__.co_filename)
        self._before, self._mine = before, find_and_load
        setattr(_MACHINERY, _NAME, find_and_load)

    def take_out(self) -> None:
        """As it was, unless something was put on top."""
        if self._mine is not None and getattr(_MACHINERY, _NAME, None) is self._mine:
            setattr(_MACHINERY, _NAME, self._before)
        self._mine = None

    def _begin(self) -> bool:
        """Whether it is the outermost import of its thread."""
        depth = getattr(self._depth, "value", 0)
        self._depth.value = depth + 1
        if depth > 0:
            return False
        _capture.set_importing(True)
        with self._lock:  # what the look itself reads is never seen without being known
            if (io := io_of_thread()) is not None:
                self._begun[threading.get_native_id()] = io
        return True

    def _end(self, is_outermost: bool) -> None:
        self._depth.value -= 1
        if not is_outermost:
            return
        thread = threading.get_native_id()
        with self._lock:
            io = io_of_thread()
            begun = self._begun.pop(thread, None)
            if begun is not None and io is not None:
                sums = self._ended.setdefault(thread, ImportReads())
                # With what both looks read themselves.
                sums.read_bytes += max(0, io.read_bytes + io.own_bytes - begun.read_bytes)
                sums.storage_bytes += max(0, io.storage_bytes - begun.storage_bytes)
        _capture.set_importing(False)


COUNTER = ImportCounter()  # one per process: there is one importing machinery
os.register_at_fork(after_in_child=COUNTER.forget)
