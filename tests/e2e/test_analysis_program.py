"""What a program is made of, against an independent reader of the same trace."""

import json
from pathlib import Path
from typing import Any

import pytest
from oracle.program import Program as Recorded
from oracle.program import read_program
from program import ROOT, Program

FAULTS = ROOT / "tests" / "fixtures" / "faults"
SAMPLES = [
    ROOT / "examples" / "data" / "gpt_bf16.json.gz",
    ROOT / "examples" / "data" / "gpt_stack.json.gz",
    FAULTS / "vision.json.gz",
    FAULTS / "gpu_idle.json.gz",
    FAULTS / "small_saves_with_stacks.json.gz",
]
OF_CORPUS = [
    "hta/triton",
    "hta/amd_mi250",
    "tracelens/b200_eager",
    "tracelens/vllm_graph",
    "tracelens/mi300_qwen",
    "kineto/resnet50_num_workers_0",
]


def tables_of(program: Program, path: Path) -> dict[str, list[dict[str, Any]]]:
    answer = program.run("analyze", "program", "-f", "json", path).stdout
    tables: dict[str, list[dict[str, Any]]] = json.loads(answer)["tables"]
    return tables


def compare(tables: dict[str, list[dict[str, Any]]], it: Recorded) -> None:
    (rank,) = tables["ranks"]
    known = pytest.approx
    assert rank["compiled_share"] in (None, known(it.compiled_share, abs=0.01))
    assert rank["graph_share"] in (None, known(it.graph_share, abs=1e-6))
    assert rank["graph_launches"] == sum(
        count for name, count in it.calls.items() if "GraphLaunch" in name
    )
    assert (rank["backward"], rank["stacks"], rank["shapes"]) == (it.backward, it.stacks, it.shapes)
    assert set((rank["optimizers"] or "").split(", ")) - {""} == it.optimizers
    assert {row["name"]: row["calls"] for row in tables["calls"]} == dict(it.calls)
    for device in tables["devices"]:
        assert (device["vendor"], device["compute_major"]) == (it.vendor, it.compute_major)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name.split(".")[0])
def test_the_program_is_what_its_trace_says(path: Path, program: Program) -> None:
    it = read_program([path])
    assert it is not None
    compare(tables_of(program, path), it)


@pytest.mark.parametrize("name", OF_CORPUS)
def test_of_other_devices_and_tools(name: str, corpus: Path, program: Program) -> None:
    path = corpus / f"{name}.json.gz"
    it = read_program([path])
    assert it is not None
    compare(tables_of(program, path), it)
