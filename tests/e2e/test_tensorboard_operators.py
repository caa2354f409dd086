"""Operators against the operator table of TensorBoard's plugin, where that is right.

Its figures are those of torch-tb-profiler 0.4.3 (`RunProfileData(...).process()`, then
`op_list_groupby_name`), in microseconds. Where it is not right:

- it does not know the category "cuda_runtime": on newer traces no operator has device time
- a call straight inside one of its own name is no call of its own, and its time counts twice
  in the total where others stand between
- in traces of 2021 it takes the runtime's calls for operators: self times on the host are less
"""

import json
from pathlib import Path

import pytest
from answers import Row, tables
from program import ROOT, Program

THEIRS = json.loads((ROOT / "tests" / "fixtures" / "tensorboard_operators.json").read_text())
COLUMNS = ("calls", "host_total_ns", "host_self_ns", "device_total_ns", "device_self_ns")
# Operators that come inside themselves.
CALLED_BY_ITSELF = {
    "aten::layer_norm",
    "aten::scaled_dot_product_attention",
    "aten::log_softmax",
    "aten::nll_loss",
    "aten::div",
}
AROUND_ITSELF = {"aten::linear", "aten::arange"}


def both(program: Program, trace: Path) -> list[tuple[str, Row, Row]]:
    """Name, our row, their row of every operator they know."""
    rows = {r["name"]: r for r in tables(program, "operators", "--top", "0", trace)["operators"]}
    found = []
    for name, (calls, *times) in THEIRS[trace.name.removesuffix(".json.gz")].items():
        ns = [round(time * 1000) for time in times]
        found.append((name, rows[name], dict(zip(COLUMNS, [calls, *ns], strict=True))))
    return found


def different(found: list[tuple[str, Row, Row]], column: str) -> set[str]:
    # Their times are sums of fractions of a microsecond.
    return {
        name
        for name, ours, theirs in found
        if abs(ours[column] - theirs[column]) > (0 if column == "calls" else theirs["calls"])
    }


@pytest.mark.parametrize("sample", ["gpt_bf16", "gpt_stack"])
def test_host_times_are_those_of_tensorboard(program: Program, sample: str) -> None:
    found = both(program, ROOT / "examples" / "data" / f"{sample}.json.gz")
    assert len(found) > 100
    assert different(found, "host_self_ns") == set()
    assert different(found, "host_total_ns") <= AROUND_ITSELF
    assert different(found, "calls") <= CALLED_BY_ITSELF
    assert sum(theirs["device_self_ns"] for _, _, theirs in found) == 0


def test_device_times_are_those_of_tensorboard(program: Program, corpus: Path) -> None:
    found = both(program, corpus / "kineto" / "resnet50_num_workers_0.json.gz")
    assert len(found) == 76
    assert sum(theirs["device_self_ns"] for _, _, theirs in found) == 603_558_000
    for column in ("device_self_ns", "device_total_ns", "host_total_ns"):
        assert different(found, column) == set(), column
    assert different(found, "calls") <= CALLED_BY_ITSELF
