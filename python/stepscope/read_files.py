"""The files that a run was read from, which nothing that is written may replace."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from stepscope.errors import UsageError


def refuse_to_overwrite(out: str | os.PathLike[str], given: Iterable[str], info: Any) -> None:
    """Fails where `out` is one of them, by whatever name.

    Args:
        out: what is about to be written.
        given: files and folders, as the user named them.
        info: of the run, which knows what was found in folders.

    Raises:
        UsageError: it is.
    """
    target = Path(out)
    if not target.is_file():
        return
    for file in (*map(Path, given), *_found(info), *_of_recorded_runs(info)):
        if file.is_file() and file.samefile(target):
            raise UsageError(
                f"{os.fspath(out)} is what was read here, and would be lost; name another file"
            )


def _found(part: Any) -> Iterator[Path]:
    """Every "path" in it, however deep."""
    if isinstance(part, dict):
        if isinstance(path := part.get("path"), str):
            yield Path(path)
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from _found(inner)


def _of_recorded_runs(info: dict[str, Any]) -> Iterator[Path]:
    """What describes a run, an attempt and a rank beside its recording."""
    for rank in {Path(record["path"]).parent for record in info.get("rank_records", [])}:
        yield from rank.glob("*.json")
        yield rank.parent / "attempt.json"
        yield rank.parent.parent / "run.json"
        yield from rank.parent.glob("node-*/system.scope")
