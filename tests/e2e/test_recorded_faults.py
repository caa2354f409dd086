"""Faults of a network over pictures, recorded on a GPU: each is found, with what it costs."""

import json
from pathlib import Path
from typing import Any

import pytest
from program import Program

RECORDED = Path(__file__).parents[1] / "fixtures" / "faults"
LEVELS = ["info", "notice", "warning", "critical"]
WIDEST = 0.30  # of the step


def advice_of(program: Program, name: str) -> dict[str, Any]:
    done = program.run("advise", "--json", RECORDED / f"{name}.json.gz")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def label_of(name: str) -> dict[str, Any]:
    label: dict[str, Any] = json.loads((RECORDED / "labels.json").read_text())["faults"][name]
    return label


@pytest.mark.parametrize(
    ("name", "rule", "level"),
    [
        ("pageable_images", "slow-transfers", "warning"),
        ("small_copies", "slow-transfers", "critical"),
        ("fetched_values", "host-sync", "warning"),
        ("emptied_cache", "allocator-churn", "warning"),
        ("saves", "checkpoint-stall", "critical"),
        ("unfused_optimizer", "unfused-optimizer", "warning"),
        ("collected", "garbage-collector", "critical"),
        ("no_tensor_cores", "precision", "critical"),  # many kernels of one call are no search
        ("few_blocks", "low-occupancy", "notice"),
        ("one_worker", "input-bound", "critical"),
        ("full_memory", "memory-pressure", "warning"),
        ("validation", "outlier-steps", "notice"),
    ],
)
def test_the_fault_comes_first_and_alone(
    program: Program, name: str, rule: str, level: str
) -> None:
    first, *others = advice_of(program, name)["findings"]
    assert (first["rule"], first["level"]) == (rule, level)
    assert first["cause"] == label_of(name)["cause"]
    assert first["measured"]["unit"] != "share, 0 to 1" or first["measured"]["value"] <= 1
    assert [one["rule"] for one in others if LEVELS.index(one["level"]) >= 2] == []


def test_a_short_pause_is_told_from_slow_launching(program: Program) -> None:
    """3 ms of Python between steps that the CPU can hardly feed: both are said, each its part."""
    found = {one["rule"]: one for one in advice_of(program, "python_pause")["findings"]}
    assert found["launch-bound"]["level"] == "critical"
    assert found["host-pause"]["level"] == "warning"
    assert found["host-pause"]["confidence"] == "high"


# What a profiler does not slow down: the times of labels.json were measured without one.
@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("emptied_cache", "allocator-churn"),
        ("saves", "checkpoint-stall"),
        ("python_pause", "host-pause"),
        ("collected", "garbage-collector"),
        ("no_tensor_cores", "precision"),
        ("one_worker", "input-bound"),
    ],
)
def test_the_gain_is_the_one_that_was_measured(program: Program, name: str, rule: str) -> None:
    label = label_of(name)
    took, would = (label[key]["median"] * 1e6 for key in ("fault_step_ms", "reference_step_ms"))
    told = advice_of(program, name)
    gain = next(one["gain_per_step"] for one in told["findings"] if one["rule"] == rule)
    assert gain["low_ns"] <= took - would <= gain["high_ns"]
    assert gain["high_ns"] - gain["low_ns"] <= WIDEST * told["step_ns"]


# Calls that a profiler makes longer: against the recording without the fault.
@pytest.mark.parametrize("name", ["fetched_values", "emptied_cache"])
def test_the_gain_is_the_difference_of_the_recordings(program: Program, name: str) -> None:
    told, without = advice_of(program, name), advice_of(program, "images_192")
    gain = told["findings"][0]["gain_per_step"]
    assert gain["low_ns"] <= told["step_ns"] - without["step_ns"] <= gain["high_ns"]
    assert gain["high_ns"] - gain["low_ns"] <= WIDEST * told["step_ns"]


def test_nothing_is_wrong_where_nothing_was_planted(program: Program) -> None:
    told = advice_of(program, "images_192")
    assert told["healthy"]
    assert [(one["rule"], one["level"]) for one in told["findings"]] == [("launch-bound", "notice")]
