"""Sweeps over settings of loaders, started as from a user's shell, and loaders for them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from program import Outcome, Program
from recorded_program import LAUNCHERS

# A loader as torch's, without the seconds that importing torch takes: each batch takes 40 ms to
# make, shared by the workers.
LOADER = """
import os, signal, sys, time

class Loader:
    def __init__(self, num_workers=0, batch_size=8, prefetch_factor=None, make=0.04, length=1000):
        self.num_workers, self.batch_size, self.length = num_workers, batch_size, length
        self.make = make / max(1, num_workers)

    def __len__(self):
        return self.length

    def __iter__(self):
        for _ in range(self.length):
            time.sleep(self.make)
            yield list(range(self.batch_size))

def make(num_workers=0):
    return Loader(num_workers), lambda batch: time.sleep(0.002)
"""


class Sweeps:
    """Starts sweeps in a folder, as from a user's shell."""

    def __init__(self, program: Program, folder: Path) -> None:
        self._program, self.folder = program, folder

    def write(self, text: str, name: str = "target.py") -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def words(self, target: str, *more: str, python: str = sys.executable) -> list[str]:
        return ["sweep", "dataloader", target, "--python", python, *more]

    def environment(self, **more: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith((*LAUNCHERS, "STEPSCOPE"))}
        kept.pop("PYTHONPATH", None)
        return {**kept, "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1", **more}

    def start(self, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self._program.path, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env=self.environment(**variables),
        )

    def run(self, *words: str, **variables: str) -> Outcome:
        process = self.start(*words, **variables)
        try:
            out, err = process.communicate(timeout=180)
        finally:
            process.kill()
        return Outcome(process.returncode, out, err)

    def answer(self, target: str, *more: str, python: str = sys.executable) -> dict[str, Any]:
        """The JSON of a sweep that succeeds."""
        done = self.run(*self.words(target, "--json", *more, python=python))
        assert done.exit_status == 0, done.stderr.decode()
        answer: dict[str, Any] = json.loads(done.stdout)
        assert answer["schema"] == "stepscope.sweep/1"
        return answer


def rows(answer: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """By number of workers."""
    return {row["num_workers"]: row for row in answer["tables"]["settings"]}


def best(answer: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = answer["tables"]["best"][0]
    return found
