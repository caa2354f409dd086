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
    told = {one["limit"]: one for one in json.loads(done.stdout)["limits"]}
    assert told["step_time"]["outcome"] == "failed"
    assert told["step_time"]["before"] == 5.5e6
    assert told["peak_memory"]["outcome"] == "not judged"


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


def test_several_traces_are_several_runs(program: Program) -> None:
    told = json.loads(program.run("check", GPT, GPT, "--baseline", GPT, "--json").stdout)
    assert len(told["runs"]) == 2


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
    known = program.run("check", "--help").stdout.decode()
    for option in ("--baseline", "--rules", "--github", "--summary", "--junit"):
        assert option in text
        assert option in known
