"""Memory of this process as the system counts it."""

from __future__ import annotations

import os
from pathlib import Path

_STATM = Path("/proc/self/statm")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_bytes() -> int:
    """Resident now; 0 where the system does not say."""
    try:
        return int(_STATM.read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


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
