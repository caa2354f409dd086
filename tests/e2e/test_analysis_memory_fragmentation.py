"""memory-fragmentation against torch's own statistics and a second allocator."""

from pathlib import Path

import pytest
from answers import Row, answer, tables
from oracle import allocator
from program import Program

SNAPSHOTS = allocator.snapshots()


def name_of(path: Path) -> str:
    return path.name.removesuffix(".pickle.gz")


def moments(said: dict[str, list[Row]]) -> dict[str, Row]:
    return {row["moment"]: row for row in said["moments"]}


@pytest.mark.parametrize("path", SNAPSHOTS, ids=name_of)
def test_the_moments_are_those_of_torch_and_of_a_second_allocator(
    program: Program, path: Path
) -> None:
    snapshot = allocator.load(path)
    said = answer(program, "memory-fragmentation", path)
    rows = moments(said["tables"])
    assert not any("do not agree" in remark for remark in said["remarks"])
    # The end is in the snapshot itself.
    segments = [s for s in snapshot["segments"] if s["device"] == 0]
    blocks = [b for s in segments for b in s["blocks"]]
    free = [b["size"] for b in blocks if b["state"] == "inactive"]
    used = [b for b in blocks if b["state"] != "inactive"]
    assert rows["end"]["reserved_bytes"] == sum(s["total_size"] for s in segments)
    assert rows["end"]["requested_bytes"] == sum(b["requested_size"] for b in used)
    assert rows["end"]["unused_bytes"] == sum(free)
    assert rows["end"]["largest_free_bytes"] == max(free, default=0)
    if any("does not begin with an empty allocator" in remark for remark in said["remarks"]):
        return
    slow = allocator.Allocator(snapshot.get("allocator_settings", {}))
    slow.follow(snapshot["device_traces"][0])
    assert slow.blocks() == allocator.recorded_blocks(snapshot)
    unused, event = slow.most_unused
    assert rows["most unused"]["unused_bytes"] == unused
    assert rows["most unused"]["event"] == event
    reserved = slow.stats["reserved_bytes", "all"]
    assert rows["most reserved"]["reserved_bytes"] == reserved.peak
    assert rows["end"]["unreturnable_bytes"] == slow.now("inactive_split_bytes")
    if known := allocator.oracle(path):
        stats = known["memory_stats"]
        assert rows["most reserved"]["reserved_bytes"] == stats["reserved_bytes.all.peak"]
        assert rows["end"]["unreturnable_bytes"] == stats["inactive_split_bytes.all.current"]
        for (key, part), figure in slow.stats.items():
            for which in ("current", "peak", "allocated", "freed"):
                assert stats[f"{key}.{part}.{which}"] == getattr(figure, which)


@pytest.mark.parametrize("path", SNAPSHOTS, ids=name_of)
def test_every_recording_is_reproduced(program: Program, path: Path) -> None:
    """So that other settings are forecast for all of them."""
    said = answer(program, "memory-fragmentation", path)
    assert not any("not forecast" in remark for remark in said["remarks"])
    assert len(said["tables"]["settings"]) > 5


@pytest.mark.parametrize(
    ("other", "setting"),
    [
        ("fragmented_expandable", "expandable_segments:True"),
        ("fragmented_split64", "max_split_size_mb:64"),
        ("fragmented_roundup", "roundup_power2_divisions:4"),
    ],
)
def test_a_forecast_is_what_torch_then_does(program: Program, other: str, setting: str) -> None:
    """The same program was recorded under both settings."""
    folder = allocator.ROOT / "tests/fixtures/memory"
    said = tables(program, "memory-fragmentation", folder / "fragmented.pickle.gz")
    forecast = next(row for row in said["settings"] if row["setting"] == setting)
    known = allocator.oracle(folder / f"{other}.pickle.gz")
    assert known is not None
    stats = known["memory_stats"]
    assert forecast["peak_reserved_bytes"] == stats["reserved_bytes.all.peak"]
    assert forecast["driver_allocs"] == stats["num_device_alloc"]
    assert forecast["driver_frees"] == stats["num_device_free"]
    assert forecast["segments"] == stats["segment.all.peak"]


def test_the_block_in_the_way_is_named(program: Program) -> None:
    path = allocator.ROOT / "tests/fixtures/memory/leak_graph.pickle.gz"
    rows = tables(program, "memory-fragmentation", path, "--top", "0")["pinned-segments"]
    snapshot = allocator.load(path)
    by_address = {s["address"]: s for s in snapshot["segments"]}
    expected = 0
    for segment in snapshot["segments"]:
        states = {b["state"] == "inactive" for b in segment["blocks"]}
        expected += states == {True, False}
    assert len(rows) == expected > 0
    for row in rows:
        blocks = by_address[row["address"]]["blocks"]
        used = [b["size"] for b in blocks if b["state"] != "inactive"]
        assert row["used_blocks"] == len(used)
        assert row["pin_bytes"] == min(used)
        assert row["free_bytes"] == row["segment_bytes"] - sum(used)
    assert [r["free_bytes"] for r in rows] == sorted((r["free_bytes"] for r in rows), reverse=True)


def test_moments_over_time_keep_the_peak(program: Program) -> None:
    path = allocator.ROOT / "tests/fixtures/memory/oom_training.pickle.gz"
    said = tables(program, "memory-fragmentation", path, "--points", "7")
    rows = said["over-time"]
    assert len(rows) <= 7 * 6 + 6
    events = [row["event"] for row in rows]
    assert events == sorted(set(events))
    top = moments(said)
    assert max(r["reserved_bytes"] for r in rows) == top["most reserved"]["reserved_bytes"]
    assert max(r["unused_bytes"] for r in rows) == top["most unused"]["unused_bytes"]
    for row in rows:
        parts = row["requested_bytes"] + row["rounding_bytes"] + row["unused_bytes"]
        assert parts == row["reserved_bytes"]
