"""Runs the stepscope program as a user would."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it wrote."""

    exit_status: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True)
class Program:
    """The stepscope binary under test.

    program.run("info", "--json", trace).stdout
    """

    path: Path

    def run(
        self,
        *arguments: str | os.PathLike[str],
        stdin: bytes = b"",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 120,
    ) -> Outcome:
        """Runs one command to its end, without the caller's settings; env adds variables."""
        settings = {k: v for k, v in os.environ.items() if not k.startswith("STEPSCOPE_")}
        done = subprocess.run(
            [self.path, *arguments],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            env={**settings, "LC_ALL": "C.UTF-8", **(env or {})},
            timeout=timeout,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)


def default_program() -> Program:
    """The program that STEPSCOPE_BIN names, else the release build."""
    return Program(ROOT / os.environ.get("STEPSCOPE_BIN", "build/stepscope"))
