"""A snapshot of the allocator in the rank's folder, with what lies where beside it."""

from __future__ import annotations

import time
from typing import Any

from stepscope.recording import addresses, memory_history
from stepscope.recording.run_folder import RankFolder
from stepscope.recording.snapshot_options import SnapshotOptions


def write_snapshot(
    rank: RankFolder, name: str, options: SnapshotOptions, step: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`NAME.pickle` and `NAME-addresses.json`; gives facts for rank.json, and the snapshot."""
    begun = time.perf_counter_ns()
    snapshot = memory_history.take()
    taken = time.perf_counter_ns()
    places = addresses.contents(options.models, options.optimizers)
    beside = f"{name}-addresses.json"
    rank.write_json(beside, {**places, "step": step})
    file = f"{name}.pickle"
    memory_history.write(snapshot, rank.partial(file))
    rank.complete(file)
    cost = {"snapshot": taken - begun, "write": time.perf_counter_ns() - taken}
    return {"files": [file, beside], "cost_ns": cost}, snapshot
