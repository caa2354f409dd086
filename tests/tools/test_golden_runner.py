"""The golden runner itself, on a program that is a shell script."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from program import ROOT

FAKE = """\
#!/bin/sh
case $1 in
  cat) cat "$2" ;;
  stdin) cat ;;
  jobs) echo "$STEPSCOPE_JOBS" ;;
  fail) echo broken >&2; exit 3 ;;
esac
"""


class Suite:
    """A copy of the runner with its own tests/golden and a fake program."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "tests" / "golden").mkdir(parents=True)
        for name in ("conftest.py", "test_golden.py", "golden_file.py", "program.py"):
            (root / "tests" / name).write_bytes((ROOT / "tests" / name).read_bytes())
        (root / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
        (root / "fake").write_text(FAKE)
        (root / "fake").chmod(0o755)

    def run(self, golden: str, *options: str) -> subprocess.CompletedProcess[str]:
        self.golden.write_text(golden)
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
            cwd=self.root,
            env={**os.environ, "STEPSCOPE_BIN": "fake"},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def golden(self) -> Path:
        return self.root / "tests" / "golden" / "case.test"


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


def test_exact_output_passes(suite: Suite) -> None:
    done = suite.run(
        "# All parts.\nrun cat dir/a.txt\nrun stdin\nrun fail\nexit 3\n"
        "-- dir/a.txt\nhello\n-- stdin\npiped\n-- stdout\nhello\npiped\n-- stderr\nbroken\n"
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.parametrize(
    ("golden", "message"),
    [
        ("run cat a\n-- a\nnew\n-- stdout\nold\n", "-old\n+new"),
        ("run cat a\n-- a\nnew\n", "+new"),
        ("run fail\n", "exit status 3, expected 0"),
        ("run fail\nexit 3\n-- stderr\nfine\n", "stderr with STEPSCOPE_JOBS=4"),
    ],
    ids=["output differs", "output unexpected", "exit status", "stderr"],
)
def test_anything_else_fails(suite: Suite, golden: str, message: str) -> None:
    done = suite.run(golden)
    assert done.returncode == 1
    assert message in done.stdout


def test_output_is_compared_over_thread_counts(suite: Suite) -> None:
    done = suite.run("run jobs\n-- stdout\n1\n", "--threads", "1,8")
    assert done.returncode == 1
    assert "stdout with STEPSCOPE_JOBS=8" in done.stdout


def test_update_rewrites_what_is_compared(suite: Suite) -> None:
    done = suite.run("run cat a\n-- a\nnew\n-- stdout\nold\n", "--update-goldens")
    assert done.returncode == 0, done.stdout
    assert suite.golden.read_text() == "run cat a\n-- a\nnew\n-- stdout\nnew\n"


def test_update_does_not_hide_a_wrong_exit_status_or_a_race(suite: Suite) -> None:
    assert suite.run("run fail\n", "--update-goldens").returncode == 1
    threads = ("--update-goldens", "--threads", "1,8")
    assert suite.run("run jobs\n-- stdout\n", *threads).returncode == 1
