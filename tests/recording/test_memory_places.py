"""Modules that name themselves to the allocator: with a real torch, and an ear instead of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fake_allocator import OfTorch21, OfTorch215, a_rank, with_gpu
from recorded_program import Script

import stepscope
from stepscope.recording import memory_places
from stepscope.recording.memory_window import MemoryWindow
from stepscope.recording.snapshot_options import snapshot

MakeScript = Callable[[str], Script]

SAYS = """
import threading, torch
from torch.utils.checkpoint import checkpoint
from stepscope.recording.memory_places import MemoryPlaces, whole_of

now = threading.local()
heard = []

def set_place(short):
    assert len(short) < 16, short
    now.text = whole_of(short)

class Ear(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name
    def forward(self, x):
        heard.append((self.name, getattr(now, "text", "")))
        if self.name == "broken":
            raise ValueError("theirs")
        return x.sin()

class Around(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def forward(self, x):
        return self.inner(x)

class Block(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.inner = Around(torch.nn.Sequential(Ear(name), torch.nn.Identity()))
        self.norm = torch.nn.Identity()
    def forward(self, x):
        return self.inner(x)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block("first"), Block("second")])
        self.head = Ear("head")
        self.weight = torch.nn.Parameter(torch.ones(3))
    def forward(self, x):
        x = self.blocks[0](x * self.weight)
        x = checkpoint(self.blocks[1], x, use_reentrant=False)
        return self.head(x)

model = Model()
broken = torch.nn.Sequential(Ear("broken"))
class Listening(torch.optim.SGD):
    def step(self, closure=None):
        heard.append(("step", now.text))
        return super().step(closure)
optimizer = Listening(model.parameters(), lr=0.1)
places = MemoryPlaces(set_place)
places.begin([model, broken])
heard.append(("begun", now.text))
loss = model(torch.ones(3)).sum()
heard.append(("loss", now.text))
loss.backward()
optimizer.step()
heard.append(("after", now.text))
try:
    broken(torch.ones(3))
except ValueError:
    heard.append(("caught", now.text))
worker = threading.Thread(target=lambda: model.blocks[0](torch.ones(3)))
worker.start(); worker.join()
places.reset()
places.end()
heard.append(("ended", now.text))
model(torch.ones(3))
assert not any(m._forward_hooks or m._forward_pre_hooks for m in [*model.modules(), broken])
for name, text in heard:
    print(name, "|", text)
"""


def test_what_is_said(training: MakeScript) -> None:
    """The pass and the modules; a thread's own; nothing is left over, also by an exception."""
    done = training(SAYS).run()
    forward = "stepscope: forward pass / Model"
    first = "blocks.0 (Block) / inner (Sequential)"
    again = "stepscope: backward pass / forward pass / blocks.1 (Block) / inner (Sequential)"
    outside = memory_places.OUTSIDE
    assert done.stdout.splitlines() == [
        f"begun | {outside}",
        f"first | {forward} / {first}",
        f"second | {forward} / blocks.1 (Block) / inner (Sequential)",
        f"head | {forward}",
        f"loss | {outside}",
        f"second | {again}",
        "step | stepscope: optimizer step",
        f"after | {outside}",
        "broken | stepscope: forward pass / Sequential",
        f"caught | {outside}",
        f"first | stepscope: forward pass / {first}",
        "ended | ",
        "first | ",
        "second | ",
        "head | ",
    ], done.stderr


DEEP = """
import torch
from stepscope.recording.memory_places import MOST_NAMED, MemoryPlaces

def tree(depth):
    inner = [tree(depth - 1) if depth else torch.nn.Identity() for _ in range(3)]
    return torch.nn.Sequential(*inner)

model = tree(5)
places = MemoryPlaces(lambda text: None)
places.begin([model])
named = [name.count(".") for name, m in model.named_modules() if m._forward_pre_hooks]
places.end()
assert len(named) == MOST_NAMED, len(named)
print([named.count(level) for level in range(5)])
"""


def test_the_outermost_modules_are_named(training: MakeScript) -> None:
    """All of the first levels, and of one level what the number allows."""
    done = training(DEEP).run()
    assert done.stdout == "[4, 9, 27, 24, 0]\n", done.stderr


def test_an_older_torch_gets_stacks_of_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = OfTorch21({"segments": [], "device_traces": [[]]})
    with_gpu(monkeypatch, made)
    window = MemoryWindow(snapshot(stacks="modules"))
    window.begin_run(*a_rank(tmp_path))
    with pytest.warns(stepscope.RecordingWarning, match="it needs torch 2.10, and this is 2.x"):
        window.open(0)
    assert made.asked[0][1:3] == ("alloc", "python")
    assert window.close("complete")["stacks"] == "python"


def test_the_window_says_it_and_stops(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """History without stacks; places from the opening to the closing, begun anew at each step."""
    event = {"action": "alloc", "addr": 1, "size": 1, "stream": 0, "time_us": 9}
    said = memory_places.OUTSIDE
    entries = [event | {"user_metadata": memory_places.short_of(said)} for _ in range(2)]
    made = OfTorch215({"segments": [], "device_traces": [entries]})
    made._set_memory_metadata = lambda text: None  # type: ignore[attr-defined]
    with_gpu(monkeypatch, made)
    calls: list[str] = []
    for name in ("begin", "reset", "end"):
        monkeypatch.setattr(
            memory_places.MemoryPlaces, name, lambda *_, name=name: calls.append(name)
        )
    window = MemoryWindow(snapshot(stacks="modules"))
    window.begin_run(*a_rank(tmp_path))
    window.open(3)
    window.on_step(3)
    facts = window.close("complete")
    assert calls == ["begin", "reset", "end"]
    assert (made.asked[0][1], facts["stacks"]) == (None, "modules")
    # One object, so that the pickle has the text once.
    assert (tmp_path / "memory-0.pickle").read_bytes().count(said.encode()) == 1
