"""`stepscope run` finds the training loop of programs that know nothing of it."""

import json
import re
from pathlib import Path

from launched_program import TRAINING, Runner, said, windows
from recorded_program import ranges_of, rank_facts, rank_folder

import stepscope


def test_a_plain_loop(trainer: Runner, tmp_path: Path) -> None:
    """Which reads, prints bytes, has a sitecustomize of its own and ends with a status."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import sys\nsys.from_theirs = __name__\n")
    trainer.script(
        TRAINING
        + """
assert sys.from_theirs == sys.modules["sitecustomize"].__name__ == "sitecustomize"
assert not [entry for entry in sys.path if "startup" in entry]
watched = sys.modules["torch.optim.optimizer"]
assert type(watched.__loader__) is type(watched.__spec__.loader) is type(torch.__loader__)
data = sys.stdin.buffer.read()
loop()
sys.stdout.buffer.write(data[::-1])
sys.stderr.write("theirs\\n")
sys.exit(7)
"""
    )
    done = trainer.run(
        *("--steps", "12:15", "--out", "runs/a", "--", trainer.python, "train.py", "--lr", "1"),
        stdin=b"\x00\xff\r\n",
        PYTHONPATH=str(tmp_path / "own"),
    )
    assert (done.returncode, done.stdout) == (7, b"\n\r\xff\x00"), done.stderr
    first, *report = done.stderr.decode().splitlines()
    assert first == "theirs"
    assert "  Traced steps  3 · ProfilerStep#12 to #14" in "\n".join(report)
    assert said(done) == [
        "the run is in runs/a; `stepscope report runs/a` shows all of it",
        "the program ended with status 7",
    ]
    facts = rank_facts(tmp_path / "runs" / "a")
    assert (facts["steps"], facts["epochs"], facts["warnings"]) == (30, 3, [])
    assert windows(tmp_path / "runs" / "a") == [(12, 3, "complete")]
    about = json.loads((tmp_path / "runs" / "a" / "run.json").read_text())
    assert about["command"] == ["train.py", "--lr", "1"]
    found = ranges_of(rank_folder(tmp_path / "runs" / "a") / "events.scope")
    assert (found["optimizer step"], found["backward"]) == (30, 30)
    missing = stepscope.open(tmp_path / "runs" / "a").findings().not_judged
    assert any("`stepscope run --config stepscope.yaml" in one.record for one in missing)
    # Each pass asks once more than there are batches.
    assert found["wait for data#DataLoader"] == 33
    assert found["wait for data#DataLoader (validation)"] == 9


def test_other_kinds_of_loops(trainer: Runner, tmp_path: Path) -> None:
    """Each in a process of its own, forked from one that has loaded torch."""
    trainer.script(
        """
import atexit, os, torch
import torch._dynamo  # or each first optimizer would load it
from torch.utils.data import DataLoader, TensorDataset

def parts(count=1):
    models = [torch.nn.Linear(8, 8) for _ in range(count)]
    return models, [torch.optim.SGD(model.parameters(), lr=0.1) for model in models]

def no_loader():
    (model,), (optimizer,) = parts()
    for _ in range(6):
        optimizer.zero_grad()
        model(torch.randn(4, 8)).sum().backward()
        optimizer.step()

def two_optimizers():
    models, optimizers = parts(2)
    for _ in range(6):
        for model, optimizer in zip(models, optimizers):
            optimizer.zero_grad()
            model(torch.randn(4, 8)).sum().backward()
            optimizer.step()

def accumulating():
    (model,), (optimizer,) = parts()
    for number, (batch,) in enumerate(DataLoader(TensorDataset(torch.randn(48, 8)), batch_size=4)):
        model(batch).sum().backward()
        if number % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()

def workers():
    (model,), (optimizer,) = parts()
    loader = DataLoader(TensorDataset(torch.randn(24, 8)), batch_size=4, num_workers=1)
    iterator = iter(loader)
    assert isinstance(iterator, torch.utils.data.dataloader._MultiProcessingDataLoaderIter)
    for (batch,) in iterator:
        model(batch).sum().backward()
        optimizer.step()

def one_batch_at_a_time():
    (model,), (optimizer,) = parts()
    loader = DataLoader(TensorDataset(torch.randn(24, 8)), batch_size=4)
    for _ in range(6):
        (batch,) = next(iter(loader))
        model(batch).sum().backward()
        optimizer.step()

def failing_step():
    (model,), (optimizer,) = parts()
    def closure():
        raise ValueError("theirs")
    for number in range(7):
        try:
            optimizer.step(closure if number == 3 else None)
        except ValueError as error:
            assert str(error) == "theirs"

def no_optimizer():
    for _ in DataLoader(TensorDataset(torch.randn(24, 8))):
        pass

def its_own():
    import stepscope
    (model,), (optimizer,) = parts()
    optimizer.step()  # ours has begun
    with stepscope.profile("its-own/run", trace=False) as prof:
        for _ in range(4):
            optimizer.step()
            prof.step()

for kind in (no_loader, two_optimizers, accumulating, workers, one_batch_at_a_time, failing_step,
             no_optimizer, its_own):
    os.environ["STEPSCOPE_RUN_PLAN"] = os.environ["STEPSCOPE_RUN_PLAN"].replace("%%", kind.__name__)
    if (child := os.fork()) == 0:
        kind()
        atexit._run_exitfuncs()
        os._exit(0)  # taking torch apart would take a second more
    assert os.waitpid(child, 0)[1] == 0, kind
    os.environ["STEPSCOPE_RUN_PLAN"] = os.environ["STEPSCOPE_RUN_PLAN"].replace(kind.__name__, "%%")
"""
    )
    done = trainer.run(
        *("-q", "--steps", "2:4", "--out", "runs/%%", "--", trainer.python, "train.py")
    )
    assert done.returncode == 0, done.stderr
    runs = {folder.name: rank_facts(folder) for folder in (tmp_path / "runs").iterdir()}
    assert {name: (facts["steps"], facts["epochs"]) for name, facts in runs.items()} == {
        "no_loader": (6, 0),
        "two_optimizers": (6, 0),
        "accumulating": (6, 1),
        "workers": (6, 1),
        "one_batch_at_a_time": (6, 5),
        "failing_step": (7, 0),
        "its_own": (1, 0),
    }
    assert rank_facts(tmp_path / "its-own" / "run")["steps"] == 4
    assert list(rank_folder(tmp_path / "runs" / "workers").glob("worker-*.scope"))


def test_lines_before_the_first_step(trainer: Runner, tmp_path: Path) -> None:
    """Of `logging`, which the program sets up itself; what it prints stays as it is."""
    trainer.script(
        """
import logging
logging.basicConfig(level=logging.INFO, format="%(name)s says %(message)s")
logging.getLogger("app").info("reading %s", "settings")
logging.getLogger("app").debug("not asked for")
"""
        + TRAINING
        + """
logging.getLogger("app").warning("little data")
loop(1, after=lambda epoch: logging.getLogger("app").info("epoch %d", epoch))
assert logging.Logger.callHandlers.__module__ != "_stepscope_waiting"
"""
    )
    done = trainer.run("--no-report", "--out", "run", "--", trainer.python, "train.py")
    assert done.returncode == 0, done.stderr
    printed = done.stderr.decode().splitlines()[:3]
    assert printed == ["app says reading settings", "app says little data", "app says epoch 0"]
    lines = stepscope.open(tmp_path / "run").log(level="debug")["lines"].rows()
    kept = [(row["level"], row["text"]) for row in lines if row["logger"] == "app"]
    assert [level for level, _ in kept] == ["info", "warning", "info"]
    assert re.fullmatch(r"reading settings \([0-9.]+ s before the recording began\)", kept[0][1])
    assert re.fullmatch(r"little data \([0-9.]+ s before the recording began\)", kept[1][1])
    assert kept[2][1] == "epoch 0"


def test_batches_of_an_epoch_are_batches(trainer: Runner, tmp_path: Path) -> None:
    """Twelve batches an epoch, three for a step: batches 4 to 7 are of steps 1 and 2 of it."""
    trainer.script(
        """
import torch
from torch.utils.data import DataLoader, TensorDataset
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(48, 8)), batch_size=4)
for epoch in range(3):
    for number, (batch,) in enumerate(loader):
        model(batch).sum().backward()
        if number % 3 == 2:
            optimizer.step()
            optimizer.zero_grad()
"""
    )
    done = trainer.run(
        *("--epoch", "1:4-7", "--no-report", "--out", "run", "--", trainer.python, "train.py")
    )
    assert done.returncode == 0, done.stderr
    facts = rank_facts(tmp_path / "run")
    assert (facts["steps"], facts["epochs"], facts["warnings"]) == (12, 3, [])
    assert windows(tmp_path / "run") == [(5, 2, "complete")]


def test_a_closure_is_no_part_of_the_optimizers_work(trainer: Runner, tmp_path: Path) -> None:
    trainer.script(
        """
import time, torch
model = torch.nn.Linear(8, 8)
def closure():
    time.sleep(0.02)
    loss = model(torch.randn(4, 8)).square().mean()
    loss.backward()
    return loss
for optimizer in (torch.optim.SGD(model.parameters(), lr=0.1),
                  torch.optim.LBFGS(model.parameters(), max_iter=3)):
    for number in range(4):
        optimizer.step(closure) if number % 2 else optimizer.step(closure=closure)
"""
    )
    done = trainer.run(
        "--steps", "1:4", "--no-report", "--out", "run", "--", trainer.python, "train.py"
    )
    assert done.returncode == 0, done.stderr
    run = stepscope.open(tmp_path / "run")
    ranges = {row["range"]: row for row in run.time(top=0).tables["ranges"].rows()}
    assert ranges["optimizer step"]["calls"] >= 8
    assert ranges["optimizer step"]["total_ns"] < 20e6 * ranges["backward"]["calls"] / 2
    assert "overlapping_spans" not in {note["id"] for note in run.notes}


def test_a_thread_that_reads_ahead_marks_no_steps(trainer: Runner, tmp_path: Path) -> None:
    """A pass begins and ends on it while the loop is in the middle of a step."""
    trainer.script(
        """
import queue, threading, time, torch
from torch.utils.data import DataLoader

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 20
    def __getitem__(self, index):
        time.sleep(0.008)
        return torch.ones(8)

def ahead(loader):
    full = queue.Queue(4)
    def fill():
        for batch in loader:
            full.put(batch)
        full.put(None)
    threading.Thread(target=fill).start()
    while (batch := full.get()) is not None:
        yield batch

net, loader = torch.nn.Linear(8, 4), DataLoader(Rows(), batch_size=1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for batch in ahead(loader):
        optimizer.zero_grad()
        net(batch).sum().backward()
        time.sleep(0.015)
        optimizer.step()
"""
    )
    done = trainer.run("-q", "--out", "run", "--", trainer.python, "train.py")
    assert done.returncode == 0, done.stderr
    facts = rank_facts(tmp_path / "run")
    assert (facts["steps"], facts["epochs"]) == (60, 3)
    run = stepscope.open(tmp_path / "run")
    steps = list(run.time()["steps"].rows())
    assert [row["step"] for row in steps] == list(range(60))
    assert min(row["step_ns"] for row in steps) > 15e6, steps
    assert [row["wait_share"] for row in run.throughput()["phases"].rows()] == [None]
