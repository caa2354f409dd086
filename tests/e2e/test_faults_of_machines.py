"""Faults that need several processes, a graph or a busy machine, recorded on a GPU.

Recorded by tests/fixtures/record/machine_faults.py and image_faults.py; labels.json has the times
of steps that no profiler slowed.
"""

import json
from typing import Any

import pytest
from program import ROOT, Program

RECORDED = ROOT / "tests" / "fixtures" / "faults"


def advice_of(program: Program, name: str) -> dict[str, Any]:
    advice: dict[str, Any] = json.loads(program.run("advise", "--json", RECORDED / name).stdout)
    return advice


def found_in(advice: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["rule"]: one for one in advice["findings"]}


def cost_of(name: str) -> float:
    """What the fault costs a step, in ns: measured without a profiler."""
    label = json.loads((RECORDED / "labels.json").read_text())["faults"][name]
    took, would = (label[key]["median"] for key in ("fault_step_ms", "reference_step_ms"))
    return float(took - would) * 1e6


def test_gloo_on_gpus_is_found_with_what_it_costs(program: Program) -> None:
    advice = advice_of(program, "gloo_on_gpu")
    finding = advice["findings"][0]
    assert (finding["rule"], finding["level"]) == ("gloo-on-gpu", "warning")
    # The same waits are reported once.
    assert "communication" not in found_in(advice)["gpu-idle"]["title"]
    assert sorted(finding["ranks"]) == [0, 1]
    assert finding["evidence"][0]["text"].startswith("gloo:all_reduce")
    gain = finding["gain_per_step"]
    assert gain["low_ns"] <= cost_of("gloo_on_gpu") <= gain["high_ns"]


def test_a_job_with_more_threads_than_processors(program: Program) -> None:
    """Twelve busy workers on four processors; and the same training with one."""
    crowded, healthy = (
        advice_of(program, f"cpu_contention{ending}") for ending in ("", "__healthy")
    )
    finding = crowded["findings"][0]
    assert (finding["rule"], finding["level"]) == ("cpu-contention", "warning")
    assert finding["title"].startswith("The job runs more threads than it has processors")
    assert any("#SBATCH --cpus-per-task" in change["code"] for change in finding["changes"])
    # The workers use more than training does: threads of the training process are not the cause.
    assert "num_workers=3" in finding["changes"][0]["code"]
    assert "cpu-contention" not in found_in(healthy)
    gain = finding["gain_per_step"]
    assert gain["low_ns"] <= crowded["step_ns"] - healthy["step_ns"] <= gain["high_ns"]
    assert gain["low_ns"] <= cost_of("cpu_contention") <= gain["high_ns"]


def test_pauses_between_the_kernels_of_a_graph(program: Program) -> None:
    """The host is far ahead, and 1,600 kernels of a microsecond follow each other."""
    finding = advice_of(program, "gpu_idle.json.gz")["findings"][0]
    assert finding["rule"] == "gpu-idle"
    assert finding["title"].endswith("most of it in short pauses between kernels")
    assert "torch.compile" in finding["changes"][0]["code"]
    gain = finding["gain_per_step"]
    assert gain["low_ns"] == 0  # how many kernels can become one is unknown
    assert gain["low_ns"] <= cost_of("gpu_idle") <= gain["high_ns"]


def test_data_parallel_over_one_gpu_is_no_finding(program: Program) -> None:
    """It has DataParallel's functions as torch records them, which the rule looks for."""
    path = RECORDED / "data_parallel_of_one.json.gz"
    answer = program.run("analyze", "operators", "-f", "json", "--top", "0", path).stdout
    names = {row["name"] for row in json.loads(answer)["tables"]["operators"]}
    assert {"Broadcast", "BroadcastBackward", "Gather", "GatherBackward"} <= names
    assert "data-parallel" not in found_in(advice_of(program, path.name))


def test_selections_by_a_mask_come_before_the_launches_they_delay(program: Program) -> None:
    advice = advice_of(program, "masked.json.gz")
    first = advice["findings"][0]
    assert (first["rule"], first["level"]) == ("host-sync", "warning")
    assert advice["healthy"] is False
    assert first["changes"][0]["why"].startswith("Selecting by a mask")
    gain = first["gain_per_step"]
    assert gain["low_ns"] <= cost_of("masked") <= gain["high_ns"]


@pytest.mark.parametrize("name", ["small_saves", "small_saves_with_stacks"])
def test_a_small_checkpoint_is_one(name: str, program: Program) -> None:
    """5 MB in 51 tensors: known by their sizes, or by torch.save in the stack."""
    advice = advice_of(program, f"{name}.json.gz")
    first = advice["findings"][0]
    assert (first["rule"], first["level"]) == ("checkpoint-stall", "warning")
    assert "host-sync" not in found_in(advice)


@pytest.mark.parametrize("name", ["small_saves", "small_saves_with_stacks"])
def test_the_gain_of_a_small_checkpoint_is_the_one_that_was_measured(
    name: str, program: Program
) -> None:
    gain = advice_of(program, f"{name}.json.gz")["findings"][0]["gain_per_step"]
    assert gain["low_ns"] <= cost_of(name) <= gain["high_ns"]
