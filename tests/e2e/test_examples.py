"""The examples run, and say what they promise."""

import subprocess
from pathlib import Path

from program import Program

ROOT = Path(__file__).parents[2]


def test_the_demo_runs_to_its_end(program: Program) -> None:
    done = subprocess.run(
        [ROOT / "examples" / "demo.sh"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "2 ranks" in done.stdout
    assert "Where to look next" in done.stdout
