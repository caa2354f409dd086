"""Memory at certain moments: of the process, and of every device as torch's allocator counts it.

Counters in the recording at every moment; the allocator's whole statistics in a file of its own at
the moments that matter: the end of a window, out of memory, exit.
"""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any

from stepscope import _capture
from stepscope.recording.process_memory import peak_resident_bytes, resident_bytes
from stepscope.recording.run_folder import RankFolder

# Of memory_stats: what the counters are called, after the device.
_COUNTERS = {
    "allocated_bytes.all.current": "allocated bytes",
    "allocated_bytes.all.peak": "peak allocated bytes",
    "reserved_bytes.all.current": "reserved bytes",
    "reserved_bytes.all.peak": "peak reserved bytes",
    "num_alloc_retries": "allocation retries",
    "num_ooms": "out of memory",
}


def count_memory() -> dict[str, dict[str, int]]:
    """Puts counters into the recording; gives memory_stats by device that is in use."""
    _capture.counter("process resident bytes", resident_bytes())
    _capture.counter("process peak resident bytes", peak_resident_bytes())
    by_device = _device_stats()
    for device, stats in by_device.items():
        for key, name in _COUNTERS.items():
            if key in stats:
                _capture.counter(f"{device} {name}", stats[key])
    return by_device


def write_memory(rank: RankFolder, moment: str, step: int) -> None:
    """Counters, and a file for each device: `memory-stats-exit-cuda0.json`."""
    for device, stats in count_memory().items():
        facts = {"device": device, "moment": moment, "step": step, "time_ns": time.time_ns()}
        name = f"memory-stats-{moment.replace(' ', '-')}-{device.replace(':', '')}.json"
        with contextlib.suppress(OSError):  # a full disk, which the recorder tells of
            rank.write_json(name, {"memory_stats": dict(stats), **facts})


def _device_stats() -> dict[str, dict[str, int]]:
    torch: Any = sys.modules.get("torch")
    found: dict[str, dict[str, int]] = {}
    for kind in ("cuda", "xpu"):  # cuda is also ROCm's
        backend = getattr(torch, kind, None)
        # Asking a device that is not in use would make a context on it and take its memory.
        if backend is None or not getattr(backend, "is_initialized", lambda: False)():
            continue
        for number in range(backend.device_count()):
            try:
                stats = backend.memory_stats(number)
            except Exception:
                continue  # a device that is lost must not end the training
            if stats and any(stats.values()):
                found[f"{kind}:{number}"] = stats
    return found
