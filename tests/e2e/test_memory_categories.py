"""What allocations hold, against the recorded addresses of parameters, gradients and states."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from answers import tables
from oracle.memory import Snapshot, load, name_of, with_answers
from program import ROOT, Program

TRUTHS = {
    "parameters": "parameters",
    "buffers": "parameters",  # modules have both, and nothing but their use tells them apart
    "gradients": "gradients",
    "optimizer_state": "optimizer state",
}


# A recurrent network lays its weights out in one block: they cannot be counted, so nothing is said.
UNJUDGED = {"late_adagrad"}
SCRATCH = 1 << 20  # what cuBLAS keeps; parameters may have that size too


def truth(snapshot: Snapshot) -> dict[int, str]:
    """What the block at each address really holds; tensors may lie within a block."""
    blocks = sorted(snapshot.blocks())
    found = {}
    for key, category in TRUTHS.items():
        for address, _ in snapshot.answers.get(key, []):
            found[max(b for b in blocks if b <= address)] = category
    return found


def confusion(program: Program, path: Path) -> Counter[tuple[str, str]]:
    """Bytes at the end by what they hold and what we say, of those whose making was recorded."""
    snapshot = load(path)
    right = truth(snapshot)
    with_stack = {
        allocation.address
        for allocation in snapshot.allocations()
        if allocation.frames or allocation.alloc is not None
    }
    rows = tables(program, "memory-allocations", "--alive-at", "end", "--top", "0", path)
    out = Counter[tuple[str, str]]()
    for row in rows["allocations"]:
        if row["address"] in with_stack:
            out[right.get(row["address"], "other"), row["category"]] += row["requested_bytes"]
        elif row["category"] != "unknown":
            assert "older than the history" in row["why"], row
    return out


@pytest.mark.parametrize("path", with_answers("parameters"), ids=name_of)
def test_at_least_95_percent_of_the_bytes_are_right(program: Program, path: Path) -> None:
    found = confusion(program, path)
    for category in set(TRUTHS.values()):
        really = sum(n for (truth, _), n in found.items() if truth == category)
        said = sum(n for (_, ours), n in found.items() if ours == category)
        hits = found[category, category]
        assert hits >= 0.95 * really, (category, found)
        assert hits >= 0.95 * said, (category, found)


@pytest.mark.parametrize("path", with_answers("parameters"), ids=name_of)
def test_bytes_by_category_at_the_end(program: Program, path: Path) -> None:
    """Of all blocks, those of before the history too: as many bytes of each kind as there are."""
    snapshot = load(path)
    right = truth(snapshot)
    rows = tables(program, "memory-allocations", "--alive-at", "end", "--top", "0", path)
    really, said = Counter[str](), Counter[str]()
    for row in rows["allocations"]:
        really[right.get(row["address"], "other")] += row["requested_bytes"]
        said[row["category"]] += row["requested_bytes"]
    for category in set(TRUTHS.values()):
        if name_of(path) in UNJUDGED:
            assert said[category] == 0, (really, said)
        else:
            assert said[category] == pytest.approx(really[category], rel=0.05), (really, said)


def test_recorded_late_is_counted_or_unknown(program: Program) -> None:
    path = ROOT / "tests" / "fixtures" / "memory" / "late_start.pickle.gz"
    rows = tables(program, "memory-allocations", "--alive-at", "end", "--top", "0", path)
    right = truth(load(path))
    for row in rows["allocations"]:
        if row["why"] == "older than the recorded history":
            assert row["category"] == "unknown"
            assert row["address"] not in right or row["requested_bytes"] == SCRATCH
        elif row["address"] in right and "which of them is which" not in row["why"]:
            assert row["category"] == right[row["address"]]


@pytest.mark.parametrize("path", with_answers("parameters"), ids=name_of)
def test_what_the_process_wrote_down_goes_before_all(
    program: Program, path: Path, tmp_path: Path
) -> None:
    """With addresses beside the snapshot every block is right, also those older than it."""
    snapshot = load(path)
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    stem = path.name.removesuffix(".gz").removesuffix(".pickle")
    written = {key: snapshot.answers.get(key, []) for key in TRUTHS}
    (tmp_path / f"{stem}-addresses.json").write_text(
        json.dumps({"schema": "stepscope.addresses/1", **written})
    )
    right = truth(snapshot)
    rows = tables(program, "memory-allocations", "--alive-at", "end", "--top", "0", copy)
    found = {row["address"]: row for row in rows["allocations"]}
    assert right
    for address, category in right.items():
        assert found[address]["category"] == category, found[address]
        assert found[address]["why"] == "the process wrote down what lies at its address"
    # A folder is opened the same way, and the file beside is no trace.
    again = tables(program, "memory-allocations", "--alive-at", "end", "--top", "0", tmp_path)
    assert again == rows
