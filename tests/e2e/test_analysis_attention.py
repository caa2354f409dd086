"""Attention in pieces, against a slow reader: which softmax stands between two batched products."""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from program import ROOT, Program

FAULTS = ROOT / "tests" / "fixtures" / "faults"
BATCHED = {"aten::bmm", "aten::baddbmm"}
PLAIN = {"aten::mm", "aten::addmm", "aten::cudnn_convolution", "aten::_convolution"}
SOFTMAX = {"aten::_softmax"}


def pieces_of(path: Path) -> tuple[int, float]:
    """How many there are, and how long the kernels that their forward softmax launched took."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    threads: defaultdict[tuple[Any, Any], list[dict[str, Any]]] = defaultdict(list)
    lengths: dict[int, float] = {}
    for one in events:
        if one.get("cat") == "kernel":
            lengths[one["args"]["correlation"]] = one["dur"]
        if one.get("cat") in ("cpu_op", "cuda_runtime"):
            threads[one["pid"], one["tid"]].append(one)
    count, softmax_us = 0, 0.0
    for calls in threads.values():
        calls.sort(key=lambda one: one["ts"])
        ops = [one for one in calls if one["name"] in BATCHED | PLAIN | SOFTMAX]
        for before, softmax, after in zip(ops, ops[1:], ops[2:], strict=False):
            names = [one["name"] for one in (before, softmax, after)]
            if names[0] not in BATCHED or names[1] not in SOFTMAX or names[2] not in BATCHED:
                continue
            scores = softmax["args"]["Input Dims"][0]
            if after["args"]["Input Dims"][names[2] == "aten::baddbmm"][-1] != scores[-1]:
                continue
            count += 1
            end = softmax["ts"] + softmax["dur"]
            softmax_us += sum(
                lengths.get(one["args"].get("correlation"), 0)
                for one in calls
                if one["cat"] == "cuda_runtime" and softmax["ts"] <= one["ts"] < end
            )
    return count, softmax_us


def answer_of(program: Program, path: Path) -> list[dict[str, Any]]:
    answer = program.run("analyze", "attention", "-f", "json", path).stdout
    rows: list[dict[str, Any]] = json.loads(answer)["tables"]["pieces"]
    return rows


@pytest.mark.parametrize("name", ["norm_softmax", "vision", "recompute", "graph"])
def test_what_is_attention_in_pieces(name: str, program: Program) -> None:
    path = FAULTS / f"{name}.json.gz"
    count, softmax_us = pieces_of(path)
    rows = answer_of(program, path)
    assert sum(row["calls"] for row in rows) == count
    forward = sum(row["softmax_ns"] - 0 for row in rows)
    assert forward >= softmax_us * 1000 - 1  # and its backward pass
