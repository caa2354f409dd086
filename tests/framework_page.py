"""Pages about frameworks: the first script of each is whole, and run here as a user would."""

import os
import subprocess
from pathlib import Path

import pytest
from program import ROOT
from recorded_program import Script, environment, write_script


def script_of(page: str) -> str:
    """The first block of Python on a page of docs/start."""
    text = (ROOT / "docs" / "start" / page).read_text(encoding="utf-8")
    return text.split("```python\n", 1)[1].split("```", 1)[0]


def page_script(python: str, page: str, folder: Path, more: str = "") -> Script:
    """To be run in this folder; `more` follows at the end of its last block."""
    return write_script(python, folder / "train.py", script_of(page) + more)


def need(python: str, *modules: str) -> None:
    """Skips where the Python that was named lacks a framework; ours has them all."""
    if "STEPSCOPE_TRAINING_PYTHON" not in os.environ:
        return
    asked = f"import importlib.util as u; print(all(map(u.find_spec, {modules!r})))"
    done = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=False)
    if done.stdout.strip() != "True":
        pytest.skip(f"{python} has not all of {', '.join(modules)}")


def torchrun(python: str, script: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Two ranks."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return subprocess.run(
        [python, *launcher, str(script), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=environment(),
    )
