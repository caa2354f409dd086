"""Memory at the ends of epochs, of windows and of the run, as torch's allocator counts it.

Without a GPU torch has nothing to count: one of the tests' own stands in. What a real one says is
compared in tests/recording/gpu_check.py.
"""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from recorded_program import rank_folder

import stepscope


class TwoDevices:
    """Two devices are in use, the third is not; what they hold grows with every question."""

    def __init__(self) -> None:
        self.asked = 0

    def memory_stats(self, device: int) -> dict[str, int]:
        self.asked += 1
        if device == 2:
            return {"allocated_bytes.all.current": 0, "num_ooms": 0}
        return {
            "allocated_bytes.all.current": (1 + device) << 20,
            "allocated_bytes.all.peak": (2 + device) << 20,
            "active_bytes.all.current": self.asked,
            "num_device_alloc": 7,
            "a.figure.of.another.version": 3,
        }


@pytest.fixture
def devices(monkeypatch: pytest.MonkeyPatch) -> TwoDevices:
    """In the place of torch."""
    made = TwoDevices()
    torch: Any = ModuleType("torch")
    torch.__version__ = "2.x"
    torch._C = SimpleNamespace()
    torch.cuda = SimpleNamespace(
        is_available=lambda: True,
        is_initialized=lambda: True,
        device_count=lambda: 3,
        memory_stats=made.memory_stats,
        _lazy_call=lambda call: call(),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    return made


def counters(run: Path) -> dict[str, int]:
    """How many values each counter has."""
    trace = stepscope.open(rank_folder(run) / "events.scope")
    return {row["counter"]: row["samples"] for row in trace.counters()["counters"].rows()}


def test_every_device_and_the_process_are_asked_when_an_epoch_ends(
    devices: TwoDevices, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with stepscope.profile(run, trace=False, snapshot=False, system=False, first_epoch=5) as prof:
        for _ in range(3):
            prof.step()
            prof.epoch()
    folder = rank_folder(run)
    for device in (0, 1):
        last = json.loads((folder / f"memory-stats-epoch-cuda{device}.json").read_text())
        assert (last["device"], last["moment"]) == (f"cuda:{device}", "epoch")
        assert (last["epoch"], last["step"]) == (7, 3)
        # The whole of it, also what this package knows nothing of.
        assert last["memory_stats"]["a.figure.of.another.version"] == 3
        assert last["memory_stats"]["allocated_bytes.all.current"] == (1 + device) << 20
        assert (folder / f"memory-stats-exit-cuda{device}.json").exists()
    assert not list(folder.glob("*cuda2*"))  # never used
    text = (folder / "events.scope").read_bytes()
    for name in ("process resident bytes", "cuda:1 active bytes", "cuda:0 device allocations"):
        assert name.encode() in text
