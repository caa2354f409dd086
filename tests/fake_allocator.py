"""A torch with a GPU as far as its memory history goes, for machines that have none."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from stepscope.recording import oom
from stepscope.recording.notices import Notices
from stepscope.recording.placement import Placement
from stepscope.recording.run_folder import RankFolder


class OfTorch21:
    """torch.cuda.memory as torch 2.1 has it."""

    def __init__(self, taken: dict[str, Any]) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.taken = taken

    def _record_memory_history(self, enabled: Any = "all", *args: Any, **kwargs: Any) -> None:
        if enabled is None:
            self.asked.append((None,))
        else:
            self._record_memory_history_impl(enabled, *args, **kwargs)

    def _record_memory_history_impl(
        self,
        enabled: str = "all",
        context: str | None = "all",
        stacks: str = "all",
        max_entries: int = sys.maxsize,
        device: object = None,
    ) -> None:
        self.asked.append((enabled, context, stacks, max_entries))

    def _snapshot(self, device: object = None) -> dict[str, Any]:
        return self.taken


class OfTorch215(OfTorch21):
    """The same of torch 2.15, as far as we use it."""

    def _record_memory_history_impl(
        self,
        enabled: str = "all",
        context: str | None = "all",
        stacks: str = "all",
        max_entries: int = sys.maxsize,
        device: object = None,
        clear_history: bool = False,
        skip_actions: object = None,
    ) -> None:
        self.asked.append((enabled, context, stacks, max_entries, clear_history))


def with_gpu(monkeypatch: pytest.MonkeyPatch, memory: OfTorch21) -> list[Any]:
    """Puts a torch into place that has a device; gives the list of its observers."""
    observers: list[Any] = []
    torch: Any = ModuleType("torch")
    torch.__version__ = "2.x"
    torch.cuda = SimpleNamespace(
        is_available=lambda: True,
        is_initialized=lambda: True,
        memory=memory,
        _lazy_call=lambda call: call(),
    )
    torch._C = SimpleNamespace(_cuda_attach_out_of_memory_observer=observers.append)
    torch.nn = SimpleNamespace(Module=type("Module", (), {}))
    torch.optim = SimpleNamespace(Optimizer=type("Optimizer", (), {}))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(oom, "_is_attached", False)
    return observers


def a_rank(tmp_path: Path) -> tuple[RankFolder, Notices]:
    placement = Placement(rank=0, local_rank=0, world_size=1, source="alone")
    rank = RankFolder(tmp_path, "run", 0, placement)
    return rank, Notices(rank, {})
