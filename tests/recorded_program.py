"""Programs that are recorded: each in a process of its own, because it forks, trains or dies."""

import json
import os
import subprocess
import textwrap
import time
from pathlib import Path
from typing import Any

from program import ROOT

# Of launchers: the tests decide which process is which rank.
LAUNCHERS = (
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "MASTER_",
    "SLURM_",
    "OMPI_",
    "PMI_",
    "TORCHELASTIC",
)


def environment(**more: str) -> dict[str, str]:
    """As a user's shell has it, with the package in sight."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith((*LAUNCHERS, "STEPSCOPE"))}
    return {**kept, "PYTHONPATH": str(ROOT / "python"), "OMP_NUM_THREADS": "1", **more}


def wait_for(condition: object, seconds: float = 60) -> None:
    """Until it holds, looking twenty times a second."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():  # type: ignore[operator]
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


class Script:
    """A program that a test wrote, run by one Python."""

    def __init__(self, python: str, file: Path) -> None:
        self.python = python
        self.file = file

    def start(self, *words: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.python, str(self.file), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.file.parent,
            env=environment(**variables),
        )

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*words, **variables)
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def write_script(python: str, file: Path, text: str) -> Script:
    """The program, for this Python."""
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return Script(python, file)


def rank_folder(run: Path, rank: int = 0, attempt: int = 0) -> Path:
    """Where a rank writes."""
    return run / f"attempt-{attempt}" / f"rank{rank:05}"


def rank_facts(run: Path, rank: int = 0, attempt: int = 0) -> dict[str, Any]:
    """rank.json of a rank."""
    facts: dict[str, Any] = json.loads((rank_folder(run, rank, attempt) / "rank.json").read_text())
    return facts


def ranges_of(file: Path) -> dict[str, int]:
    """How often each range of a recording was entered."""
    import stepscope

    return {row["name"]: row["count"] for row in stepscope.open(file).annotations().table.rows()}
