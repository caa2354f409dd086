"""Pauses of Python's garbage collector are recorded, and the stalls show them."""

import gc
from collections.abc import Callable
from pathlib import Path

from recorded_program import Script

import stepscope
from stepscope import profile

MakeScript = Callable[[str], Script]

PROGRAM = """
import gc, sys, time
import stepscope

gc.disable()  # only what is called for
kept = [[i] for i in range(400_000)]
with stepscope.profile(sys.argv[1], trace=False) as prof:
    for step in range(8):
        time.sleep(0.01)
        if step % 2 == {every}:
            gc.collect()
        prof.step()
"""


def test_collections_are_recorded(script: MakeScript, tmp_path: Path) -> None:
    script(PROGRAM.replace("{every}", "0")).run(str(tmp_path / "run"))
    run = stepscope.open(tmp_path / "run")
    (row,) = (row for row in run.stalls()["kinds"].rows() if row["stall"] == "collector")
    assert row["count"] == 4
    assert row["host_ns"] > 4_000_000


def test_a_program_without_them_is_not_blamed(script: MakeScript, tmp_path: Path) -> None:
    script(PROGRAM.replace("{every}", "2")).run(str(tmp_path / "run"))
    run = stepscope.open(tmp_path / "run")
    assert "collector" not in [row["stall"] for row in run.stalls()["kinds"].rows()]


def test_nothing_listens_afterwards(tmp_path: Path) -> None:
    before = list(gc.callbacks)
    with profile(tmp_path / "run", trace=False) as prof:
        assert len(gc.callbacks) == len(before) + 1
        prof.step()
    assert gc.callbacks == before
