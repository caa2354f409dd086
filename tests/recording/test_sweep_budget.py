"""What `stepscope sweep dataloader` does with its time, and what it says when that is short."""

import csv
import json
import time
from pathlib import Path

import pytest
from program import Program
from swept_loader import LOADER, Sweeps, best


@pytest.fixture
def sweeps(program: Program, tmp_path: Path) -> Sweeps:
    return Sweeps(program, tmp_path)


def test_a_target_that_hangs_when_imported_ends_with_the_budget(sweeps: Sweeps) -> None:
    sweeps.write("import time\nprint('reading', flush=True)\ntime.sleep(1000)\n")
    began = time.monotonic()
    done = sweeps.run(*sweeps.words("target:make", "--budget=2s"))
    assert time.monotonic() - began < 8
    assert done.exit_status == 3
    error = done.stderr.decode()
    assert error.startswith("stepscope: did not get beyond importing within 2 s: it hangs, or")
    assert "printed: reading" in error


def test_a_budget_that_is_too_small_is_said(sweeps: Sweeps) -> None:
    # The first batch comes, and the budget ends before there is another.
    sweeps.write("import time\ntime.sleep(3)\n" + LATE)
    done = sweeps.run(*sweeps.words("target:slow", "--num-workers=0", "--budget=8s"))
    assert done.exit_status == 3
    assert done.stderr.decode().startswith(
        "stepscope: the budget of 8.00 s ended before a setting could be measured: starting"
    )


LATE = """
class Late:
    def __iter__(self):
        yield 1
        time.sleep(1000)

def slow(num_workers=0):
    return Late()
"""


@pytest.mark.nightly
def test_where_starting_is_slow_each_setting_has_a_trial(sweeps: Sweeps) -> None:
    # Three starts fit into the budget, a fourth process that only looks does not.
    sweeps.write("import time\ntime.sleep(6)\n" + LOADER)
    done = sweeps.run(*sweeps.words("target:make", "--num-workers=1,2,6", "--budget=26s", "--json"))
    assert done.exit_status == 0, done.stderr.decode()
    answer = json.loads(done.stdout)
    assert best(answer)["keywords"] == "num_workers=6"
    assert best(answer)["not_tried"] == 0
    assert [row["trials"] for row in answer["tables"]["settings"]] == [1, 1, 1]


def test_nothing_is_claimed_of_settings_that_were_not_tried(sweeps: Sweeps) -> None:
    sweeps.write("import time\ntime.sleep(4)\n" + LOADER)
    words = sweeps.words("target:make", "--num-workers=1,2,6,7,8,9", "--budget=16s", "--csv=t")
    began = time.monotonic()
    done = sweeps.run(*words)
    assert 12 < time.monotonic() - began < 24, "the budget is used"
    assert done.exit_status == 0, done.stderr.decode()
    text = done.stdout.decode()
    assert "Paste" not in text and "Confidence" not in text
    assert "not tried: a larger --budget" in " ".join(text.partition("\n\n")[0].splitlines())
    assert "is the fastest:" not in text
    assert "not tried: the budget ended" in text
    with (sweeps.folder / "t" / "loader-sweep.settings.csv").open() as file:
        found = list(csv.DictReader(file))
    assert len(found) == 6
    assert found[0]["outcome"] in ("fastest tried", "not told apart")
    with (sweeps.folder / "t" / "loader-sweep.best.csv").open() as file:
        (named,) = csv.DictReader(file)
    assert (int(named["tried"]) + int(named["not_tried"]), named["confidence"]) == (6, "")


def test_a_target_that_makes_no_loader_is_said_though_starting_is_slow(sweeps: Sweeps) -> None:
    sweeps.write("import time\ntime.sleep(3)\ndef five(num_workers=0): return 5\n")
    done = sweeps.run(*sweeps.words("target:five", "--budget=5s"))
    assert done.exit_status == 3
    error = done.stderr.decode()
    assert error.startswith("stepscope: target:five returned a int: it must return a DataLoader")


def test_what_was_not_tried_in_time_is_said(sweeps: Sweeps) -> None:
    sweeps.write("import time\ntime.sleep(0.3)\n" + LOADER)
    began = time.monotonic()
    answer = sweeps.answer("target:make", "--num-workers=1-12", "--budget=4s")
    assert time.monotonic() - began < 9
    assert any("were not tried" in remark for remark in answer["remarks"])
    assert any("The budget ended before" in remark for remark in answer["remarks"])
