"""`run.diff()` says what the command says."""

from __future__ import annotations

import json

from program import ROOT, Program

import stepscope

DATA = ROOT / "examples" / "data"


def test_diff_is_that_of_the_command(program: Program) -> None:
    run = stepscope.open(DATA / "ddp")
    diff = run.diff(run, ranks=0, other_ranks=1)
    answer = json.loads(
        program.run("diff", "--json", "--rank-a", "0", "--rank-b", "1", DATA / "ddp").stdout
    )
    assert diff.sentence == answer["sentence"]
    for name, rows in answer["tables"].items():
        if name != "sides":  # names the run as it was given
            assert list(diff[name].rows()) == rows


def test_parts_add_up_to_the_change_of_the_step() -> None:
    run = stepscope.open(DATA / "ddp")
    diff = run.diff(run, ranks=0, other_ranks=1)
    times = next(row for row in diff["times"].rows() if row["quantity"] == "typical")
    assert abs(sum(diff["parts"]["change_ns"].tolist()) - times["change_ns"]) < 1


def test_a_run_does_not_differ_from_itself() -> None:
    run = stepscope.open(DATA / "gpt_bf16.json.gz")
    diff = run.diff(stepscope.open(DATA / "gpt_bf16.json.gz"))
    assert "no difference beyond noise" in diff.sentence
    assert set(diff["kernels"].to_pandas()["verdict"]) == {"same"}
