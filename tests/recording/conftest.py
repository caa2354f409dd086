"""Recordings are made by programs of their own, with torch or without."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import warm_python
from known_gpu import SOURCE
from launched_program import Runner
from program import ROOT, Program
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
def fresh_python() -> str:
    """A Python that has torch; made once. STEPSCOPE_TRAINING_PYTHON names another."""
    if given := os.environ.get("STEPSCOPE_TRAINING_PYTHON"):
        return given
    made = subprocess.run(
        [ROOT / "tools" / "training_env"], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        # Tests of recording that skip would go unnoticed: on a machine without a package
        # index, whoever runs them says so.
        why = f"no environment with torch can be made: {made.stderr.strip()[-300:]}"
        if "STEPSCOPE_WITHOUT_TORCH" in os.environ:
            pytest.skip(why)
        pytest.fail(why + " (STEPSCOPE_WITHOUT_TORCH=1 skips what needs it)", pytrace=False)
    return made.stdout.strip()


@pytest.fixture(scope="session")
def training_python(fresh_python: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same with torch loaded already; `fresh_python` is for what must start by itself."""
    if Path("/dev/nvidiactl").exists():  # a process that looked at a GPU cannot be forked
        return fresh_python
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with (folder / "warm-python.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return warm_python.start(fresh_python, folder / "warm-python")


@pytest.fixture
def training(training_python: str, tmp_path: Path) -> Callable[[str], Script]:
    """Of text: a program that has torch."""
    return lambda text: write_script(training_python, tmp_path / "train.py", text)


@pytest.fixture
def runner(program: Program, tmp_path: Path) -> Runner:
    """Of `stepscope run`, with a Python that has no torch."""
    return Runner(program, tmp_path, sys.executable)


@pytest.fixture
def trainer(program: Program, tmp_path: Path, training_python: str) -> Runner:
    """With a Python that has torch, and no stepscope."""
    return Runner(program, tmp_path, training_python)


@pytest.fixture(scope="session")
def fake_nvml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a driver's library of our own."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang-16")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("nvml")
    library = folder / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE], check=True)
    return folder
