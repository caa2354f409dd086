"""Forked children of a process in which torch's profiler has run: they must be able to leave.

Kineto keeps a thread, and a fork does not copy it. When such a child ends by exit(), Kineto waits
for that thread: for ever, or the C++ runtime aborts it (torch 2.15). A program that never asked for
a profiler must not meet that. So these children leave as those of multiprocessing do, without what
their parent had registered to be done at the end; what they registered themselves is done.
"""

from __future__ import annotations

import ctypes
import os


class _Exit:
    """How children of this process end."""

    def __init__(self) -> None:
        self._libc: ctypes.CDLL | None = None

    def is_prepared(self) -> bool:
        return self._libc is not None

    def prepare(self) -> None:
        self._libc = ctypes.CDLL(None)
        os.register_at_fork(after_in_child=self._shorten)

    def _shorten(self) -> None:
        libc = self._libc
        if libc is None or not hasattr(libc, "on_exit"):  # another libc than glibc
            return
        # Done in reverse order: files of C are written out, then it is gone with its status.
        libc.on_exit(libc._exit, None)
        libc.on_exit(libc.fcloseall, None)


_EXIT = _Exit()


def let_children_leave() -> None:
    """Before torch's profiler begins; once for a process."""
    if not _EXIT.is_prepared():
        _EXIT.prepare()
