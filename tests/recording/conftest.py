"""Recordings are made by programs of their own, with torch or without."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from program import ROOT
from recorded_program import Script, write_script

try:
    from stepscope import _capture, _core  # noqa: F401
except ImportError as error:
    pytest.exit(f"the extension of the Python package is not there ({error}): run `make python`", 1)


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Script]:
    """Of text: a program for the Python of the tests, which has no torch."""
    return lambda text: write_script(sys.executable, tmp_path / "train.py", text)


@pytest.fixture(scope="session")
def training_python() -> str:
    """A Python that has torch; made once."""
    made = subprocess.run(
        [ROOT / "tools" / "training_env"], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"no environment with torch can be made here: {made.stderr.strip()[-300:]}")
    return made.stdout.strip()


@pytest.fixture
def training(training_python: str, tmp_path: Path) -> Callable[[str], Script]:
    """Of text: a program that has torch."""
    return lambda text: write_script(training_python, tmp_path / "train.py", text)
