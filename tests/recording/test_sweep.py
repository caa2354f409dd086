"""`stepscope sweep dataloader`: loaders whose best setting is known by construction."""

import csv
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from program import ROOT, Program
from swept_loader import LOADER, Sweeps, best, rows


@pytest.fixture
def sweeps(program: Program, tmp_path: Path) -> Sweeps:
    return Sweeps(program, tmp_path)


# With torch.


@pytest.mark.nightly
def test_the_example_of_the_docs_needs_as_many_workers_as_keep_up(
    sweeps: Sweeps, training_python: str
) -> None:
    # A batch takes 80 ms to make and 20 ms to use: with 2 workers 40 ms a step, with 6 there is
    # nothing to wait for.
    answer = sweeps.answer(
        f"{ROOT / 'examples' / 'tune_loader.py'}:make_loader",
        "--num-workers=0,2,6",
        "--budget=5m",
        python=training_python,
    )
    assert best(answer)["keywords"] == "num_workers=6"
    assert best(answer)["confidence"] > 0.9
    found = rows(answer)
    assert found[0]["loading_time_ns"] > 79e6 > found[2]["loading_time_ns"] > 10e6
    assert found[6]["loading_time_ns"] < found[2]["loading_time_ns"]
    assert all(row["training_time_ns"] >= 20e6 for row in found.values())
    assert found[6]["batch_size"] == 8
    assert (found[6]["prefetch_factor"], found[0]["prefetch_factor"]) == (2, None)
    assert found[0]["trials"] == 1, "what has surely lost is not tried again"
    assert found[6]["trials"] >= 2
    assert found[6]["peak_bytes"] > found[0]["peak_bytes"] > 50e6
    cpus = len(os.sched_getaffinity(0))
    warned = any("more workers than CPUs" in remark for remark in answer["remarks"])
    assert warned == (cpus < 6)


SMALL = """
import torch
from torch.utils.data import DataLoader, TensorDataset

def make(num_workers=0, persistent_workers=False, prefetch_factor=None):
    return DataLoader(TensorDataset(torch.zeros(32, 4)), batch_size=8, num_workers=num_workers,
                      persistent_workers=persistent_workers, prefetch_factor=prefetch_factor)
"""


def test_workers_that_take_longer_to_start_than_to_load_are_not_chosen(
    sweeps: Sweeps, training_python: str
) -> None:
    sweeps.write(SMALL)
    answer = sweeps.answer(
        "target:make", "--num-workers=0,1", "--budget=5m", python=training_python
    )
    assert best(answer)["keywords"] == "num_workers=0"
    found = rows(answer)
    assert found[1]["slower_share"] > 1
    assert found[1]["start_ns"] > 3e6 > found[0]["start_ns"]
    assert found[0]["training_time_ns"] is None, "there is no train_step"
    assert best(answer)["by_sample"] is True


HUNGRY = """
import numpy
from torch.utils.data import DataLoader, Dataset

class Hungry(Dataset):
    held = None
    def __len__(self):
        return 100000
    def __getitem__(self, index):
        if self.held is None:
            self.held = numpy.ones(300 << 20, dtype=numpy.uint8)
        return index

def make(num_workers=0):
    return DataLoader(Hungry(), batch_size=64, num_workers=num_workers)
"""


def test_memory_is_a_row_and_not_the_end(sweeps: Sweeps, training_python: str) -> None:
    sweeps.write(HUNGRY)
    answer = sweeps.answer(
        "target:make",
        "--num-workers=0,6,8",
        "--max-memory=1G",
        "--budget=5m",
        python=training_python,
    )
    found = rows(answer)
    assert best(answer)["keywords"] == "num_workers=0"
    assert "more than the 1.00 GiB it may take" in found[6]["outcome"]
    assert found[8]["outcome"] == "not tried: num_workers=6 was out of memory already"
    # More than the limit, and not all that they would have taken.
    assert 1 << 30 < found[6]["peak_bytes"] < 2.2 * (1 << 30)


# Without.


def test_the_page_says_what_to_paste(sweeps: Sweeps) -> None:
    sweeps.write(LOADER)
    done = sweeps.run(
        *sweeps.words("target:make", "--num-workers=0,4", "--budget=8s", "--html=s.html", "--md"),
        SLURM_JOB_ID="4711",
        SLURM_CPUS_PER_TASK="1",
    )
    assert done.exit_status == 0, done.stderr.decode()
    page = (sweeps.folder / "s.html").read_text(encoding="utf-8")
    assert "<svg" in page and "num_workers=4" in page
    text = done.stdout.decode()
    assert text.startswith("# num\\_workers=4 is the fastest: ")
    assert "- Paste: `DataLoader(..., num_workers=4)`\n" in text
    assert "this page with a chart" not in text  # it was made
    assert "<code>DataLoader(..., num_workers=4)</code>" in page
    assert "Up to 4 workers were tried and the job has 1 CPU" in text
    assert "4711" in text


def test_files_do_not_keep_the_answer_from_the_terminal(sweeps: Sweeps) -> None:
    sweeps.write(LOADER)
    words = sweeps.words("target:make", "--num-workers=4", "--budget=6s", "--html=s.html")
    done = sweeps.run(*words, "--csv=tables")
    assert done.exit_status == 0, done.stderr.decode()
    text = done.stdout.decode()
    assert text.startswith("num_workers=4 is the only setting that was measured")
    assert "Paste" not in text and "  best" not in text  # of nothing
    assert (sweeps.folder / "s.html").exists() and (sweeps.folder / "tables").is_dir()


def test_tables_are_written(sweeps: Sweeps) -> None:
    sweeps.write(LOADER)
    done = sweeps.run(
        *sweeps.words("target:make", "--num-workers=0", "--csv=tables", "--budget=4s")
    )
    assert done.exit_status == 0, done.stderr.decode()
    file = sweeps.folder / "tables" / "loader-sweep.settings.csv"
    (row,) = csv.DictReader(file.open())
    assert (row["num_workers"], row["trials"], row["outcome"]) == (
        "0",
        "1",
        "the only one measured",
    )
    assert float(row["loading_time_ns"]) > 39e6


def test_keywords_that_the_target_does_not_take_are_said(sweeps: Sweeps) -> None:
    sweeps.write(LOADER)
    answer = sweeps.answer(
        "target:make", "--num-workers=4", "--pin-memory=true,false", "--budget=4s"
    )
    assert (
        "target:make takes no keyword pin_memory: pin_memory was not varied." in (answer["remarks"])
    )
    assert len(answer["tables"]["settings"]) == 1
    assert answer["sentence"].startswith("num_workers=4 is the only setting that was measured, ")


def test_settings_of_one_loader_are_one_setting(sweeps: Sweeps) -> None:
    """The second is seen to be the first in its first trial, and the budget is not spent on it."""
    sweeps.write(LOADER + "def lazy(num_workers=0):\n    return Loader(1)\n")
    began = time.monotonic()
    answer = sweeps.answer("target:lazy", "--num-workers=2,3", "--budget=60s")
    assert time.monotonic() - began < 40
    assert [row["outcome"] for row in answer["tables"]["settings"]] == [
        "the only one measured",
        "the same loader as with num_workers=2",
    ]
    assert [row["trials"] for row in answer["tables"]["settings"]] == [2, None]
    assert best(answer)["keywords"] == "num_workers=1"  # as the loader has it


def test_a_target_that_ignores_a_keyword_is_found_out(sweeps: Sweeps) -> None:
    sweeps.write(LOADER + "def lazy(num_workers=0):\n    return Loader(1)\n")
    answer = sweeps.answer("target:lazy", "--num-workers=2", "--budget=4s")
    assert (
        "The target was given num_workers=2, and its loader has num_workers=1: it does not pass it "
        "on." in answer["remarks"]
    )


ROWS = {
    "raises": ("raise RuntimeError('no such file')", "making the loader: RuntimeError: no such"),
    "is_killed": ("os.kill(os.getpid(), signal.SIGKILL)", "killed by signal 9, making the loader"),
    "leaves": ("os._exit(3)", "ended with status 3, making the loader"),
    "exits": ("sys.exit('enough')", "making the loader: SystemExit: enough"),
    "hangs": ("time.sleep(1000)", "did not get beyond making the loader within"),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_setting_that_fails_is_a_row(name: str, sweeps: Sweeps) -> None:
    act, why = ROWS[name]
    text = f"\ndef broken(num_workers=0):\n    if num_workers == 2:\n        {act}\n"
    sweeps.write(LOADER + text + "    return make(num_workers)\n")
    answer = sweeps.answer("target:broken", "--num-workers=2,4", "--budget=6s")
    assert best(answer)["keywords"] == "num_workers=4"
    assert rows(answer)[4]["outcome"] == "the only one measured"
    (failed,) = [row for row in answer["tables"]["settings"] if row["num_workers"] == 2]
    assert failed["outcome"].startswith(why)
    assert failed["loading_time_ns"] is None


WRONG = {
    "no_module": ("nowhere:make", "there is no module 'nowhere' here or on PYTHONPATH"),
    "no_file": ("nowhere.py:make", "there is no file nowhere.py"),
    "no_function": ("target:maek", "target has no 'maek'; did you mean 'make'?"),
    "no_callable": ("target:VALUE", "target:VALUE is a int, not a function"),
    "wants_more": ("target:wants", "wants wants 'path', which is no setting of a loader: give it"),
    "none": ("target:none", "target:none returned None: it must return a DataLoader, or a pair"),
    "number": ("target:number", "target:number returned a int: it must return a DataLoader, or"),
    "three": ("target:three", "target:three returned 3 things: it must return a DataLoader, or"),
    "no_step": ("target:no_step", "target:no_step returned a int as train_step: it must return"),
    "empty": ("target:empty", "waiting for the first batch: ValueError: the loader gave no batch"),
    "raises": ("target:raises", "making the loader: ZeroDivisionError: division by zero"),
    "bad_step": ("target:bad_step", "in train_step: KeyError: 'x'"),
    "import_fails": ("broken:make", "importing: ModuleNotFoundError: No module named 'nowhere'"),
    "import_exits": ("leaving:make", "importing: SystemExit: 1"),
}
NEVER_IMPORTED = (
    *("no_module", "no_file", "no_function", "no_callable", "wants_more"),
    *("import_fails", "import_exits"),
)
TARGETS = """
VALUE = 3
def wants(path, num_workers=0): pass
def none(num_workers=0): pass
def number(num_workers=0): return 42
def three(num_workers=0): return [], len, 3
def no_step(num_workers=0): return [], 3
def empty(num_workers=0): return []
def raises(num_workers=0): return 1 / 0
def bad_step(num_workers=0): return [[1]] * 9, lambda batch: {}['x']
"""


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_target_is_said(name: str, sweeps: Sweeps) -> None:
    sweeps.write(LOADER + TARGETS)
    sweeps.write("import nowhere", "broken.py")
    sweeps.write("import sys; sys.exit(1)", "leaving.py")
    target, why = WRONG[name]
    done = sweeps.run(*sweeps.words(target, "--num-workers=0,1", "--budget=30s"))
    assert done.exit_status == 3
    assert done.stderr.decode().startswith(f"stepscope: {why}"), done.stderr.decode()
    shown = done.stdout.decode()
    assert "budget" not in shown.replace("--budget", "budget"), "time was not what it lacked"
    assert bool(shown) == (name not in NEVER_IMPORTED)
    if name in ("none", "number"):
        assert "not tried: the target failed" in shown
        assert "1 setting was not tried: the target failed, and would again." in shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_shows_what_is_known(number: int, sweeps: Sweeps) -> None:
    sweeps.write(LOADER.replace("def make(", "def make_(") + SLOW_LATER)
    process = sweeps.start(*sweeps.words("target:make", "--num-workers=4,2", "--json"))
    mark = sweeps.folder / "second"
    until = time.monotonic() + 60
    while not mark.exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number, err.decode()
    answer = json.loads(out)
    assert rows(answer)[4]["outcome"] == "fastest tried"
    assert rows(answer)[2]["outcome"] == "not tried: stopped before"
    assert any(remark.startswith("Stopped before") for remark in answer["remarks"])
    assert not _alive(int(mark.read_text())), "the trial went with it"


SLOW_LATER = """
def make(num_workers=0):
    if num_workers == 2:
        with open('half', 'w') as file:
            file.write(str(os.getpid()))
        os.rename('half', 'second')
        time.sleep(1000)
    return Loader(num_workers)
"""


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_what_the_target_prints_is_no_part_of_the_answer(sweeps: Sweeps) -> None:
    noise = "print('block 1 1 1 1')\nos.system('echo end')\nos.write(1, b'end\\n')\n"
    sweeps.write(LOADER + noise)
    answer = sweeps.answer("target.py:make", "--num-workers=4", "--budget=4s")
    assert rows(answer)[4]["loading_time_ns"] > 9e6


def test_a_script_that_reads_its_arguments_finds_none(sweeps: Sweeps) -> None:
    sweeps.write(LOADER + "import argparse\nargparse.ArgumentParser().parse_args()\n")
    answer = sweeps.answer("target.py:make", "--num-workers=4", "--budget=4s")
    assert rows(answer)[4]["loading_time_ns"] > 9e6


# Of finished jobs.

RECORDED = """
import sys, time
import stepscope
import torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 24
    def __getitem__(self, index):
        time.sleep(0.02)
        return torch.zeros(4)

workers = int(sys.argv[2])
loader = DataLoader(Slow(), batch_size=2, num_workers=workers, drop_last=True,
                    persistent_workers=workers > 0)
with stepscope.profile(sys.argv[1], trace=False, system=False) as prof:
    for _ in range(2):
        for batch in prof.watch(loader):
            time.sleep(0.02)
            prof.step()
"""


def test_finished_jobs_of_different_scripts_are_not_compared(
    sweeps: Sweeps, training: Callable[[str], Any]
) -> None:
    script = training(RECORDED)
    other = script.file.with_name("other.py")
    other.write_text(script.file.read_text())
    copy = script.file.parent / "copy" / script.file.name
    copy.parent.mkdir()
    copy.write_text(script.file.read_text())
    for run, file in (("a", script.file), ("b", other), ("c", copy)):
        done = type(script)(script.python, file).run(str(script.file.parent / run), "0")
        assert done.returncode == 0, done.stderr
    done = sweeps.run("sweep", "dataloader", "--from", "a", "b")
    assert done.exit_status == 2
    assert done.stdout == b""
    lines = done.stderr.decode().splitlines()
    assert lines[0].startswith("stepscope: these runs are of different programs, whose loaders")
    assert lines[1:] == [f"stepscope: a: {script.file}", f"stepscope: b: {other}"]
    # The same name in another folder may be a copy: it is said.
    done = sweeps.run("sweep", "dataloader", "--from", "a", "c", "--json")
    assert done.exit_status == 0, done.stderr.decode()
    remarks = " ".join(json.loads(done.stdout)["remarks"])
    assert (
        f"lies in 2 folders: whether it is the same one is not known (a: {script.file}" in remarks
    )


def test_finished_jobs_make_the_same_table(sweeps: Sweeps, training: Callable[[str], Any]) -> None:
    script = training(RECORDED.replace(", system=False", ""))
    for workers, job in ((0, "17"), (4, "18")):
        done = script.run(f"run{workers}", str(workers), SLURM_JOB_ID=job, SLURM_PROCID="0")
        assert done.returncode == 0, done.stderr
    done = sweeps.run("sweep", "dataloader", "--from", "run0", "run4", "--json")
    assert done.exit_status == 0, done.stderr.decode()
    answer = json.loads(done.stdout)
    found = rows(answer)
    assert (found[0]["job"], found[4]["job"]) == ("17", "18")
    assert found[4]["outcome"] == "best"
    assert best(answer)["keywords"] == (
        "num_workers=4, batch_size=2, pin_memory=False, prefetch_factor=2, "
        "persistent_workers=True, drop_last=True"
    )
    assert found[0]["loading_time_ns"] > 39e6 > found[4]["loading_time_ns"]
    assert found[0]["training_time_ns"] >= 20e6
    # Of the machine, as it was sampled meanwhile.
    assert found[0]["peak_bytes"] > 50e6 and found[4]["peak_bytes"] > 50e6
    cpus = len(os.sched_getaffinity(0))
    remarks = [one for one in answer["remarks"] if "ran 4 workers and a rank of it had" in one]
    assert len(remarks) == (cpus < 4)
    assert found[0]["non_blocking"] is None, "it is not recorded"
