"""Memory of this process as the system counts it."""

from __future__ import annotations

import contextlib
import os

_PAGE = os.sysconf("SC_PAGE_SIZE")
_statm = -1  # kept open: asked before and after every line that is measured


def resident_bytes() -> int:
    """Resident now; 0 where the system does not say."""
    global _statm
    for _ in range(2):
        try:
            if _statm < 0:
                _statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
            return int(os.pread(_statm, 128, 0).split()[1]) * _PAGE
        except (OSError, IndexError, ValueError):  # noqa: PERF203
            _statm = -1  # closed by somebody who closes everything
    return 0


def _forget_in_child() -> None:
    """The file is about the process that opened it."""
    global _statm
    with contextlib.suppress(OSError):
        if _statm >= 0:
            os.close(_statm)
    _statm = -1


os.register_at_fork(after_in_child=_forget_in_child)


def private_bytes() -> int:
    """Resident and of this process alone: no files it has mapped, such as a data set."""
    try:
        fields = _STATM.read_bytes().split()
        return (int(fields[1]) - int(fields[2])) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def peak_resident_bytes() -> int:
    """The most that was ever resident."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
