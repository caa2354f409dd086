"""torch's history of the allocator, whatever its version calls it (2.1 and later)."""

from __future__ import annotations

import inspect
import pickle
import sys
from pathlib import Path
from typing import Any

from stepscope.recording import memory_places

# memory_viz of torch does not read protocol 5.
_PROTOCOL = 4


def why_not() -> str:
    """Why there is nothing to record; empty where there is."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return "torch is not imported"
    if not torch.cuda.is_available():
        return "torch has no CUDA device here, and only the memory of CUDA devices is recorded"
    if not torch.cuda.is_initialized():
        return "no CUDA device was in use yet"
    if not hasattr(torch.cuda.memory, "_record_memory_history"):
        return f"torch {torch.__version__} keeps no history of its allocator"
    return ""


def is_on() -> bool:
    """Whether it is recorded already."""
    import torch

    return bool(getattr(torch._C, "_cuda_isHistoryEnabled", lambda: False)())


def start(stacks: str, max_entries: int, frees: bool) -> None:
    """From now on allocations and frees are kept, the newest `max_entries` of them.

    Without `frees` stacks are taken where memory is asked for, and not where it is given back.
    """
    import torch

    record = torch.cuda.memory._record_memory_history
    wanted: dict[str, Any] = {
        "context": None if stacks in ("none", "modules") else "all" if frees else "alloc",
        "stacks": "all" if stacks == "all" else "python",
        "max_entries": max_entries,
        "clear_history": True,  # from 2.8 on; before, enabling cleared it
    }
    implementation = getattr(torch.cuda.memory, "_record_memory_history_impl", record)
    known = inspect.signature(implementation).parameters
    record("all", **{name: value for name, value in wanted.items() if name in known})


def stop() -> None:
    """What was kept is forgotten."""
    import torch

    torch.cuda.memory._record_memory_history(None)


def take() -> dict[str, Any]:
    """The allocator's state and history now."""
    import torch

    found: dict[str, Any] = torch.cuda.memory._snapshot()
    for events in found.get("device_traces", ()):
        for event in events:
            if short := event.get("user_metadata"):
                event["user_metadata"] = memory_places.whole_of(short)
    return found


def write(snapshot: dict[str, Any], path: Path) -> None:
    """As torch would write it."""
    with path.open("wb") as file:
        pickle.dump(snapshot, file, protocol=_PROTOCOL)


def oldest_ns(snapshot: dict[str, Any], max_entries: int) -> int | None:
    """When the oldest entry was made that a full history still has; None where none is full.

    0 where the history is full and torch kept no times.
    """
    oldest = None
    for events in snapshot.get("device_traces", ()):
        if len(events) < max_entries:
            continue
        time_ns = int(events[0].get("time_us", 0)) * 1000
        oldest = time_ns if oldest is None else max(oldest, time_ns)
    return oldest
