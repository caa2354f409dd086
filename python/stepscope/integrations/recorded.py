"""What lies in a run's folder, for reports that are made from it without its traces."""

from __future__ import annotations

import json
import os
import time
from functools import cached_property
from pathlib import Path
from typing import Any

from stepscope.errors import NotFoundError
from stepscope.run import Run
from stepscope.run import open as open_run


class RecordedRun:
    """One attempt of a run: its ranks, its machines, what they recorded.

    Args:
        folder: of a run (its last attempt counts), of an attempt, or of one rank.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        given = Path(folder)
        self.ranks = [given] if (given / "events.scope").exists() else []
        self.attempt = given.parent if self.ranks else _last_attempt(given)
        if not self.ranks:
            self.ranks = sorted(one.parent for one in self.attempt.glob("rank*/events.scope"))
        if not self.ranks:
            raise NotFoundError(
                f"{folder}: nothing was recorded there; a run's folder holds attempt-0/rank00000"
            )
        self.folder = self.attempt.parent

    @property
    def name(self) -> str:
        """Of the run's folder."""
        return self.folder.absolute().name

    @cached_property
    def about(self) -> dict[str, Any]:
        """run.json, or nothing."""
        return _json_of(self.folder / "run.json")

    @cached_property
    def facts(self) -> list[dict[str, Any]]:
        """rank.json of each rank."""
        return [_json_of(rank / "rank.json") for rank in self.ranks]

    @cached_property
    def start_ns(self) -> int:
        """Since 1970: when the first recording began, from where the analyses count."""
        return min((int(one["start_ns"]) for one in self.facts if "start_ns" in one), default=0)

    @cached_property
    def events(self) -> Run:
        """Ranges, steps and counters of the ranks alone: quick to read."""
        return open_run([rank / "events.scope" for rank in self.ranks])

    @cached_property
    def recordings(self) -> Run:
        """With the processes they started, their models and the samples of their machines.

        A model's summary is read with its rank's recording.
        """
        parts = [part for rank in self.ranks for part in sorted(rank.glob("*.scope"))]
        parts += sorted(self.attempt.glob("node-*/*.scope"))
        return open_run(parts)

    @cached_property
    def with_traces(self) -> Run:
        """The ranks and their traces: only these tell which steps a profiler slowed."""
        return open_run(self.ranks) if self.traces else self.recordings

    @cached_property
    def traces(self) -> list[Path]:
        """Of all ranks."""
        found = (part for rank in self.ranks for part in sorted(rank.glob("trace-*.json*")))
        return [one for one in found if not one.name.endswith(".partial")]

    @cached_property
    def snapshots(self) -> list[Path]:
        """Of the allocator, of all ranks."""
        return [part for rank in self.ranks for part in sorted(rank.glob("memory-*.pickle"))]

    @property
    def ends(self) -> list[str]:
        """Of each rank how it ended: "" well, else "exception", "status 3", "SIGTERM", "killed"."""
        return [_end_of(one) for one in self.facts]

    def wait_for_ranks(self, seconds: float) -> bool:
        """Until every rank of the launch has finished, or so long; only files are looked at."""
        worlds = (int(one.get("world_size", 1)) for one in self.facts)
        world, end = max(worlds, default=1), time.monotonic() + seconds
        while True:
            facts = [_json_of(one) for one in self.attempt.glob("rank*/rank.json")]
            if sum("finished" in one for one in facts) >= world:
                return True
            if time.monotonic() > end:
                return False
            time.sleep(0.05)


def _last_attempt(folder: Path) -> Path:
    attempts = [one for one in folder.glob("attempt-*") if one.name[8:].isdigit()]
    return max(attempts, key=lambda one: int(one.name[8:]), default=folder)


def _end_of(facts: dict[str, Any]) -> str:
    """From what the process wrote when it ended, and `stepscope run` about the program."""
    finished, program = str(facts.get("finished", "")), facts.get("program") or {}
    status = program.get("status")
    if finished.startswith("status ") and status == 0:
        return ""
    if finished not in ("", "stop", "exit"):
        return finished
    if program.get("signal") or status:
        return str(program.get("signal") or f"status {status}")
    # A process that wrote nothing was killed, unless it still runs: this one, sending its own run.
    return "" if finished or status == 0 or facts.get("pid") == os.getpid() else "killed"


def _json_of(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
