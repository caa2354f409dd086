"""memory-summary against the memory_stats that torch gave for the same moment."""

from pathlib import Path
from typing import Any

import pytest
from answers import answer
from oracle.memory import load, name_of, snapshot_files, with_answers
from program import Program

BYTES = {
    "allocated": "allocated_bytes",
    "active": "active_bytes",
    "requested": "requested_bytes",
    "reserved": "reserved_bytes",
    "non-releasable": "inactive_split_bytes",
}
COUNTS = {
    "allocations": "allocation",
    "active allocations": "active",
    "reserved segments": "segment",
    "non-releasable blocks": "inactive_split",
}
POOLS = {"all": "all", "large": "large_pool", "small": "small_pool"}


def figures(said: dict[str, Any]) -> dict[str, int]:
    """The tables in the words of memory_stats."""
    out = {}
    for row in said["tables"]["bytes"]:
        key = f"{BYTES[row['memory']]}.{POOLS[row['pool']]}"
        out[f"{key}.current"] = row["now_bytes"]
        out[f"{key}.peak"] = row["peak_bytes"]
        out[f"{key}.allocated"] = row["total_allocated_bytes"]
        out[f"{key}.freed"] = row["total_freed_bytes"]
    for row in said["tables"]["counts"]:
        key = f"{COUNTS[row['of']]}.{POOLS[row['pool']]}"
        out[f"{key}.current"] = row["now"]
        out[f"{key}.peak"] = row["peak"]
        out[f"{key}.allocated"] = row["total_made"]
        out[f"{key}.freed"] = row["total_ended"]
    return out


@pytest.mark.parametrize("path", with_answers("memory_stats"), ids=name_of)
def test_figures_are_those_of_torch(program: Program, path: Path) -> None:
    snapshot = load(path)
    said = answer(program, "memory-summary", path)
    ours, torch = figures(said), snapshot.answers["memory_stats"]
    (device,) = said["tables"]["devices"]
    assert len(ours) == 9 * 3 * 4
    for key, value in ours.items():
        if key.endswith("current") or device["whole_process"]:
            assert value == torch[key], key
    assert device["whole_process"] == all(
        allocation.alloc is not None for allocation in snapshot.allocations()
    )
    if device["whole_process"]:
        assert device["peak_bytes"] == torch["allocated_bytes.all.peak"]
        assert device["peak_reserved_bytes"] == torch["reserved_bytes.all.peak"]
        assert device["ooms"] == torch["num_ooms"]
    assert device["end_bytes"] == torch["allocated_bytes.all.current"]
    assert device["end_reserved_bytes"] == torch["reserved_bytes.all.current"]


@pytest.mark.parametrize("path", snapshot_files(), ids=name_of)
def test_requested_memory_by_hand(program: Program, path: Path) -> None:
    snapshot = load(path)
    history, allocations = snapshot.history(), snapshot.allocations()
    said = answer(program, "memory-summary", path)
    older = [allocation for allocation in allocations if allocation.alloc is None]
    now = peak = sum(allocation.requested for allocation in older)
    added = 0
    for event in history:
        if event["action"] == "alloc":
            now, added = now + event["size"], added + event["size"]
        elif event["action"] == "free_completed":
            now -= event["size"]
        peak = max(peak, now)
    ours = figures(said)
    assert ours["requested_bytes.all.current"] == now
    assert ours["requested_bytes.all.peak"] == peak
    assert ours["requested_bytes.all.allocated"] == added
    (device,) = said["tables"]["devices"]
    assert device["older_bytes"] == sum(allocation.requested for allocation in older)
    assert device["older_allocations"] == len(older)
    assert device["events"] == len(history)
    assert device["length_ns"] == (history[-1]["time_us"] - history[0]["time_us"]) * 1000
    assert bool(older) == any("older than the recorded history" in r for r in said["remarks"])
