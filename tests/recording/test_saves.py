"""A checkpoint that takes long is part of no step and of no rate, whoever saves it."""

import json
from pathlib import Path
from typing import Any

import pytest
from framework_page import need
from launched_program import Runner
from recorded_program import ranges_of, rank_folder, write_script

import stepscope

SAVE_S = 0.4

pytestmark = pytest.mark.timing_sensitive(reason="steps are compared with the time of a save")

# A batch takes 10 ms, a save 400 ms.
LIGHTNING = """
import json, sys, time
import lightning, torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.utils.data import DataLoader, TensorDataset

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer, self.rates = torch.nn.Linear(4, 1), []
    def training_step(self, batch, _):
        time.sleep(0.01)
        return self.layer(batch[0]).mean()
    def on_train_batch_end(self, *_):
        rate = self.trainer.callback_metrics.get("training_rate")
        self.rates += [] if rate is None else [float(rate)]
    def validation_step(self, batch, _):
        time.sleep(0.01)
    def on_save_checkpoint(self, checkpoint):
        time.sleep(0.4)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

def loader():
    return DataLoader(TensorDataset(torch.randn(20, 4)), batch_size=1)

def fit(when, callbacks=(), **more):
    trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", enable_progress_bar=False,
        enable_model_summary=False, num_sanity_val_steps=0, logger=False, log_every_n_steps=4,
        callbacks=[*callbacks, ModelCheckpoint(dirpath="ck", **when)], **more)
    model = Model()
    trainer.fit(model, loader(), loader())
    assert "save_checkpoint" not in vars(trainer)
    return model.rates
"""


def longest_step_ns(opened: stepscope.Run) -> int:
    """But for the first, in which torch loads what it needs: no save is before or in it."""
    steps = opened.time(slowest=0)["steps"].rows()
    return max(int(row["step_ns"]) for row in steps if row["step"] > 0)


def check(run: Path, saves: int) -> dict[str, Any]:
    """No step holds a save; what they took is reported beside them."""
    opened = stepscope.open(run)
    (one,) = opened.throughput()["saves"].rows()
    assert one["saves"] == saves
    assert saves * SAVE_S * 1e9 <= one["save_ns"] < saves * (SAVE_S + 0.3) * 1e9
    assert longest_step_ns(opened) < SAVE_S * 1e9 < one["max_ns"]
    assert ranges_of(rank_folder(run) / "events.scope")["save_checkpoint"] == saves
    (finding,) = [found for found in opened.findings() if found.rule == "checkpoint-stall"]
    # One save says little about how often.
    assert finding.level == ("warning" if saves > 1 else "notice")
    (phase,) = [r for r in opened.throughput()["phases"].rows() if r["phase"] == "training"]
    return phase


@pytest.mark.nightly
def test_lightning(training_python: str, tmp_path: Path) -> None:
    need(training_python, "lightning")
    script = write_script(
        training_python,
        tmp_path / "train.py",
        LIGHTNING
        + """
from stepscope.integrations.lightning import Callback, Profiler
steps = {"every_n_train_steps": 5}
rates = fit(steps, callbacks=[Callback("steps", trace=False)])
fit({}, callbacks=[Callback("epochs", trace=False, actions=False)])
fit(steps, profiler="simple", callbacks=[Callback("theirs", trace=False)])
fit(steps, profiler=Profiler("profiler", trace=False))
print(json.dumps(rates))
""",
    )
    done = script.run()
    assert done.returncode == 0, done.stderr
    final = check(tmp_path / "steps", 8)["iterations_per_second"]
    # Live rates mean the same: each four batches hold a save or none.
    rates = json.loads(done.stdout.splitlines()[-1])
    assert len(set(rates)) > 4
    assert min(rates) > final / 3
    check(tmp_path / "epochs", 2)
    check(tmp_path / "theirs", 8)
    check(tmp_path / "profiler", 8)


TRANSFORMERS = """
import json, sys, time
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

torch.set_num_threads(1)
ids = torch.arange(16) % 10
data = [{"input_ids": ids, "labels": ids}] * 48

class Slow(Trainer):
    def _save_checkpoint(self, *args, **kwargs):
        time.sleep(0.4)
        super()._save_checkpoint(*args, **kwargs)

def train(callbacks, **more):
    config = GPT2Config(vocab_size=10, n_positions=16, n_embd=8, n_layer=1, n_head=1)
    arguments = TrainingArguments("out", per_device_train_batch_size=2, num_train_epochs=1,
        logging_steps=2, report_to=[], use_cpu=True, **more)
    trainer = KIND(GPT2LMHeadModel(config), arguments, train_dataset=data, eval_dataset=data[:4],
                   callbacks=callbacks)
    theirs = Trainer._save_checkpoint
    trainer.train()
    assert Trainer._save_checkpoint is theirs
    return [line["training_rate"] for line in trainer.state.log_history if "training_rate" in line]
"""


@pytest.mark.nightly
def test_transformers(training_python: str, tmp_path: Path) -> None:
    need(training_python, "transformers", "accelerate")
    script = write_script(
        training_python,
        tmp_path / "train.py",
        TRANSFORMERS.replace("KIND", "Slow")
        + """
from stepscope.integrations.transformers import Callback
steps = {"save_strategy": "steps", "save_steps": 6}
rates = train([Callback("steps", trace=False)], **steps)
train([Callback("evaluated", trace=False)], eval_strategy="steps", eval_steps=6, **steps)
train([Callback("epochs", trace=False)], save_strategy="epoch", logging_strategy="epoch")
train([Callback("best", trace=False)], save_strategy="best", metric_for_best_model="eval_loss",
      eval_strategy="steps", eval_steps=12)
print(json.dumps(rates))
""",
    )
    done = script.run()
    assert done.returncode == 0, done.stderr
    check(tmp_path / "steps", 4)
    # Two batches in 400 ms and more, if a save were part of them.
    assert min(json.loads(done.stdout.splitlines()[-1])[1:]) > 2 / SAVE_S
    check(tmp_path / "evaluated", 4)
    check(tmp_path / "epochs", 1)
    # Whether it saves is known too late to see what comes before the trainer's own function.
    best = stepscope.open(tmp_path / "best")
    assert best.throughput()["saves"].rows()
    assert longest_step_ns(best) < SAVE_S * 1e9


PLAIN = """
import io, time
import torch

class Slow:
    def __reduce__(self):
        time.sleep(0.4)
        return int, ()

model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()
    time.sleep(0.01)
    torch.save(model.state_dict(), io.BytesIO())  # no checkpoint
    if step % 5 == 4:
        torch.save({"model": model.state_dict(), "slow": Slow()}, "checkpoint.pt")
"""


@pytest.mark.parametrize("kind", ["plain", "lightning", "transformers"])
def test_programs_that_know_nothing_of_it(trainer: Runner, tmp_path: Path, kind: str) -> None:
    if kind != "plain":
        need(trainer.python, kind)
    scripts = {
        "plain": PLAIN,
        "lightning": LIGHTNING + 'fit({"every_n_train_steps": 10})',
        "transformers": TRANSFORMERS.replace("KIND", "Trainer")
        + """
save = torch.save
def slow(*args, **kwargs):
    time.sleep(0.1)  # of four files of a checkpoint
    return save(*args, **kwargs)
torch.save = slow
train([], save_strategy="steps", save_steps=6)
""",
    }
    trainer.script(scripts[kind])
    done = trainer.run(
        "--no-report", "--steps", "1:2", "--out", "run", "--", trainer.python, "train.py"
    )
    assert done.returncode == 0, done.stderr
    check(tmp_path / "run", 4)
