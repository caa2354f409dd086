"""Our tables against torch's own _memory_viz: its stats, memory and compare on every sample."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from answers import tables
from oracle import torch_memory_viz
from oracle.memory import ROOT, load, name_of, snapshot_files
from program import Program

VIZ = torch_memory_viz.module()
RECORDED = torch_memory_viz.recorded()
MINE = {name_of(path): path for path in snapshot_files() if path.is_relative_to(ROOT)}


def torch_says(path: Path) -> dict[str, Any]:
    """Of torch's functions where they are here; else as they were written down."""
    if VIZ is None:
        if name_of(path) not in RECORDED["samples"]:
            pytest.skip("torch is not here, and nothing was written down of this one")
        found: dict[str, Any] = RECORDED["samples"][name_of(path)]
        return found
    content = load(path).content
    stacks = torch_memory_viz.memory(VIZ, content)
    return torch_memory_viz.stats(VIZ, content) | {"by_stack": torch_memory_viz.digest(stacks)}


@pytest.mark.skipif(VIZ is None, reason="neither torch nor its _memory_viz.py is here")
def test_what_was_written_down_is_what_torch_says() -> None:
    assert VIZ is not None
    assert torch_memory_viz.figures(VIZ) == RECORDED


@pytest.mark.parametrize("path", snapshot_files(), ids=name_of)
def test_stats(program: Program, path: Path) -> None:
    torch = torch_says(path)
    summary = tables(program, "memory-summary", path)
    waste = tables(program, "memory-fragmentation", path)
    waiting = sum(
        block["size"]
        for segment in load(path).content["segments"]
        for block in segment["blocks"]
        if block["state"] not in ("active_allocated", "inactive")
    )
    assert sum(row["end_reserved_bytes"] for row in summary["devices"]) == torch["reserved"]
    now = {(row["of"], row["pool"]): row["now"] for row in summary["counts"] if row["device"] == 0}
    if not any(s["is_expandable"] for s in load(path).content["segments"]):
        assert now["reserved segments", "all"] == torch["segments"]
    (end,) = [row for row in waste["moments"] if row["moment"] == "end"]
    # torch's free memory has what a stream still uses; its other sums leave it out.
    if waiting == 0:
        assert end["unused_bytes"] == torch["free_external"]
        assert end["rounding_bytes"] == torch["free_internal"]
        assert end["requested_bytes"] == torch["allocated"]
    else:
        assert end["unused_bytes"] + waiting == torch["free_external"]


@pytest.mark.parametrize("path", snapshot_files(), ids=name_of)
def test_memory_by_stack(program: Program, path: Path) -> None:
    rows = tables(program, "memory-allocations", "--alive-at", "end", "--top", "0", path)
    ours: Counter[str] = Counter()
    for row in rows["allocations"]:
        frames = (row["stack"] or "").split(";")
        python = [f.replace(" ", ":", 1) for f in frames]
        stack = ";".join(f for f in python if torch_memory_viz.is_python(f))
        ours[stack] += row["requested_bytes"]
    assert torch_memory_viz.digest(ours) == torch_says(path)["by_stack"]


@pytest.mark.parametrize("pair", torch_memory_viz.COMPARED, ids=" ".join)
def test_compare(program: Program, pair: tuple[str, str]) -> None:
    torch = RECORDED["compared"][" ".join(pair)]
    before, after = (segments_of(program, MINE[name]) for name in pair)
    for side, mine, other in (("only_before", before, after), ("only_after", after, before)):
        assert sorted(address for address, _ in mine - other) == torch[side]
        assert sum(size for _, size in mine - other) == torch[f"{side}_bytes"]


def segments_of(program: Program, path: Path) -> set[tuple[int, int]]:
    rows = tables(program, "memory-events", "--top", "1", path)["segments"]
    return {(int(row["address"], 16), row["total_bytes"]) for row in rows}
