"""Verdicts of kernels and operators over many pairs of runs: chance has none, a change has its own.

Programs are made up: a loader, a product and a ReLU on the device, each step as long as its normal
noise makes it. Both runs of a pair are the same program unless one is given another length.
"""

import json
import random
from pathlib import Path

import pytest
from program import Program

GEMM = "ampere_sgemm_128x64_nn"
RELU = "relu_kernel"


def write_run(path: Path, steps: int, noise: float, seed: int, gemm_us: float = 8000) -> None:
    draw = random.Random(seed)
    events: list[dict[str, object]] = []
    now = 1_000.0
    number = 0

    def event(cat: str, name: str, at: float, length: float, **args: object) -> None:
        lane = 0 if cat == "kernel" else 100
        events.append(
            {"ph": "X", "cat": cat, "name": name, "pid": lane, "tid": 7, "ts": at}
            | {"dur": length, "args": args}
        )

    for step in range(steps):
        began = now
        free = now
        for op, kernel, length in (("aten::mm", GEMM, gemm_us), ("aten::relu", RELU, 1000)):
            number += 1
            ids = {"External id": number, "correlation": number}
            event("cpu_op", op, now, 20, **{"External id": number})
            event("cuda_runtime", "cudaLaunchKernel", now + 5, 10, **ids)
            ran = max(1.0, length * draw.gauss(1, noise))
            free = max(free, now + 12)
            event("kernel", kernel, free, ran, device=0, stream=7, **ids)
            free += ran
            now += 25
        now = free + 10
        event("user_annotation", f"ProfilerStep#{step}", began, now - began)
        now += 2
    devices = [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320}]
    trace = {"schemaVersion": 1, "deviceProperties": devices, "traceEvents": events}
    path.write_text(json.dumps(trace))


def verdicts(
    program: Program, folder: Path, steps: int, noise: float, seed: int, **after: float
) -> dict[str, str]:
    write_run(folder / "a.json", steps, noise, 2 * seed)
    write_run(folder / "b.json", steps, noise, 2 * seed + 1, **after)
    done = program.run("diff", "--json", folder / "a.json", folder / "b.json")
    tables = json.loads(done.stdout)["tables"]
    found = {row["kernel"]: row["verdict"] for row in tables["kernels"]}
    return found | {row["operator"]: row["verdict"] for row in tables["operators"]}


@pytest.mark.parametrize(("steps", "noise"), [(30, 0.3), (4, 0.05), (2, 0.1), (12, 0.15)])
def test_noise_is_hardly_ever_called_a_change(
    program: Program, tmp_path: Path, steps: int, noise: float
) -> None:
    pairs = 60
    wrong = sum(
        bool({"slower", "faster"} & set(verdicts(program, tmp_path, steps, noise, seed).values()))
        for seed in range(pairs)
    )
    assert wrong <= 3, wrong  # of the pairs, not of their four rows


@pytest.mark.parametrize(("steps", "noise"), [(30, 0.05), (6, 0.02), (4, 0.01)])
def test_a_planted_change_is_found(
    program: Program, tmp_path: Path, steps: int, noise: float
) -> None:
    pairs = 20
    for verdict, length in (("slower", 10_000.0), ("faster", 6_400.0)):
        seen = 0
        for seed in range(pairs):
            found = verdicts(program, tmp_path, steps, noise, 1000 + seed, gemm_us=length)
            seen += found[GEMM] == found["aten::mm"] == verdict
            assert found[RELU] in ("same", "unsure")
        assert seen >= 0.9 * pairs, (verdict, seen)


def test_one_step_decides_nothing(program: Program, tmp_path: Path) -> None:
    found = verdicts(program, tmp_path, 1, 0.01, 7, gemm_us=10_000)
    assert found[GEMM] == "unsure"
    assert found[RELU] in ("same", "unsure")
