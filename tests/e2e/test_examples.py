"""The tour runs to its end, quietly, and says where to look."""

import os
import re
import subprocess
import urllib.request
from pathlib import Path

from program import ROOT, Program


def run(script: Path, program: Program) -> str:
    done = subprocess.run(
        [script],
        env={**os.environ, "STEPSCOPE_BIN": str(program.path), "STEPSCOPE_DEMO_SECONDS": "60"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def test_the_demo_ends_with_the_address_of_a_page(program: Program) -> None:
    said = run(ROOT / "examples" / "demo.sh", program)
    assert "2 ranks" in said
    assert "Where to look next" in said
    ended = re.search(
        r"\(kill (\d+) ends it sooner\):\n  (http://127.0.0.1:\d+/\?token=\S+)\n$", said
    )
    assert ended, said[-300:]
    try:
        with urllib.request.urlopen(ended[2], timeout=30) as page:
            assert "<title>" in page.read().decode()
    finally:
        os.kill(int(ended[1]), 15)
