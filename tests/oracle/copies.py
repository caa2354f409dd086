"""What copies say: direction, host memory, bytes."""

import re

from oracle.values import integer
from oracle.work import Work

LONG = {"HostToDevice": "HtoD", "DeviceToHost": "DtoH", "DeviceToDevice": "DtoD"}


def kind_of(work: Work) -> str:
    """HtoD, DtoH, …, Memset or other."""
    if work.sort == "memset":
        return "Memset"
    name = work.event.name.split("(")[0]
    for spelled, short in LONG.items():
        name = name.replace(spelled, short)
    found = re.search(r"([HDAPM])(?:to|2)([HDAPM])", name)
    return f"{found[1]}to{found[2]}".replace("M", "H") if found else "other"


def host_memory(work: Work) -> str | None:
    """pinned, pageable or nothing."""
    found = re.search(r"\(.*(Pinned|Pageable|Managed)", work.event.name)
    return found[1].lower() if found else None


def bytes_of(work: Work) -> int | None:
    """How much, where it is said."""
    given = work.event.args.get("bytes", work.event.args.get("size"))
    said = integer(given)
    return said if said is not None and said >= 0 else None
