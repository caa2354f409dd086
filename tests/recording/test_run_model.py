"""`stepscope run` finds the model of programs that know nothing of it, and leaves it as it is."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from framework_page import need, script_of
from launched_program import Runner
from recorded_program import rank_facts, rank_folder

import stepscope

# Each kind in a process of its own, forked from one that has loaded torch.
LOOPS = """
import atexit, copy, gc, os, warnings, torch
import torch._dynamo  # or each first optimizer would load it
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.head = nn.Linear(16, 4)
        self.kept = nn.Linear(4, 4).requires_grad_(False)
    def forward(self, x):
        return self.kept(self.kept(self.head(self.body(x))))

def train(model, call=None, optimizers=(), steps=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1) if model else None
    for _ in range(steps):
        for one in optimizers or [optimizer]:
            one.zero_grad()
            (model if call is None else call)(torch.randn(2, 8)).sum().backward()
            one.step()

def plain():
    train(Net())

def one_step():
    train(Net(), steps=1)

def wrapped():
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    train(nn.parallel.DistributedDataParallel(Net()))
    torch.distributed.destroy_process_group()

def named_arguments():
    net = Net()
    train(net, lambda x: net(x=x))

def checkpointed():
    from torch.utils.checkpoint import checkpoint
    class Again(Net):
        def forward(self, x):
            x = self.head(checkpoint(self.body, x, use_reentrant=False))
            return self.kept(self.kept(x))
    train(Again())

def never_called_itself():
    net = Net()
    train(net, lambda x: net.kept(net.kept(net.head(net.body(x)))))

def two_models():
    body, head = nn.Linear(8, 16), nn.Linear(16, 4)
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
    train(None, lambda x: head(body(x)), [optimizer])

def two_optimizers():
    first, second = nn.Linear(8, 16), nn.Linear(16, 4)
    optimizers = [torch.optim.SGD(one.parameters(), lr=0.1) for one in (first, second)]
    train(None, lambda x: second(first(x)), optimizers)

def with_a_teacher():
    net, teacher = Net(), nn.Linear(8, 4).requires_grad_(False)
    train(net, lambda x: (net(x) - teacher(x)).square())

def saved_meanwhile():
    net = Net()
    def call(x):
        torch.save(net, os.devnull)
        copy.deepcopy(net)
        return net(x)
    train(net, call)

def called_with_errors():
    net = Net()
    def call(x):
        try:
            net(torch.randn(2, 7))
        except RuntimeError:
            pass
        return net(x)
    train(net, call)

def validated_first():
    net = Net()
    def call(x):
        with torch.no_grad():
            net(torch.randn(64, 8))
        return net(x)
    train(net, call)

def compiled():
    net = Net()
    train(net, torch.compile(net, backend="eager"))
    from torch._dynamo.utils import counters
    assert counters["stats"]["unique_graphs"] == 1, counters

def compiled_later():
    net = Net()
    train(net)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.compile(net, backend="eager")(torch.randn(2, 8))

def frozen():
    class Held:
        pass
    held = Held()
    held.net = Net()
    gc.freeze()
    train(None, lambda x: held.net(x), [torch.optim.SGD(held.net.parameters(), lr=0.1)])

def frozen_and_out_of_sight():
    def hidden():
        net = Net()
        return [net.parameters, lambda x: net(x)]
    pair = hidden()
    gc.freeze()
    train(None, pair[1], [torch.optim.SGD(pair[0](), lr=0.1)])

def frozen_and_one_step():
    net = Net()
    gc.freeze()
    train(net, steps=1)

def no_module():
    weight = torch.randn(8, 8, requires_grad=True)
    train(None, lambda x: x @ weight, [torch.optim.SGD([weight], lr=0.1)])

def odd_module():
    class Odd(Net):
        def buffers(self, *args, **kwargs):
            raise ValueError("theirs")
    train(Odd())

def unlike_others():
    class Liar:
        @property
        def __class__(self):
            raise ValueError("theirs")
    liars = [Liar()]
    train(Net())

hooks = nn.modules.module
for kind in KINDS:
    plan = os.environ["STEPSCOPE_RUN_PLAN"]
    os.environ["STEPSCOPE_RUN_PLAN"] = plan.replace("%%", kind.__name__)
    if (child := os.fork()) == 0:
        kind()
        assert kind in (one_step, frozen_and_one_step) or not hooks._has_any_global_hook()
        atexit._run_exitfuncs()
        os._exit(0)  # taking torch apart would take a second more
    assert os.waitpid(child, 0)[1] == 0, kind
    os.environ["STEPSCOPE_RUN_PLAN"] = plan
"""
NET = 8 * 16 + 16 + 16 * 4 + 4 + 4 * 4 + 4
NET_MULT_ADDS = 2 * (8 * 16 + 16 * 4 + 2 * 4 * 4)
NET_OUTPUT = 4 * 2 * (16 + 16 + 4 + 2 * 4)
PAIR = 8 * 16 + 16 + 16 * 4 + 4
PAIR_MULT_ADDS = 2 * (8 * 16 + 16 * 4)
PAIR_OUTPUT = 4 * 2 * (16 + 4)
SEEN = (NET_MULT_ADDS, 4 * 2 * 8, NET_OUTPUT)
NOT_SEEN = (None, None, None)
# Name, parameters, and of one pass multiplications, bytes of input, bytes of output.
KINDS: dict[str, tuple[Any, ...] | None] = {
    "plain": ("Net", NET, *SEEN),
    "one_step": ("Net", NET, *NOT_SEEN),
    "wrapped": ("Net", NET, *SEEN),
    "named_arguments": ("Net", NET, *SEEN),
    "checkpointed": ("Again", NET, *SEEN),
    # Of `kept`, which no other module calls here, the first call alone counts.
    "never_called_itself": ("Net", NET, NET_MULT_ADDS - 2 * 16, 4 * 2 * 8, NET_OUTPUT - 4 * 2 * 4),
    "two_models": ("Linear + Linear_2", PAIR, PAIR_MULT_ADDS, 4 * 2 * 8, PAIR_OUTPUT),
    "two_optimizers": ("Linear + Linear_2", PAIR, PAIR_MULT_ADDS, 4 * 2 * 8, PAIR_OUTPUT),
    "with_a_teacher": ("Net", NET, *SEEN),
    "saved_meanwhile": ("Net", NET, *SEEN),
    "called_with_errors": ("Net", NET, *SEEN),
    "validated_first": ("Net", NET, *SEEN),
    "compiled": ("Net", NET, *NOT_SEEN),
    "compiled_later": ("Net", NET, *SEEN),
    "frozen": ("Net", NET, *SEEN),
    "frozen_and_out_of_sight": ("Net", NET, *SEEN),
    "frozen_and_one_step": ("Net", NET, *NOT_SEEN),
    "no_module": None,
    "odd_module": None,
    "unlike_others": ("Net", NET, *SEEN),
}


def model_of(run: Path) -> tuple[Any, ...] | None:
    rows = list(stepscope.open(run).model()["summary"].rows())
    columns = ("model", "parameters", "mult_adds", "input_bytes", "output_bytes")
    return tuple(rows[0][name] for name in columns) if rows else None


@pytest.mark.parametrize(
    "kinds",
    [
        ("plain", "one_step", "wrapped", "two_optimizers", "compiled", "frozen", "no_module"),
        pytest.param(tuple(KINDS), marks=pytest.mark.nightly),
    ],
    ids=["few", "all"],
)
def test_the_model_is_what_the_optimizers_step(
    trainer: Runner, tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    trainer.script(LOOPS.replace("KINDS", f"({', '.join(kinds)})"))
    done = trainer.run("-q", "--out", "runs/%%", "--", trainer.python, "train.py")
    assert done.returncode == 0, done.stderr.decode()
    found = {kind: model_of(tmp_path / "runs" / kind) for kind in kinds}
    assert found == {kind: KINDS[kind] for kind in kinds}
    for kind in kinds:
        facts = rank_facts(tmp_path / "runs" / kind)
        steps = 1 if kind.endswith("one_step") else 4
        warnings = [one["text"] for one in facts["warnings"] if "never opened" not in one["text"]]
        assert (facts["steps"], warnings) == (steps, []), kind
    run = stepscope.open(tmp_path / "runs" / "plain")
    layers = {row["layer"]: row for row in run.model()["layers"].rows()}
    assert [row["depth"] for row in layers.values()] == [0, 1, 2, 2, 1, 1]
    assert (layers["kept"]["calls"], layers["kept"]["trainable"]) == (2, 0)
    assert (layers["body.0"]["input"], layers["body.0"]["output"]) == ("[2, 8]", "[2, 16]")
    (remark,) = stepscope.open(tmp_path / "runs" / "compiled").model().remarks
    assert remark.startswith("No batch was seen in the model")
    assert "callbacks of frameworks at the second batch, unless the model is compiled" in remark


def test_numbers_of_the_training_are_the_same(trainer: Runner, tmp_path: Path) -> None:
    """To the last bit, with random numbers and running means in the model."""
    trainer.script(
        """
import sys, torch
from torch import nn
torch.manual_seed(3)
net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Dropout(0.5), nn.Linear(16, 4))
optimizer = torch.optim.Adam(net.parameters())
for _ in range(6):
    optimizer.zero_grad()
    net(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
print([value.tolist() for value in net.state_dict().values()], torch.randn(1).item())
"""
    )
    alone = subprocess.run(
        [trainer.python, "train.py"],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=True,
    )
    done = trainer.run("-q", "--out", "run", "--", trainer.python, "train.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == alone.stdout
    model = model_of(tmp_path / "run")
    assert model is not None
    assert model[:3] == ("Sequential", 8 * 16 + 16 + 32 + 68, 4 * (8 * 16 + 16 + 16 * 4))


def test_hugging_faces_trainer_without_the_callback(trainer: Runner, tmp_path: Path) -> None:
    need(trainer.python, "transformers", "accelerate")
    text = re.sub(r"(import|from) stepscope.*\n", "", script_of("transformers.md"))
    trainer.script(re.sub(r"callbacks=.*,\n", "\n", text))
    done = trainer.run("--no-report", "--out", "run", "--", trainer.python, "train.py")
    assert done.returncode == 0, done.stderr
    model = model_of(tmp_path / "run")
    assert model is not None
    name, parameters, mult_adds, *_ = model
    assert name == "GPT2LMHeadModel"
    assert parameters > 0
    assert mult_adds > parameters


def test_report_has_it(trainer: Runner, tmp_path: Path) -> None:
    trainer.script(LOOPS.replace("for kind in KINDS:", "plain()\nfor kind in ():"))
    done = trainer.run("--out", "run", "--", trainer.python, "train.py")
    assert done.returncode == 0, done.stderr
    assert (rank_folder(tmp_path / "run") / "model.json").exists()
    report = done.stderr.decode()
    assert "\nModel\n" in report, report
    assert "Net" in report
