"""memory-oom against torch's own message and the blocks of a second allocator."""

import re
from pathlib import Path

import pytest
from answers import answer, tables
from oracle import allocator
from program import Program

SNAPSHOTS = allocator.snapshots()
MIB = 1 << 20


def name_of(path: Path) -> str:
    return path.name.removesuffix(".pickle.gz")


def allocator_fixture(name: str) -> Path:
    (path,) = (path for path in SNAPSHOTS if name_of(path) == name)
    return path


FAILED = [
    p
    for p in SNAPSHOTS
    if any(e["action"] == "oom" for t in allocator.load(p)["device_traces"] for e in t)
]


def amount(text: str) -> float:
    value, unit = text.split()
    return float(value) * {"bytes": 1, "KiB": 1024, "MiB": MIB, "GiB": 1024 * MIB}[unit]


@pytest.mark.parametrize("path", FAILED, ids=name_of)
def test_the_state_is_the_one_at_the_failure(program: Program, path: Path) -> None:
    snapshot = allocator.load(path)
    events = snapshot["device_traces"][0]
    said = tables(program, "memory-oom", path, "--failures", "0", "--top", "0")
    failures = [i for i, e in enumerate(events) if e["action"] == "oom"]
    assert len(said["failures"]) == len(failures)
    for number, (i, row) in enumerate(zip(failures, said["failures"], strict=True), 1):
        slow = allocator.Allocator(snapshot["allocator_settings"])
        slow.follow(events[:i])
        assert row["asked_bytes"] == allocator.rounded(
            events[i]["size"], snapshot["allocator_settings"]
        )
        assert row["driver_free_bytes"] == events[i]["device_free"]
        assert row["reserved_bytes"] == slow.now("reserved_bytes")
        assert row["used_bytes"] == slow.now("active_bytes")
        free = [size for held in slow.held.values() for size in held.free_blocks()]
        assert row["unusable_bytes"] == sum(free)
        alive = [r for r in said["alive"] if r["failure"] == number]
        assert sum(r["bytes"] for r in alive) == slow.now("active_bytes")
        assert sum(r["count"] for r in alive) == slow.now("active")
        assert sum(r["share"] for r in alive) == pytest.approx(1)
        segments = [r for r in said["free-segments"] if r["failure"] == number]
        assert sum(r["free_bytes"] for r in segments) == sum(free)


MESSAGES = {p: (allocator.oracle(p) or {}).get("message") for p in FAILED}


@pytest.mark.parametrize("path", [p for p in FAILED if MESSAGES[p]], ids=name_of)
def test_torch_said_the_same(program: Program, path: Path) -> None:
    message = MESSAGES[path]
    assert message is not None
    row = tables(program, "memory-oom", path)["failures"][-1]

    def said(pattern: str) -> float:
        match = re.search(pattern, message)
        assert match
        return amount(match[1])

    assert row["asked_bytes"] == pytest.approx(said(r"Tried to allocate (\S+ \S+)\."), rel=0.005)
    assert row["driver_free_bytes"] == pytest.approx(said(r"of which (\S+ \S+) is free"), rel=0.005)
    unused = said(r"and (\S+ \S+) is reserved by PyTorch but unallocated")
    assert row["unusable_bytes"] == pytest.approx(unused, rel=0.005)
    assert (row["why"] == "own limit") == ("allowed" in message)
    if "allowed" in message:
        limit = said(r"(\S+ \S+) allowed;")
        assert row["reserved_bytes"] + row["asked_bytes"] - row["short_by_bytes"] <= limit
        assert row["limit_at_least_bytes"] <= limit * 1.005
        assert row["limit_at_most_bytes"] >= limit * 0.995


@pytest.mark.parametrize("path", FAILED, ids=name_of)
def test_a_limit_of_its_own_is_named_and_raised_first(program: Program, path: Path) -> None:
    said = tables(program, "memory-oom", path)
    (room,) = said["headroom"]
    row, way = said["failures"][0], said["remedies"][0]
    fraction = "torch.cuda.set_per_process_memory_fraction("
    if row["why"] != "own limit":
        assert row["limit_at_most_bytes"] is None
        assert room["own_limit_bytes"] is None
        assert fraction not in way["how"]
        return
    # The device has more than that, and how much is not recorded.
    assert room["device_memory_bytes"] is None
    assert room["own_limit_bytes"] == row["limit_at_most_bytes"]
    assert room["told_by"] == "the process's own limit"
    assert way["enough"] == "yes"
    needed = re.search(r"fraction\((\d+) /", way["how"])
    assert needed
    assert int(needed[1]) >= row["reserved_bytes"] + row["asked_bytes"]
    assert int(needed[1]) <= row["reserved_bytes"] + row["driver_free_bytes"]


def test_the_story_tells_the_limit_and_one_verdict(program: Program) -> None:
    path = allocator_fixture("oom_training")
    text = " ".join(program.run("memory", path).stdout.decode().split())
    assert "a limit of its own, between 1.44 GiB and 1.54 GiB" in text
    assert "the driver had 135 GiB free" in text
    assert "The cheapest way out: a limit of the process of 1.63 GiB." in text
    assert "of the memory the process may take is held at the peak" in text
    assert "% full at the peak" not in text
    said = tables(program, "memory-oom", path)
    ways = {way["way"]: way for way in said["remedies"]}
    settings = tables(program, "memory-fragmentation", path)["settings"]
    saved = {row["setting"]: row["saved_bytes"] for row in settings}
    expandable = ways["expandable_segments:True"]
    assert expandable["saves_bytes"] == saved["expandable_segments:True"]
    assert expandable["enough"] == "perhaps"
    assert "but not with one of 1.44 GiB" in expandable["how"]
    # More than five times what is missing.
    assert ways["recompute all activations"]["enough"] == "yes"


@pytest.mark.parametrize("path", FAILED, ids=name_of)
def test_ways_out_that_suffice_come_first(program: Program, path: Path) -> None:
    said = tables(program, "memory-oom", path, "--batch-size", "24")
    ways = said["remedies"]
    order = {"yes": 0, "perhaps": 0, "no": 1}
    assert [order[w["enough"]] for w in ways] == sorted(order[w["enough"]] for w in ways)
    short = said["failures"][0]["short_by_bytes"]
    for way in ways:
        if way["enough"] == "yes" and way["saves_bytes"] is not None:
            assert way["saves_bytes"] >= short
    assert any(w["enough"] != "no" for w in ways)


@pytest.mark.parametrize("path", [p for p in SNAPSHOTS if p not in FAILED], ids=name_of)
def test_without_a_failure_it_says_how_close_it_came(program: Program, path: Path) -> None:
    said = answer(program, "memory-oom", path, "--device-memory", "80GiB")
    assert said["tables"]["failures"] == []
    assert any("no request failed" in remark for remark in said["remarks"])
    (row,) = said["tables"]["headroom"]
    assert row["left_bytes"] == (80 << 30) - row["peak_reserved_bytes"]
    assert row["told_by"] == "given"
