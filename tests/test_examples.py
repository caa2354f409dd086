"""Every script in examples/ runs to its end, quietly."""

import os
import subprocess
from pathlib import Path

import pytest
from program import ROOT, Program

SCRIPTS = sorted((ROOT / "examples").glob("*.sh"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.name)
def test_example_runs(script: Path, program: Program) -> None:
    done = subprocess.run(
        [script],
        env={**os.environ, "STEPSCOPE_BIN": str(program.path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert done.stdout
