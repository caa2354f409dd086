"""Memory of this process as the system counts it."""

from __future__ import annotations

import contextlib
import os

_PAGE = os.sysconf("SC_PAGE_SIZE")
_statm = -1  # kept open: asked before and after every line that is measured


def _pages() -> tuple[int, int]:
    """Resident now, and how many of those are of files and shared; 0 if the system does not say."""
    global _statm
    for _ in range(2):
        try:
            if _statm < 0:
                _statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
            fields = os.pread(_statm, 128, 0).split()
            return int(fields[1]), int(fields[2])
        except (OSError, IndexError, ValueError):  # noqa: PERF203
            _statm = -1  # closed by a program that closes every file
    return 0, 0


def resident_bytes() -> int:
    """Resident now; 0 where the system does not say."""
    return _pages()[0] * _PAGE


def private_bytes() -> int:
    """Resident and of this process alone: no files it has mapped, such as a data set."""
    resident, shared = _pages()
    return (resident - shared) * _PAGE


def _forget_in_child() -> None:
    """The file is about the process that opened it."""
    global _statm
    with contextlib.suppress(OSError):
        if _statm >= 0:
            os.close(_statm)
    _statm = -1


os.register_at_fork(after_in_child=_forget_in_child)


def peak_resident_bytes() -> int:
    """The most that was ever resident."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
