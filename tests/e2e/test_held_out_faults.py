"""Faults of a network over a graph, recorded on a GPU: no bound or threshold was set by them.

tests/fixtures/record/graph_faults.py made them on a machine of its own; labels.json has the steps
with and without each fault, timed without a profiler.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from program import Program

RECORDED = Path(__file__).parents[1] / "fixtures" / "faults"
LABELS: dict[str, Any] = json.loads((RECORDED / "labels.json").read_text())["faults"]
RULES = {
    "graph_pageable": "slow-transfers",
    "graph_scores": "host-sync",
    "graph_thinks": "host-pause",
    "graph_collects": "host-pause",  # nothing in a trace says that it is the collector
    "graph_saves": "checkpoint-stall",
    "graph_fp32": "precision",
    "graph_emptied_cache": "allocator-churn",
    "graph_recompute": "recompute",
    "graph_chain": "unfused-chains",
    "graph_unfused_optimizer": "unfused-optimizer",
    "graph_one_worker": "input-bound",
}


def findings_of(program: Program, name: str) -> list[dict[str, Any]]:
    done = program.run("advise", "--json", RECORDED / f"{name}.json.gz")
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return found


def test_all_of_them_are_here() -> None:
    assert {name for name in LABELS if name.startswith("graph")} == set(RULES)


@pytest.mark.parametrize(("name", "rule"), RULES.items())
def test_the_fault_comes_first_and_alone(program: Program, name: str, rule: str) -> None:
    first, *others = findings_of(program, name)
    assert first["rule"] == rule
    assert [one["rule"] for one in others if one["level"] in ("warning", "critical")] == []


@pytest.mark.parametrize("name", RULES)
def test_the_interval_holds_what_was_measured(program: Program, name: str) -> None:
    took, would = (LABELS[name][f"{side}_step_ms"]["median"] for side in ("fault", "reference"))
    gain = findings_of(program, name)[0]["gain_per_step"]
    assert gain["low_ns"] <= (took - would) * 1e6 <= gain["high_ns"]


def test_without_a_fault_nothing_is_found(program: Program) -> None:
    assert findings_of(program, "graph") == []
