"""Loops that time themselves: what the loop waited, and how fast it trains beside validation."""

from collections.abc import Callable
from pathlib import Path

import pytest
from recorded_program import Script, write_script

import stepscope

pytestmark = pytest.mark.timing_sensitive(reason="two clocks are compared to 5 %")

# After a program that has begun to record and has a loader.
TIMED_LOOP = """
    for _ in range(2):
        asked = time.monotonic()
        for number, _ in enumerate(loader):
            waits.append((number, time.monotonic() - asked))
            time.sleep(0.02)
            prof.step()
            asked = time.monotonic()
print(sum(took for _, took in waits), sum(took for number, took in waits if number == 0))
"""

SLOW_ITERATOR = """
import sys, time
import stepscope

class Slow:
    def __iter__(self):
        time.sleep(0.2)
        return iter([1, 2, 3, 4])

waits = []
with stepscope.profile(sys.argv[1], trace=False, system=False) as prof:
    loader = prof.watch(Slow())
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

waits = []
with stepscope.profile(sys.argv[1], trace=False, system=False) as prof:
    data = TensorDataset(torch.zeros(16, 2))
    loader = prof.watch(DataLoader(data, batch_size=4, sampler=Slow(), num_workers=1))
"""


def check_waits(output: str, run: Path) -> None:
    truth, of_first = map(float, output.split())
    (row,) = stepscope.open(run).loader()["loaders"].rows()
    assert row["wait_ns"] / 1e9 == pytest.approx(truth, rel=0.05)
    assert row["first_wait_ns"] / 1e9 == pytest.approx(of_first, rel=0.05)
    assert (row["passes"], row["cause"]) == (2, "start-up")
    steps = stepscope.open(run).loader()["steps"].rows()
    assert sum(one["wait_ns"] for one in steps) / 1e9 == pytest.approx(truth, rel=0.05)


def test_making_the_iterator_is_waiting(script: Callable[[str], Script], tmp_path: Path) -> None:
    done = script(SLOW_ITERATOR + TIMED_LOOP.lstrip("\n")).run(str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    check_waits(done.stdout, tmp_path / "run")


def test_a_slow_sampler_keeps_the_loop_waiting(fresh_python: str, tmp_path: Path) -> None:
    # The end of a worker that is a fork of a larger process takes longer, and is waited for, too.
    text = SLOW_SAMPLER + TIMED_LOOP.lstrip("\n")
    done = write_script(fresh_python, tmp_path / "train.py", text).run(str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    check_waits(done.stdout, tmp_path / "run")


VALIDATING = """
import sys, time
import stepscope

kind, run = sys.argv[1:]

class Batches(list):
    pass

validations = []

def validate(loader):
    began = time.monotonic()
    for _ in loader:
        time.sleep(0.03)
    validations.append(time.monotonic() - began)

took, steps = 0.0, 0
with stepscope.profile(run, trace=False, system=False) as prof:
    train = [0] * 12 if kind == "nowatch" else prof.watch([0] * 12, samples=lambda batch: 4)
    validation = prof.watch(Batches([0] * 12), phase="validation")
    plain = prof.watch(Batches([0] * 12), name="held out")
    for _ in range(3):
        began, spent = time.monotonic(), 0.0
        for number, _ in enumerate(train):
            time.sleep(0.02)
            if kind == "before step" and number == 5:
                validate(validation)
                spent = validations[-1]
            prof.step()
            steps += 1
        took += time.monotonic() - began - spent
        if kind == "range":
            with stepscope.range("validation"):
                validate(plain)
        elif kind != "before step":
            validate(validation)
        if kind == "epoch":
            prof.epoch()
print(steps / took, 12 * len(validations) / sum(validations))
"""


@pytest.mark.parametrize("kind", ["watch", "range", "nowatch", "epoch", "before step"])
def test_declared_validation_is_no_part_of_training(
    script: Callable[[str], Script], tmp_path: Path, kind: str
) -> None:
    done = script(VALIDATING).run(kind, str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    truth, of_validation = map(float, done.stdout.split())
    run = stepscope.open(tmp_path / "run")
    rows = {row["phase"]: row for row in run.throughput()["phases"].rows()}
    training = rows["training"]
    assert training["iterations"] == 36
    assert training["iterations_per_second"] == pytest.approx(truth, rel=0.05)
    if kind != "nowatch":
        assert training["samples_per_second"] == pytest.approx(4 * truth, rel=0.05)
    assert rows["validation"]["iterations_per_second"] == pytest.approx(of_validation, rel=0.05)
    (times,) = run.time()["times"].rows()
    assert 1e9 / times["mean_ns"] == pytest.approx(truth, rel=0.05)


READS_NOTHING = """
import sys
import torch
from torch.utils.data import DataLoader, Dataset
import stepscope

class Zeros(Dataset):
    def __len__(self): return 40
    def __getitem__(self, index): return torch.zeros(2)

with stepscope.profile(sys.argv[1], trace=False, system=False) as prof:
    for _ in prof.watch(DataLoader(Zeros(), batch_size=2, num_workers=2), transforms=["nothng"]):
        prof.step()
"""


def test_a_worker_that_reads_nothing_has_read_nothing(
    training: Callable[[str], Script], tmp_path: Path
) -> None:
    """What is said to hand a batch over is no data."""
    done = training(READS_NOTHING).run(str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert "no dataset of this loader has 'nothng'" in done.stderr
    rows = list(stepscope.open(tmp_path / "run").loader()["workers"].rows())
    assert [(row["read_bytes"], row["files"]) for row in rows] == [(0, 0), (0, 0)]


def test_what_cannot_be_iterated_is_an_error_at_the_call(tmp_path: Path) -> None:
    with (
        stepscope.profile(tmp_path / "run", trace=False, system=False) as prof,
        pytest.raises(stepscope.UsageError, match="not 5"),
    ):
        prof.watch(5)  # type: ignore[type-var]
