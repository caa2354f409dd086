"""`stepscope check` with files that it writes itself, and the examples that call it."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

from program import ROOT, Program

GPT = ROOT / "examples" / "data" / "gpt_bf16.json.gz"
DDP = ROOT / "examples" / "data" / "ddp"


def test_a_baseline_file_says_what_the_run_says(program: Program, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    program.run("check", GPT, "--write-baseline", baseline)
    assert baseline.stat().st_size < 4096
    by_file = json.loads(program.run("check", GPT, "--baseline", baseline, "--json").stdout)
    by_trace = json.loads(program.run("check", GPT, "--baseline", GPT, "--json").stdout)
    assert by_file == by_trace
    assert not by_file["failed"]


def test_a_trace_may_be_held_against_step_times(program: Program, tmp_path: Path) -> None:
    steps = tmp_path / "steps.jsonl"
    steps.write_text("".join(f'{{"step": {i}, "step_time_ms": {5 + i % 2}}}\n' for i in range(20)))
    done = program.run("check", GPT, "--baseline", steps, "--json")
    assert done.exit_status == 1
    limits = {one["limit"]: one for one in json.loads(done.stdout)["limits"]}
    assert limits["step_time"]["outcome"] == "failed"
    assert limits["step_time"]["before"] == 5.5e6
    assert limits["peak_memory"]["outcome"] == "not judged"


def test_the_files_for_ci_systems(program: Program, tmp_path: Path) -> None:
    junit, summary = tmp_path / "check.xml", tmp_path / "summary.md"
    summary.write_text("what was there\n")
    done = program.run(
        "check", DDP, "--baseline", DDP, "--junit", junit, "--summary", summary, "--github"
    )
    suite = ElementTree.parse(junit).getroot()[0]
    assert suite.attrib["failures"] == "0"
    assert [case.attrib["name"] for case in suite][:2] == ["step_time", "throughput"]
    assert summary.read_text().startswith("what was there\n## stepscope check: ")
    # Three steps cannot show 5 %: GitHub gets a warning.
    assert "::warning title=stepscope check unsure::step_time" in done.stdout.decode()


def test_a_limit_that_could_not_be_judged_fails_everywhere(
    program: Program, tmp_path: Path
) -> None:
    rules, junit, summary = (tmp_path / name for name in ("ci.yaml", "check.xml", "summary.md"))
    rules.write_text("limits: {step_time: {max_increase: 300%}, peak_memory: {max_increase: 5%}}\n")
    arguments = ("check", DDP, "--baseline", DDP, "--rules", rules)
    done = program.run(*arguments, "--junit", junit, "--summary", summary, "--github")
    verdict = "failed: peak_memory could not be judged"
    assert done.exit_status == 2
    assert done.stdout.decode().startswith(verdict)
    assert "::error title=stepscope check not judged::peak_memory" in done.stdout.decode()
    suite = ElementTree.parse(junit).getroot()[0]
    assert (suite.attrib["errors"], suite.attrib["skipped"]) == ("1", "0")
    assert [case.attrib["name"] for case in suite if case.find("error") is not None] == [
        "peak_memory"
    ]
    assert verdict.replace("_", "\\_") in summary.read_text()
    answer = json.loads(program.run(*arguments, "--json").stdout)
    assert answer["failed"] and answer["verdict"] == verdict


def test_a_column_per_step_knows_its_noise(program: Program, tmp_path: Path) -> None:
    rules = tmp_path / "ci.yaml"
    column = "column: kernels.kernels.sum_ns, where: {rank: 0}, aggregate: sum"
    rules.write_text(f"limits: {{all: {{{column}, per_step: true, max_increase: 0%}}}}\n")
    done = program.run("check", DDP, "--baseline", DDP, "--rules", rules, "--json")
    limit = json.loads(done.stdout)["limits"][0]
    assert limit["change_low"] < 0 < limit["change_high"]
    steps = json.loads(program.run("analyze", "steps", "--format", "json", DDP).stdout)
    count = sum(row["rank"] == 0 for row in steps["tables"]["steps"])
    baseline = tmp_path / "baseline.json"
    program.run("check", DDP, "--rules", rules, "--write-baseline", baseline)
    samples = json.loads(baseline.read_text())["runs"][0]["samples"]
    figures = samples["kernels.kernels.sum_ns rank=0 sum per_step"]
    assert figures["per_step"] and len(figures["values"]) == count
    # They are those of the steps: together the whole.
    kernels = json.loads(
        program.run("analyze", "kernels", "--top", "0", "--format", "json", DDP).stdout
    )
    whole = sum(row["sum_ns"] for row in kernels["tables"]["kernels"] if row["rank"] == 0)
    assert 0 < sum(figures["values"]) <= whole


def test_a_time_without_noise_may_not_be_held_to_nothing(program: Program, tmp_path: Path) -> None:
    rules = tmp_path / "ci.yaml"
    column = "column: kernels.kernels.sum_ns, aggregate: sum, max_increase:"
    for amount, status in (("0%", 3), ("0ms", 3), ("1%", 0)):
        rules.write_text(f"limits: {{all: {{{column} {amount}}}}}\n")
        done = program.run("check", DDP, "--baseline", DDP, "--rules", rules)
        assert done.exit_status == status, amount
        assert (b"per_step: true" in done.stderr) == (status == 3)
    assert b"compared as it is" in done.stdout


def test_step_times_that_are_none_are_named(program: Program, tmp_path: Path) -> None:
    steps = tmp_path / "steps.jsonl"
    for line, message in (
        ("[0.02, NaN, 0.02]", b"a step time that is no number: NaN or Infinity"),
        ("[1e308, 1e308]", b"a step of more than thirty years"),
        ("[0.02, 0]", b"a step takes longer than 0"),
    ):
        steps.write_text(line + "\n")
        done = program.run("check", steps, "--baseline", steps)
        assert done.exit_status == 3
        assert message in done.stderr, done.stderr


def test_several_traces_are_several_runs(program: Program) -> None:
    answer = json.loads(program.run("check", GPT, GPT, "--baseline", GPT, "--json").stdout)
    assert len(answer["runs"]) == 2


def test_the_slurm_example_writes_a_baseline_then_checks(program: Program, tmp_path: Path) -> None:
    record = tmp_path / "record.sh"
    record.write_text(f'#!/bin/sh\nmkdir -p "$1" && cp {GPT} "$1"/\n')
    record.chmod(0o755)
    (tmp_path / "bin").mkdir()
    shutil.copy(program.path, tmp_path / "bin" / "stepscope")
    env = os.environ | {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "RECORD": str(record),
        "BASELINE": str(tmp_path / "baseline.json"),
        "RULES": str(ROOT / "examples" / "ci" / "step-time.yaml"),
    }
    for folder in ("first", "second"):
        subprocess.run(
            [ROOT / "examples" / "ci" / "slurm-nightly.sh"],
            env=env | {"FOLDER": str(tmp_path / folder)},
            cwd=tmp_path,
            check=True,
            timeout=120,
        )
    assert (tmp_path / "baseline.json").exists()
    assert (tmp_path / "second" / "step-time.xml").exists()
    assert not (tmp_path / "first" / "step-time.xml").exists()


def test_the_github_example_calls_what_there_is(program: Program) -> None:
    text = (ROOT / "examples" / "ci" / "github-actions.yml").read_text()
    assert "actions/setup-python" in text
    assert "pip install ci/stepscope-*.whl" in text
    assert "stepscope run --out" in text
    known = program.run("check", "--help").stdout.decode()
    for option in ("--baseline", "--rules", "--github", "--summary", "--junit"):
        assert option in text
        assert option in known
