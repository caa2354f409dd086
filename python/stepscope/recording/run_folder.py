"""The folder of a run: which process writes what, and how ranks and restarts find their place.

    run.json                            once, by whoever comes first
    attempt-0/attempt.json              once per launch, by whoever comes first
    attempt-0/rank00000/rank.json       by the rank
    attempt-0/rank00000/events.scope    by the rank; traces and snapshots beside it
    attempt-0/rank00000/worker-1.scope  by another process of the rank

No process ever writes a file of another, so no locks are needed; ranks do not speak to each other.
An attempt's folder is made under another name and renamed, complete with its attempt.json: of many
ranks one succeeds, and the others read whose it is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepscope.errors import Error, RecordingError, UsageError
from stepscope.recording.foreign_text import json_bytes
from stepscope.recording.placement import Placement

RUN_SCHEMA = "stepscope.run/1"
ATTEMPT_SCHEMA = "stepscope.attempt/1"
RANK_SCHEMA = "stepscope.rank/1"

# A rank that comes later than this to a launch of its name belongs to another one.
_LATEST_RANK_NS = 6 * 3600 * 10**9
# Attempts, from the latest back, that may be of this launch.
_MOST_LOOKED_AT = 16


class RankFolder:
    """The files of one rank in one attempt."""

    def __init__(
        self,
        path: Path,
        run_id: str,
        attempt: int,
        placement: Placement,
        run: Path | None = None,
    ) -> None:
        self.path = path  # elsewhere than in the run while that is staged
        self.run = run or path.parent.parent
        self.run_id = run_id
        self.attempt = attempt
        self.placement = placement

    def file(self, name: str) -> Path:
        """A file of this rank, by its final name."""
        return self.path / name

    def partial(self, name: str) -> Path:
        """The same while it is being written; `complete` gives it its name."""
        return self.path / f"{name}.partial"

    def complete(self, name: str) -> Path:
        """`NAME.partial` is whole."""
        return self.partial(name).replace(self.file(name))

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Whole or not at all."""
        try:
            self.partial(name).write_bytes(_json(content))
        except OSError:  # a full disk: what it holds already is better than a piece
            self.partial(name).unlink(missing_ok=True)
            raise
        self.complete(name)


def open_run(
    folder: str, about: Mapping[str, Any], run_id: str | None, launch: str, placement: Placement
) -> RankFolder:
    """This process's place in the run's folder, which is made if it is not there.

    Args:
        folder: of the run; expanded already.
        about: what is known of this launch (`stepscope.recording.about`).
        run_id: a name that restarts share, or None: made from the script and its place in the job.
        launch: what all ranks of this launch share.
        placement: which rank this is.

    Raises:
        RecordingError: the folder cannot be written.
        UsageError: it is the folder of another run.
    """
    try:
        root = Path(folder).absolute()
        root.mkdir(parents=True, exist_ok=True)
        run = _run_of(root, about, run_id)
        attempt, path = _attempt_of(root, about, launch, placement)
    except OSError as error:
        if isinstance(error, Error):
            raise
        reason = error.strerror or str(error)
        raise RecordingError(f"{folder}: a run cannot be recorded there: {reason}") from None
    return RankFolder(path, run["id"], attempt, placement)


def _run_of(root: Path, about: Mapping[str, Any], run_id: str | None) -> dict[str, Any]:
    """run.json, made now or found; whose it is was checked."""
    identity = {"id": run_id} if run_id else about["identity"]
    file = root / "run.json"
    if not file.exists():
        new_id = run_id or uuid.uuid4().hex[:16]
        content = {"schema": RUN_SCHEMA, "id": new_id, **about, "identity": identity}
        _write_once(file, content)
    run = _read(file, RUN_SCHEMA)
    if run_id is not None and run["id"] == run_id:
        return run
    if run_id is not None or run.get("identity") != identity:
        raise UsageError(
            f"{root} holds another run, {_who(run)}; choose another folder (%j in its name becomes "
            "the job), or give both the same run_id= to record this as a further attempt of it"
        )
    return run


def _who(run: Mapping[str, Any]) -> str:
    command = run.get("command")
    named = " ".join(map(str, command)) if isinstance(command, list) and command else run.get("id")
    return f"{str(named)[:120]!r}, started {run.get('start', 'at an unknown time')}"


def _attempt_of(
    root: Path, about: Mapping[str, Any], launch: str, placement: Placement
) -> tuple[int, Path]:
    """The attempt of this launch, and this rank's folder in it, which is new."""
    rank = f"rank{placement.rank:05}"
    while True:
        attempts = sorted(_attempts(root), reverse=True)
        for number in attempts[:_MOST_LOOKED_AT]:
            folder = root / f"attempt-{number}"
            if _is_same_launch(folder, launch, about["start_ns"]):
                try:
                    (folder / rank).mkdir()
                except FileExistsError:
                    break  # the same launch again, by hand
                return number, folder / rank
        new = attempts[0] + 1 if attempts else 0
        facts = {k: v for k, v in about.items() if k != "identity"}
        content = {"schema": ATTEMPT_SCHEMA, "attempt": new, "launch": launch, **facts}
        _make_attempt(root, new, content)


def _attempts(root: Path) -> list[int]:
    matches = (re.fullmatch(r"attempt-(\d{1,6})", entry.name) for entry in root.iterdir())
    return [int(found[1]) for found in matches if found]


def _is_same_launch(folder: Path, launch: str, start_ns: int) -> bool:
    try:
        found = _read(folder / "attempt.json", ATTEMPT_SCHEMA)
    except (Error, OSError):
        return False
    near = abs(start_ns - int(found.get("start_ns", 0))) < _LATEST_RANK_NS
    return found.get("launch") == launch and near


def _make_attempt(root: Path, number: int, content: Mapping[str, Any]) -> None:
    """Whole under its name, or another process was first."""
    making = Path(tempfile.mkdtemp(prefix=f".attempt-{number}-", dir=root))
    try:
        making.chmod(0o777 & ~_umask())
        (making / "attempt.json").write_bytes(_json(content))
        making.rename(root / f"attempt-{number}")
    except OSError:
        shutil.rmtree(making, ignore_errors=True)
        if not (root / f"attempt-{number}").is_dir():
            raise


def _umask() -> int:
    """Of the process; there is no way but to set it."""
    now = os.umask(0o022)
    os.umask(now)
    return now


def _write_once(file: Path, content: Mapping[str, Any]) -> None:
    """Whole or not at all, and never over another's."""
    partial = file.with_name(f"{file.name}.{uuid.uuid4().hex}.partial")
    partial.write_bytes(_json(content))
    try:
        os.link(partial, file)
    except FileExistsError:
        pass
    except OSError:  # no hard links here
        if not file.exists():
            partial.replace(file)
            return
    partial.unlink()


def _read(file: Path, schema: str) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("schema") != schema:
        raise UsageError(f"{file} is not of stepscope ({schema}); choose another folder")
    return content


def _json(content: Mapping[str, Any]) -> bytes:
    return json_bytes(content, indent=1) + b"\n"


def sized(free: int) -> str:
    """Room on a disk in words; of the last MiB in KiB."""
    return f"{free >> 20:,} MiB" if free >= 1 << 20 else f"{free >> 10:,} KiB"
