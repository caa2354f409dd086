"""`stepscope run` and Lightning's Trainer: the numbers of our callback, without it."""

from pathlib import Path
from typing import Any

import pytest
from launched_program import Runner, windows
from recorded_program import ranges_of, rank_facts, rank_folder

import stepscope

# A batch of training takes 20 ms to make and 10 ms to use, one of validation 10 ms and 30 ms.
SCRIPT = """
import sys, time
import PACKAGE as L, torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __init__(self, batches, seconds):
        self.samples, self.seconds = 4 * batches, seconds / 4
    def __len__(self):
        return self.samples
    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.ones(8)

class Small(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)
    def training_step(self, batch, _):
        time.sleep(0.01)
        return self.layer(batch).square().mean()
    def validation_step(self, batch, _):
        time.sleep(0.03)
        self.layer(batch)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

callbacks = []
if len(sys.argv) > 2:
    from stepscope.integrations.PACKAGE import Callback
    callbacks = [Callback(sys.argv[2])]
trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, callbacks=callbacks,
    enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    accumulate_grad_batches=int(sys.argv[1]))
trainer.fit(Small(), *(DataLoader(data, batch_size=4) for data in (Slow(10, 0.02), Slow(4, 0.01))))
print("epochs", trainer.current_epoch, sorted(trainer.callback_metrics))
"""


def figures(run: Path) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Rates by phase, and loaders by phase."""
    opened = stepscope.open(run)
    phases = {row["phase"]: row for row in opened.throughput()["phases"].rows()}
    loaders = {row["phase"]: row for row in opened.loader()["loaders"].rows()}
    return phases, loaders


@pytest.mark.timing_sensitive(reason="two shares of time that a busy machine tells apart")
@pytest.mark.parametrize("package", ["lightning", "pytorch_lightning"])
def test_a_trainer(trainer: Runner, tmp_path: Path, package: str) -> None:
    trainer.script(SCRIPT.replace("PACKAGE", package))
    done = trainer.run(
        *("--steps", "12:15", "--no-report", "--out", "run", "--", trainer.python, "train.py", "1")
    )
    assert done.returncode == 0, done.stderr
    # What the program prints is its own: no rate is logged, no time report.
    assert done.stdout == b"epochs 3 []\n"
    assert b"Time report" not in done.stderr
    run = tmp_path / "run"
    facts = rank_facts(run)
    assert (facts["steps"], facts["epochs"], facts["finished"]) == (30, 3, "exit")
    assert facts["warnings"] == []
    assert windows(run) == [(12, 3, "complete")]
    found = ranges_of(rank_folder(run) / "events.scope")
    assert (found["optimizer step"], found["backward"]) == (30, 30)
    assert found["load batch#DataLoader (validation)"] == 12
    assert found["load batch#DataLoader (sanity check)"] == 2
    (model,) = stepscope.open(run).model()["summary"].rows()
    assert (model["model"], model["parameters"]) == ("Small", 8 * 8 + 8)
    assert (model["mult_adds"], model["input_bytes"]) == (4 * 8 * 8, 4 * 4 * 8)
    phases, loaders = figures(run)
    assert {phase: row["iterations"] for phase, row in phases.items()} == {
        "training": 30,
        "validation": 12,
        "sanity check": 2,
    }
    # By construction: 40 ms and 30 ms, and what sleeping longer than asked adds.
    assert 12 < phases["validation"]["iterations_per_second"] < 25.1
    assert 15 < phases["training"]["iterations_per_second"] < 33.4
    assert phases["training"]["samples"] == 4 * phases["training"]["measured"]
    # The last batch of a pass does not last through validation.
    assert loaders["training"]["between_ns"] < 40e6
    assert loaders["training"]["wait_share"] == pytest.approx(
        phases["training"]["wait_share"], abs=0.08
    )
    # The closure, forward and backward, is no part of the optimizer's work.
    ranges = stepscope.open(run).time(top=0, depth=0)["ranges"].rows()
    step = [row for row in ranges if row["range"] == "optimizer step"]
    assert sum(row["total_ns"] for row in step) < 30 * 10e6 / 2
    assert "overlapping_spans" not in {note["id"] for note in stepscope.open(run).notes}


def test_batches_of_an_epoch_where_gradients_are_accumulated(
    trainer: Runner, tmp_path: Path
) -> None:
    """Ten batches by five: two steps an epoch; batch 2 of the first epoch is in its first step."""
    trainer.script(SCRIPT.replace("PACKAGE", "lightning"))
    done = trainer.run(
        *("--epoch", "0:2-2", "--no-report", "--out", "run", "--"),
        *(trainer.python, "train.py", "5"),
    )
    assert done.returncode == 0, done.stderr
    assert (rank_facts(tmp_path / "run")["steps"], windows(tmp_path / "run")) == (
        6,
        [(0, 1, "complete")],
    )


def test_the_programs_own_callback_leads(trainer: Runner, tmp_path: Path) -> None:
    trainer.script(SCRIPT.replace("PACKAGE", "lightning"))
    done = trainer.run(
        *("--no-report", "--out", "run", "--", trainer.python, "train.py", "1", "its-own")
    )
    assert done.returncode == 0, done.stderr
    assert rank_facts(tmp_path / "its-own")["steps"] == 30
    assert not (tmp_path / "run").exists()
    assert b"the run is in its-own" in done.stderr
