"""Faults that were recorded on a GPU when all bounds and thresholds were set.

A network over a graph, tests/fixtures/record/graph_faults.py, on a machine of its own; labels.json
has the steps with and without each fault, timed without a profiler. And faults of networks over
speech and pictures, recorded when it was set what recording costs. And of a U-Net over noisy
pictures, tests/fixtures/record/vision_faults.py, recorded when all of that was set: what it showed
is in the rules now, and so is what norm_faults.py did. And of a model that ranks what people click,
ranking_faults.py, recorded when all of that was set.
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
# And how wide they are, of the step: where launching holds up the step with or without the fault,
# how much of that is the fault's, no trace says.
AGAIN = {
    "speech_counts": ("host-sync", 0.57),
    "speech_lengths": ("slow-transfers", 0.58),
    "speech_emptied_cache": ("allocator-churn", 0.30),
    "fetched_values_again": ("host-sync", 0.30),
    "small_copies_again": ("slow-transfers", 0.30),
    "masked_again": ("host-sync", 0.32),
}

# And how wide they are, of the step. Of a fault that is four fifths of it, by passes over tensors
# of different orders, no trace says more.
VISION = {
    "vision_metrics": ("host-sync", 0.30),
    "vision_fp32": ("precision", 0.30),
    "vision_emptied_cache": ("allocator-churn", 0.30),
    "vision_chain": ("unfused-chains", 0.30),
    "vision_recompute": ("recompute", 0.30),
    "vision_odd_channels": ("odd-shapes", 0.30),
    "vision_layout_batch_norm": ("channels-last", 0.30),
    "norm_softmax": ("unfused-chains", 0.30),
    "norm_batch": ("unfused-chains", 0.34),
    "images_odd_channels": ("odd-shapes", 0.30),
}

# The last was recorded 2.6 times as long as its steps are.
RANKING = {
    "ranking_columns": ("slow-transfers", 0.30),
    "ranking_watches": ("host-sync", 0.37),
    "ranking_collects": ("host-pause", 0.30),
    "ranking_emptied_cache": ("allocator-churn", 0.30),
    "ranking_unfused_optimizer": ("unfused-optimizer", 0.67),
}
LATER = VISION | RANKING


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


@pytest.mark.parametrize(("name", "rule", "widest"), [(name, *AGAIN[name]) for name in AGAIN])
def test_what_recording_costs_is_left_out(
    program: Program, name: str, rule: str, widest: float
) -> None:
    took, would = (LABELS[name][f"{side}_step_ms"]["median"] for side in ("fault", "reference"))
    path = RECORDED / f"{name}.json.gz"
    advice = json.loads(program.run("advise", "--json", path).stdout)
    gain = next(one["gain_per_step"] for one in advice["findings"] if one["rule"] == rule)
    assert gain["low_ns"] <= (took - would) * 1e6 <= gain["high_ns"]
    assert gain["high_ns"] - gain["low_ns"] <= widest * advice["step_ns"]


@pytest.mark.parametrize(("name", "rule", "widest"), [(name, *LATER[name]) for name in LATER])
def test_a_later_fault_comes_first_and_its_interval_holds(
    program: Program, name: str, rule: str, widest: float
) -> None:
    took, would = (LABELS[name][f"{side}_step_ms"]["median"] for side in ("fault", "reference"))
    path = RECORDED / f"{name}.json.gz"
    advice = json.loads(program.run("advise", "--json", path).stdout)
    first = advice["findings"][0]
    gain = first["gain_per_step"]
    assert first["rule"] == rule
    assert gain["low_ns"] <= (took - would) * 1e6 <= gain["high_ns"]
    assert gain["high_ns"] - gain["low_ns"] <= widest * advice["step_ns"]


def test_where_recording_may_be_nearly_all_of_a_fault_it_is_said(program: Program) -> None:
    """Its steps were recorded 2.2 times as long as they are: the interval does not hold."""
    first, *_ = findings_of(program, "vision_unfused_optimizer")
    assert first["rule"] == "unfused-optimizer"
    assert first["confidence"] != "high"
    assert "The profiler itself may cause more of this wait" in first["detail"]


def test_small_products_gain_less_by_tensor_cores_than_the_interval_says(program: Program) -> None:
    """It misses by less than 3 % of the step."""
    label = LABELS["ranking_fp32"]
    took, would = (label[f"{side}_step_ms"]["median"] for side in ("fault", "reference"))
    first, *_ = findings_of(program, "ranking_fp32")
    assert first["rule"] == "precision"
    assert first["gain_per_step"]["low_ns"] <= (took - would + 0.03 * took) * 1e6
    # The gates of a recurrent cell do not go away in 16 bits.
    assert first["gain_per_step"]["high_ns"] <= 0.75 * took * 1e6


def test_a_run_without_a_fault_has_no_warning(program: Program) -> None:
    """One kernel of the recurrent cell starts four blocks, whatever the batch."""
    assert [(one["rule"], one["level"]) for one in findings_of(program, "ranking")] == [
        ("low-occupancy", "notice")
    ]


@pytest.mark.parametrize("name", ["graph", "vision", "vision_layout"])
def test_without_a_fault_nothing_is_found(program: Program, name: str) -> None:
    assert findings_of(program, name) == []
