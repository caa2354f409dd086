"""Texts that are not ours: arguments, paths and tags may hold bytes that are no UTF-8.

Python carries such bytes as lone surrogates, which cannot be encoded. A training must not fail
because a folder is named so: they are written as escapes, as the recorder does with names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def json_bytes(content: Any, indent: int | None = None) -> bytes:
    """As JSON in UTF-8; what Python does not know how to write, as its text.

    A byte of no UTF-8 becomes JSON's own escape: read again, the text is the same.
    """
    text = json.dumps(content, indent=indent, ensure_ascii=False, default=str)
    return text.encode("utf-8", "backslashreplace")


def writable(settings: Mapping[Any, Any]) -> dict[str, Any]:
    """Settings of a training, which may hold anything: each as it is, else as its text."""
    return {_shown(name): _as_json_has_it(value) for name, value in settings.items()}


def _as_json_has_it(value: Any) -> Any:
    try:
        json.dumps(value, default=str, allow_nan=False)
    except Exception:  # a name that is no text, a list in itself, a value that cannot be shown
        return _shown(value)
    return value


def _shown(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return f"(a {type(value).__name__} that cannot be shown)"


def utf8_text(text: str) -> str:
    """The same, with an escape for each byte that is no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def folder_for_recorder(folder: str | os.PathLike[str]) -> str:
    """A name of the folder that the recorder takes, which wants UTF-8; it holds for good.

    Raises:
        OSError: the folder cannot be opened.
    """
    name, _ = _named_in_utf8(folder)  # stays open: forked processes write there, too
    return name


@contextmanager
def path_for_torch(file: Path) -> Iterator[str]:
    """The same for a file that torch writes, while it does."""
    folder, opened = _named_in_utf8(file.parent)
    try:
        yield f"{folder}/{file.name}"
    finally:
        if opened is not None:
            os.close(opened)


def _named_in_utf8(folder: str | os.PathLike[str]) -> tuple[str, int | None]:
    """Its own name; where that is no UTF-8, one by a file that was opened for it."""
    name = os.fspath(folder)
    if utf8_text(name) == name:
        return name, None
    opened = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
    return f"/proc/self/fd/{opened}", opened
