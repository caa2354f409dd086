"""Loops that time themselves: what the loop waited, and how fast it trains beside validation."""

from collections.abc import Callable
from pathlib import Path

import pytest
from recorded_program import Script

import stepscope

SLOW_ITERATOR = """
import sys, time
import stepscope

class Slow:
    def __iter__(self):
        time.sleep(0.2)
        return iter([1, 2, 3, 4])

waited = 0.0
with stepscope.profile(sys.argv[1], trace=False, system=False) as prof:
    loader = prof.watch(Slow())
    for _ in range(2):
        asked = time.monotonic()
        for _ in loader:
            waited += time.monotonic() - asked
            time.sleep(0.02)
            prof.step()
            asked = time.monotonic()
print(waited)
"""

SLOW_SAMPLER = """
import sys, time
import torch
from torch.utils.data import DataLoader, Sampler, TensorDataset
import stepscope

class Slow(Sampler):
    def __init__(self): pass
    def __len__(self): return 16
    def __iter__(self):
        time.sleep(0.3)
        return iter(range(16))

waited = 0.0
with stepscope.profile(sys.argv[1], trace=False, system=False) as prof:
    data = TensorDataset(torch.zeros(16, 2))
    loader = prof.watch(DataLoader(data, batch_size=4, sampler=Slow(), num_workers=1))
    for _ in range(2):
        asked = time.monotonic()
        for _ in loader:
            waited += time.monotonic() - asked
            time.sleep(0.02)
            prof.step()
            asked = time.monotonic()
print(waited)
"""


def check_waits(told: str, run: Path) -> None:
    truth = float(told)
    (row,) = stepscope.open(run).loader()["loaders"].rows()
    assert row["wait_ns"] / 1e9 == pytest.approx(truth, rel=0.05)
    assert row["first_wait_ns"] / 1e9 == pytest.approx(truth, rel=0.05)
    assert (row["passes"], row["cause"]) == (2, "start-up")
    steps = stepscope.open(run).loader()["steps"].rows()
    assert sum(one["wait_ns"] for one in steps) / 1e9 == pytest.approx(truth, rel=0.05)


def test_making_the_iterator_is_waiting(script: Callable[[str], Script], tmp_path: Path) -> None:
    done = script(SLOW_ITERATOR).run(str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    check_waits(done.stdout, tmp_path / "run")


def test_a_slow_sampler_keeps_the_loop_waiting(
    training: Callable[[str], Script], tmp_path: Path
) -> None:
    done = training(SLOW_SAMPLER).run(str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    check_waits(done.stdout, tmp_path / "run")
