"""Lightning's callback and profiler, with real trainers."""

import json
from pathlib import Path
from typing import Any

import pytest
from framework_page import need, page_script
from recorded_program import Script, rank_facts, write_script

import stepscope
from stepscope.integrations.actions import Action, callbacks_in, read_actions
from stepscope.integrations.recorded import RecordedRun


@pytest.fixture(scope="module")
def python(training_python: str) -> str:
    need(training_python, "lightning", "pytorch_lightning")
    return training_python


# Lightning's own profiler counts the actions of the same training.
COUNTED = """
    import json, sys
    from lightning.pytorch.profilers import SimpleProfiler
    counted = SimpleProfiler()
    shown = sorted(trainer.progress_bar_metrics)
    again = lightning.Trainer(max_epochs=2, accelerator="cpu", profiler=counted, logger=False,
                              enable_progress_bar=False)
    again.fit(Model(), loader(10), loader(4))
    counts = {name: len(times) for name, times in counted.recorded_durations.items()}
    loaders = [one.__module__ for one in (DataLoader.__iter__,)]
    print(json.dumps({"shown": shown, "counts": counts, "iter": loaders}))
"""


def run_page(script: Script) -> tuple[dict[str, Any], str]:
    done = script.run()
    assert done.returncode == 0, done.stderr
    assert "RecordingWarning" not in done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_the_page(python: str, tmp_path: Path) -> None:
    said, report = run_page(page_script(python, "lightning.md", tmp_path, COUNTED))
    run = tmp_path / "runs" / "lightning"
    facts = rank_facts(run)
    assert (facts["steps"], facts["epochs"], facts["finished"]) == (20, 2, "stop")
    assert facts["warnings"] == []
    assert [(w["first_step"], w["steps"]) for w in facts["windows"]] == [(5, 3)]
    assert said["shown"] == ["training_rate", "validation_rate"]
    assert said["iter"] == ["torch.utils.data.dataloader"]  # theirs again
    assert "Time report of rank 0, " in report
    assert "\n        forward " in report  # inside of training_step, optimizer_step, batch, epoch
    findings = stepscope.open(run).findings()
    assert any(one.record.startswith('Callback("runs/new", ') for one in findings.not_judged)
    # Lightning's range hides the loader's class; the loader itself was watched.
    assert not any("is not recorded" in one.detail for one in findings)

    (actions,) = read_actions(RecordedRun(run))
    tree = actions.trees["main thread"]
    batch = tree["run_training_epoch"].inside["run_training_batch"]
    step = batch.inside["[LightningModule]Model.optimizer_step"]
    training = step.inside["[Strategy]SingleDeviceStrategy.training_step"]
    assert training.inside["forward"].calls == 20
    inside = training.total_ns + step.inside["[Strategy]SingleDeviceStrategy.backward"].total_ns
    assert inside + step.self_ns <= step.total_ns <= batch.total_ns
    # Ours has begun a moment later than Lightning's, in setup.
    ours = count_calls(tree)
    for name in ("run_training_epoch", "run_training_batch", *said["counts"]):
        if name.startswith(("run_", "[Strategy]", "[_", "[LightningModule]Model.optimizer")):
            assert ours[name] == said["counts"][name], name
    for kind, sums in callbacks_in(tree).items():
        hooks = {
            name: calls
            for name, calls in ours.items()
            if name.startswith(f"[Callback]{kind}")
            # Called while this one saves a checkpoint, so within a hook of its own.
            and not (kind == "ModelCheckpoint" and name.endswith(".on_save_checkpoint"))
        }
        assert sums.calls == sum(hooks.values())
        assert sums.mean_ns == sums.total_ns / sums.calls

    (model,) = stepscope.open(run).model()["summary"].rows()
    assert (model["model"], model["parameters"]) == ("Model", 16 * 64 + 64 + 64 + 1)
    assert model["mult_adds"] == 8 * (16 * 64 + 64)  # of a batch that passed

    rates = {row["phase"]: row for row in stepscope.open(run).throughput()["phases"].rows()}
    assert {phase: row["iterations"] for phase, row in rates.items()} == {
        "training": 20,
        "validation": 8,
        "sanity check": 2,
    }
    assert rates["training"]["samples"] == 8 * rates["training"]["measured"]
    # Between two passes of validation lies an epoch of training, which is no part of it.
    spent = 8 / rates["validation"]["iterations_per_second"]
    assert spent * 1e9 < tree["run_training_epoch"].total_ns / 2


def count_calls(tree: dict[str, Action]) -> dict[str, int]:
    found: dict[str, int] = {}
    for top in tree.values():
        for _, one in top.walk():
            found[one.name] = found.get(one.name, 0) + one.calls
    return found


def test_two_devices(python: str, tmp_path: Path) -> None:
    """The page's script, with nothing changed but the number of devices."""
    script = page_script(python, "lightning.md", tmp_path)
    text = script.file.read_text()
    assert text.count('accelerator="cpu"') == 1
    script.file.write_text(
        text.replace('accelerator="cpu"', 'accelerator="cpu", devices=2, strategy="ddp"')
    )
    done = script.run()
    assert done.returncode == 0, done.stderr
    run = tmp_path / "runs" / "lightning"
    for rank in (0, 1):
        facts = rank_facts(run, rank)
        assert (facts["rank_from"], facts["steps"]) == ("torch.distributed", 10)
        assert [(w["first_step"], w["steps"]) for w in facts["windows"]] == [(5, 3)]
    assert stepscope.open(run).ranks == [0, 1]
    assert "Time report of rank 0 of 2" in done.stderr
    assert "slowest rank" in done.stderr


@pytest.mark.nightly
def test_two_spawned_devices(python: str, tmp_path: Path) -> None:
    """Their processes get the callback pickled, and are none of a launcher."""
    script = page_script(python, "lightning.md", tmp_path)
    text = script.file.read_text()
    script.file.write_text(
        text.replace('accelerator="cpu"', 'accelerator="cpu", devices=2, strategy="ddp_spawn"')
    )
    done = script.run()
    assert done.returncode == 0, done.stderr
    assert "given up" not in done.stderr
    run = tmp_path / "runs" / "lightning"
    for rank in (0, 1):
        facts = rank_facts(run, rank)
        assert (facts["rank_from"], facts["steps"]) == ("torch.distributed", 10)
        assert (facts["world_size"], facts["finished"]) == (2, "stop")
        assert [(w["first_step"], w["steps"]) for w in facts["windows"]] == [(5, 3)]
    assert len(list(run.glob("attempt-*"))) == 1
    assert stepscope.open(run).ranks == [0, 1]
    assert "Time report of rank 0 of 2" in done.stderr


SMALL = """
import asyncio, json, os, sys, warnings
import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, TensorDataset
import stepscope as ss
from stepscope.integrations.pytorch_lightning import Callback, Profiler

class Small(pl.LightningModule):
    def __init__(self, act=lambda: None):
        super().__init__()
        self.act, self.layer = act, torch.nn.Linear(4, 4)
    def training_step(self, batch, _):
        self.act()
        return self.layer(batch[0]).sum()
    def validation_step(self, batch, _):
        self.layer(batch[0])
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

def loader(batches):
    return DataLoader(TensorDataset(torch.randn(4 * batches, 4)), batch_size=4)

def fit(model, **more):
    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_progress_bar=False,
                         enable_checkpointing=False, enable_model_summary=False, **more)
    trainer.fit(model, loader(4), loader(2))
    return trainer
"""


def test_asynchronous_code_and_the_profiler_alone(python: str, tmp_path: Path) -> None:
    script = write_script(
        python,
        tmp_path / "train.py",
        SMALL
        + """
@ss.range
async def fetch():
    with ss.range("read"):
        await asyncio.sleep(0.1)

async def both():
    await asyncio.gather(fetch(), fetch())

@ss.range("side by side")
def act():
    asyncio.run(both())

fit(Small(act), profiler=Profiler("run", trace=False, verbose=True, dirpath=".", filename="times"))
with ss.profile("around", trace=False):
    fit(Small(), profiler=Profiler(), accumulate_grad_batches=2)
fit(Small(), callbacks=[Callback("accumulated", trace=False)], accumulate_grad_batches=2)
""",
    )
    done = script.run()
    assert done.returncode == 0, done.stderr
    assert "RecordingWarning" not in done.stderr
    facts = rank_facts(tmp_path / "run")
    assert (facts["steps"], facts["epochs"], facts["finished"]) == (4, 1, "stop")
    (actions,) = read_actions(RecordedRun(tmp_path / "run"))
    (around,) = [
        one
        for top in actions.trees["main thread"].values()
        for _, one in top.walk()
        if one.name == "side by side"
    ]
    fetch = actions.trees["async tasks"]["fetch"]
    assert (around.calls, fetch.calls, fetch.inside["read"].calls) == (4, 8, 8)
    assert around.total_ns >= 4 * 0.1e9 and fetch.total_ns >= 8 * 0.1e9
    assert fetch.total_ns > 1.5 * around.total_ns  # two at a time
    report = (tmp_path / "fit-times.txt").read_text()
    assert "(in async tasks)" in report and "side by side" in report
    # Also in a recording of the program's own, which nothing else would tell of steps.
    assert rank_facts(tmp_path / "around")["steps"] == 2
    (actions,) = read_actions(RecordedRun(tmp_path / "around"))
    assert actions.trees["main thread"]["run_training_epoch"].calls == 1
    assert rank_facts(tmp_path / "accumulated")["steps"] == 2


def test_the_training_is_not_harmed(python: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    script = write_script(
        python,
        tmp_path / "train.py",
        SMALL
        + """
torchs = DataLoader.__iter__
said = []
warnings.showwarning = lambda text, kind, *more: said.append((kind.__name__, str(text)))
warnings.simplefilter("always")

def ours():
    found = [text for kind, text in said if kind == "RecordingWarning"]
    said.clear()
    return found

def check(name, callback, act=lambda: None):
    before = len(said)
    trainer = fit(Small(act), callbacks=[callback])
    assert trainer.global_step == 4, name
    assert DataLoader.__iter__ is torchs, name
    print(json.dumps([name, ours()]))

check("unwritable", Callback("file/run"))
broken = Callback("broken", trace=False)
broken.follower.training.batch_ended = None
broken.follower.begin_training = None
def fail():
    raise RuntimeError("ours")
original = broken.follower.begin
def begin(*args):
    original(*args)
    broken.follower.prof.step = fail
broken.follower.begin = begin
check("broken", broken)
try:
    Callback("run", trace=["shape"])
except ss.UsageError as error:
    print(json.dumps(["argument", [str(error)]]))
def theirs():
    raise ValueError("theirs")
try:
    fit(Small(theirs), callbacks=[Callback("theirs", trace=False)])
except ValueError as error:
    print(json.dumps(["theirs", [str(error)]]))
""",
    )
    done = script.run()
    assert done.returncode == 0, done.stderr
    lines = (line for line in done.stdout.splitlines() if line.startswith("["))
    said: dict[str, list[str]] = dict(json.loads(line) for line in lines)
    (unwritable,) = said["unwritable"]
    assert unwritable.startswith(
        "Callback of stepscope failed and is given up; the training goes on"
    )
    assert "cannot be recorded there: Not a directory" in unwritable
    (broken,) = [text for text in said["broken"] if "given up" in text]
    assert broken.endswith("(RuntimeError: ours)")
    assert said["argument"] == ["trace: 'shape' is unknown; did you mean 'shapes'?"]
    assert said["theirs"] == ["theirs"]
    assert rank_facts(tmp_path / "broken")["finished"] == "stop"
    facts = rank_facts(tmp_path / "theirs")
    assert (facts["finished"], facts["error"]["text"]) == ("exception", "theirs")


@pytest.mark.parametrize("trainer", ["lightning", "pytorch_lightning"])
def test_a_callback_of_the_other_package_records_actions(
    trainer: str, python: str, tmp_path: Path
) -> None:
    """Two packages with one content: the trainer says which of them is in use."""
    other = {"lightning": "pytorch_lightning", "pytorch_lightning": "lightning"}[trainer]
    text = SMALL.replace("integrations.pytorch_lightning", f"integrations.{other}")
    text = text.replace("import pytorch_lightning as pl", f"import {trainer} as pl")
    text += 'fit(Small(), callbacks=[Callback("run", trace=False)], accumulate_grad_batches=2)\n'
    done = write_script(python, tmp_path / "train.py", text).run()
    assert done.returncode == 0, done.stderr
    assert "given up" not in done.stderr
    assert rank_facts(tmp_path / "run")["steps"] == 2
    (actions,) = read_actions(RecordedRun(tmp_path / "run"))
    epoch = actions.trees["main thread"]["run_training_epoch"]
    assert epoch.inside["run_training_batch"].calls == 4
    assert "run_training_epoch" in done.stderr + done.stdout, "the time report"
