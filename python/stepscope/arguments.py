"""Arguments before the core gets them: its own words about a wrong one are of C++ types."""

from __future__ import annotations

import os
from operator import index

from stepscope.errors import UsageError

_OTHER_NAME = "rename the file, or make a link to it that has another name"


def is_utf8(text: str) -> bool:
    """Whether the core can be given it; names of files may hold any bytes."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def not_utf8(text: str) -> str:
    """What to say about a text that is none."""
    return f"not UTF-8: '{_shown(text)}'"


def _shown(text: str) -> str:
    """With two digits for each byte that is no UTF-8, as the shell writes it."""
    bytes_shown = (f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c for c in text)
    return "".join(bytes_shown).encode("utf-8", "backslashreplace").decode("utf-8")


def path_text(name: str, path: object) -> str:
    """A path as the core takes it."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str):
        raise UsageError(f"{name} is a string or a Path object, not {path!r}")
    if not is_utf8(text):
        raise UsageError(f"{name} is {not_utf8(text)}; {_OTHER_NAME}")
    return text


def optional_path(name: str, path: object) -> str:
    """The same; empty where it is left out."""
    return "" if path is None else path_text(name, path)


def whole_number(value: object) -> int | None:
    """Of Python, numpy or torch, also 2.0; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    is_whole = getattr(value, "is_integer", None)  # of a float, numpy's too
    return int(value) if callable(is_whole) and is_whole() else None  # type: ignore[call-overload]
