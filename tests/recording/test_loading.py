"""Loaders whose times are known: by sleeping, and by what their workers measured themselves."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracle.loading import Load, read_loading
from program import ROOT
from recorded_program import Script

import stepscope

PROGRAM = ROOT / "tests" / "recording" / "loader_program.py"
SAMPLES, BATCH, READ_BYTES = 12, 3, 40_000

FORKED = {"num_workers": 2, "multiprocessing_context": "fork"}
SETTINGS: dict[str, dict[str, Any]] = {
    "in_the_loop": {},
    "forked": FORKED,
    "spawned": {"num_workers": 2, "multiprocessing_context": "spawn", "epochs": 1},
    "forkserver": {"num_workers": 2, "multiprocessing_context": "forkserver", "epochs": 1},
    "persistent": {**FORKED, "persistent_workers": True, "epochs": 3},
    "pinned": {**FORKED, "pin_memory": True},
    "streamed": {**FORKED, "dataset": "streamed"},
    "streamed_in_the_loop": {"dataset": "streamed"},
    "streamed_persistent": {**FORKED, "dataset": "streamed", "persistent_workers": True},
    "batch_sampler": {**FORKED, "batch_sampler": True},
    "by_one": {**FORKED, "batch_size": None, "epochs": 1},
    "by_one_in_the_loop": {"batch_size": None, "epochs": 1},
    "any_order": {**FORKED, "in_order": False},
    "far_ahead": {**FORKED, "prefetch_factor": 4},
    "slotted": {**FORKED, "dataset": "slotted"},
    "slotted_in_the_loop": {"dataset": "slotted"},
    "subset": {**FORKED, "dataset": "subset"},
    "refusing": {**FORKED, "dataset": "refusing", "lambda": True},
    "refusing_in_the_loop": {"dataset": "refusing", "lambda": True},
    "last_batch_is_smaller": {**FORKED, "batch_size": 5},
}


def own_figures(folder: Path) -> dict[int, Counter[str]]:
    """By process: what it measured itself."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for file in (folder / "own").iterdir():
        for line in file.read_text().splitlines():
            what, took = line.split()
            found[int(file.stem)][what] += int(took)
    for figures in found.values():
        figures["fetch"] = figures.pop("item") - figures["transform"]
    return found


def sums(loads: list[Load]) -> dict[int, Counter[str]]:
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for load in loads:
        found[load.pid]["fetch"] += load.fetch_ns
        found[load.pid]["transform"] += load["transform_ns"] or 0
        found[load.pid]["collate"] += load["collate_ns"] or 0
    return found


def record(python: str, folder: Path, names: list[str]) -> None:
    chosen = {name: SETTINGS[name] for name in names}
    done = Script(python, PROGRAM).run(str(folder), json.dumps(chosen))
    assert done.returncode == 0, done.stderr


def off(name: str, folder: Path) -> list[str]:
    """What is not within 5 % of what the workers themselves measured."""
    own, ours = own_figures(folder), sums(read_loading(folder / "run").loads[0])
    assert set(own) == set(ours)
    found = []
    for pid, figures in own.items():
        expected = dict(figures)
        if "refusing" in name:  # a transform that cannot be exchanged is part of the fetching
            expected["fetch"] += expected.pop("transform")
        found += [
            f"{what}: {ours[pid][what]} and {took} ns"
            for what, took in expected.items()
            if ours[pid][what] != pytest.approx(took, rel=0.05)
        ]
    return found


@pytest.mark.parametrize(
    "name",
    [
        # Their workers load torch themselves.
        pytest.param(name, marks=pytest.mark.nightly) if name in ("spawned", "forkserver") else name
        for name in SETTINGS
    ],
)
def test_times_are_those_that_workers_measured(
    name: str, training_python: str, tmp_path: Path
) -> None:
    settings, folder = SETTINGS[name], tmp_path / name
    record(training_python, tmp_path, [name])
    found = read_loading(folder / "run")
    loads = found.loads[0]
    given = [wait for wait in found.waits if wait.gave]
    epochs = settings.get("epochs", 2)
    by_one = "batch_size" in settings and settings["batch_size"] is None
    assert len(given) == int((folder / "batches").read_text())
    assert len(found.waits) == len(given) + epochs  # each pass ends with a wait for nothing
    assert all(wait.load is not None for wait in given)
    assert len({id(wait.load) for wait in given}) == len(given) == len(loads)
    # All samples, each once an epoch.
    assert sum(wait["samples"] or 0 for wait in given) == SAMPLES * epochs
    if not by_one:
        assert [w["samples"] for w in given] == [w.load["samples"] for w in given if w.load]
    if "refusing" in name:
        assert all(load["transform_ns"] is None for load in loads)
    # Between the two readings of the clock a busy machine may take the processor away: then once
    # more. What is measured wrongly is so every time.
    differences = off(name, folder)
    for again in range(4):
        if not differences:
            break
        record(training_python, tmp_path / str(again), [name])
        differences = off(name, tmp_path / str(again) / name)
    assert not differences
    workers = settings.get("num_workers", 0)
    for load in loads:
        samples = load["samples"] or 1
        read, files = load["read_bytes"], load["files"]
        assert read is not None
        assert (files is None) == (workers == 0)
        # Each sample reads one file; what it writes is not counted, nor is the code of modules
        # that it imports first, and of those that the thread imports that sends a first batch.
        assert samples * READ_BYTES <= read <= 1.03 * samples * READ_BYTES, load
        # The thread that sends a worker's first batch may open a file of its own.
        assert files is None or samples <= files <= samples + 1
        assert load["cpu_ns"] is not None
        assert load["cpu_ns"] < load.length / 2  # it sleeps
        assert load.worker in ([None] if workers == 0 else range(workers))
    if workers:
        assert {wait["worker"] for wait in given} == set(range(workers))
        # The loop is quick and the workers are slow: what is ready is soon taken.
        assert all(0 <= (wait["ready"] or 0) <= 3 for wait in given)
        assert all(wait["ready"] is not None for wait in given)


STAYING = """
import sys, time, torch
import stepscope as ss
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 12
    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.ones(3)

if __name__ == "__main__":
    loader = DataLoader(Slow(), batch_size=3, num_workers=2, persistent_workers=True,
                        multiprocessing_context=sys.argv[2])
    with ss.profile(sys.argv[1], trace=False) as prof:
        watched = prof.watch(loader)
        for _ in range(2):
            for batch in watched:
                prof.step()
            prof.epoch()
"""


@pytest.mark.parametrize("start", ["fork", pytest.param("spawn", marks=pytest.mark.nightly)])
def test_workers_that_stay_are_finished_when_their_parent_ends(
    training: Callable[[str], Script], tmp_path: Path, start: str
) -> None:
    """They get a signal, and run nothing of Python's own any more."""
    done = training(STAYING).run(str(tmp_path / "run"), start)
    assert (done.returncode, done.stderr) == (0, "")
    opened = stepscope.open(tmp_path / "run")
    assert "not_finished" not in {note["id"] for note in opened.notes}
    found = read_loading(tmp_path / "run")
    assert len(found.loads[0]) == 8
    assert len({load.pid for load in found.loads[0]}) == 2


IMPORTING = """
import importlib, sys, threading, time, torch
from pathlib import Path
import stepscope as ss
from torch.utils.data import DataLoader, Dataset

BYTES, MODULES = 40_000, 400

def import_all():
    for number in range(MODULES):
        importlib.import_module(f"plain_{number}")
        time.sleep(0.0005)

class Reading(Dataset):
    importing = None
    def __init__(self, file):
        self.file = file
    def __len__(self):
        return 200
    def __getitem__(self, index):
        if Reading.importing is None:
            Reading.importing = threading.Thread(target=import_all, daemon=True)
            Reading.importing.start()
        with open(self.file, "rb", buffering=0) as file:
            assert len(file.read(BYTES)) == BYTES
        return torch.ones(3)

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    modules = folder / "modules"
    modules.mkdir()
    for number in range(MODULES):
        (modules / f"plain_{number}.py").write_text("#" * 100_000)
    sys.path.insert(0, str(modules))
    sys.dont_write_bytecode = True
    (folder / "data").write_bytes(b"x" * BYTES)
    with ss.profile(folder / "run", trace=False) as prof:
        for batch in prof.watch(DataLoader(Reading(folder / "data"), num_workers=1)):
            prof.step()
"""


def test_what_a_thread_imports_meanwhile_is_no_data(
    training: Callable[[str], Script], tmp_path: Path
) -> None:
    """Between two looks at the system's figures a thread of the worker may read code."""
    done = training(IMPORTING).run(str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    read = sorted(load["read_bytes"] or 0 for load in read_loading(tmp_path / "run").loads[0])
    assert len(read) == 200
    # The looks themselves read the few lines that the system says of a thread.
    assert all(40_000 <= one <= 42_000 for one in read), read


AT_ONCE = """
import sys, torch
import stepscope as ss
from torch.utils.data import DataLoader, Dataset

class AtOnce(Dataset):
    def __len__(self):
        return 20
    def __getitems__(self, indices):
        return torch.zeros(len(indices), 4), torch.zeros(len(indices))

if __name__ == "__main__":
    loader = DataLoader(AtOnce(), batch_size=8, collate_fn=list, num_workers=int(sys.argv[2]))
    with ss.profile(sys.argv[1], trace=False, system=False) as prof:
        for batch in prof.watch(loader):
            prof.step()
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_a_batch_that_is_made_at_once_holds_what_was_asked_for(
    training: Callable[[str], Script], tmp_path: Path, workers: int
) -> None:
    """Inputs and targets are not two samples."""
    done = training(AT_ONCE).run(str(tmp_path / "run"), str(workers))
    assert done.returncode == 0, done.stderr
    loads = read_loading(tmp_path / "run").loads[0]
    assert sorted(load["samples"] or 0 for load in loads) == [4, 8, 8]
