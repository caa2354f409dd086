"""A rank's files on a disk of its node, until the command that started the program moves them.

The run's folder is made first, and says which attempt this is: each file has its final place from
the beginning, and moving needs no knowledge of what it is.
"""

from __future__ import annotations

import hashlib
import os
import socket
import uuid
from collections.abc import Mapping
from pathlib import Path

from stepscope.recording.run_folder import RankFolder


def staged(rank: RankFolder, place: Mapping[str, str] | None) -> RankFolder:
    """The same rank, with its files in the stage; as it is where the stage is another node's.

    Args:
        rank: in its final place.
        place: `folder` and `host` of the stage, as the command gives them.

    Raises:
        OSError: the stage cannot be written.
    """
    if place is None or place["host"] != socket.gethostname() or not Path(place["folder"]).is_dir():
        return rank
    name = hashlib.sha256(os.fsencode(rank.run)).hexdigest()[:16]
    root = Path(place["folder"]) / name
    local = root / "run" / rank.path.relative_to(rank.run)
    local.mkdir(parents=True, exist_ok=True)
    _write(root / "destination", os.fsencode(rank.run))
    # So that it can be opened where it lies.
    for file in (rank.run / "run.json", rank.path.parent / "attempt.json"):
        copy = root / "run" / file.relative_to(rank.run)
        if not copy.exists():
            _write(copy, file.read_bytes())
    return RankFolder(local, rank.run_id, rank.attempt, rank.placement, rank.run)


def _write(file: Path, content: bytes) -> None:
    """Whole: other ranks may write the same."""
    partial = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    try:
        partial.write_bytes(content)
        partial.replace(file)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
