"""The settings file, given to `stepscope run` and to `stepscope.profile`: it does what it says."""

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from launched_program import TRAINING, Runner, said, windows
from recorded_program import Script, ranges_of, rank_facts, rank_folder

import stepscope

SETTINGS = """
folder: runs/a
report: false
window: {steps: "14:16", warmup: 2}
trace: {keep: [shapes]}
logs: error
system: {enabled: false}
watch: {samples: 7}
tags: [first, second]
first_step: 100
arguments: false
"""


def test_a_file_for_run(trainer: Runner, tmp_path: Path) -> None:
    (tmp_path / "stepscope.yaml").write_text(SETTINGS)
    trainer.script(
        TRAINING
        + """
import logging
logging.getLogger("a").warning("not this")
loop(1, lambda epoch: logging.getLogger("a").error("this"))
loop(1)
"""
    )
    done = trainer.run(
        *("--", trainer.python, "train.py", "--lr", "1"),
        STEPSCOPE_CONFIG=str(tmp_path / "stepscope.yaml"),
    )
    assert done.returncode == 0, done.stderr
    assert said(done) == ["the run is in runs/a; `stepscope report runs/a` shows it"]
    assert b"Traced steps" not in done.stderr
    run = tmp_path / "runs" / "a"
    assert windows(run) == [(114, 2, "complete")]
    about = json.loads((run / "run.json").read_text())
    assert (about["tags"], about["command"]) == (["first", "second"], ["train.py"])
    assert not list((run / "attempt-0").glob("node-*"))
    opened = stepscope.open(run)
    assert [row["text"] for row in opened.log()["lines"].rows()] == ["this"]
    trace = gzip.decompress((rank_folder(run) / "trace-0.json.gz").read_bytes())
    assert json.loads(trace)["record_shapes"] == 1


def test_the_command_line_wins(trainer: Runner, tmp_path: Path) -> None:
    (tmp_path / "stepscope.yaml").write_text(SETTINGS)
    trainer.script(TRAINING + "loop(2)\n")
    done = trainer.run(
        *("-q", "--config", "stepscope.yaml", "--epoch", "1:3-5", "--out", "other"),
        *("--", trainer.python, "train.py"),
    )
    assert done.returncode == 0, done.stderr
    assert windows(tmp_path / "other") == [(113, 3, "complete")]
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("text", ["widow: {}\n", "folder: [\n", None])
def test_nothing_is_started_with_a_wrong_file(
    runner: Runner, tmp_path: Path, text: str | None
) -> None:
    if text is not None:
        (tmp_path / "stepscope.yaml").write_text(text)
    done = runner.run("--config", "stepscope.yaml", "--", "echo", "started")
    assert (done.returncode, done.stdout) == (2, b"")
    assert said(done)[0].startswith("stepscope.yaml:")


def test_keys_of_anemoi(trainer: Runner, tmp_path: Path) -> None:
    """Windows as its users know them; the plan has the whole group for what writes the reports."""
    (tmp_path / "stepscope.yaml").write_text(
        "benchmark_profiler: {memory: {steps: 3, warmup: 2}, snapshot: {enabled: False}}\n"
    )
    trainer.script(
        TRAINING + "loop(1)\nimport stepscope\nprint(os.environ['STEPSCOPE_RUN_PLAN'])\n"
    )
    done = trainer.run(
        *("--no-report", "--config", "stepscope.yaml", "--out", "run"),
        *("--", trainer.python, "train.py"),
        STEPSCOPE_PACKAGE_PYTHON=sys.executable,  # as the package's own command has it
    )
    assert done.returncode == 0, done.stderr
    assert windows(tmp_path / "run") == [(2, 3, "complete")]
    group = json.loads(done.stdout)["benchmark_profiler"]
    assert group["memory"]["steps"] == 3
    assert group["time"] == {"enabled": True, "verbose": False}
    assert "the reports of benchmark_profiler are in run/profiler" in said(done)
    reports = {file.name for file in (tmp_path / "run" / "profiler").iterdir()}
    assert {"time_profiler.csv", "speed_profiler.csv", "memory_profiler.csv"} <= reports


def lines_of(file: Path) -> list[str]:
    """That the program logged itself."""
    rows = stepscope.open(file).log()["lines"].rows()
    return [row["text"] for row in rows if row["logger"] == "a"]


def test_a_file_for_profile(script: Callable[[str], Script], tmp_path: Path) -> None:
    """What is given in the call wins over it."""
    (tmp_path / "stepscope.yaml").write_text(
        SETTINGS.replace("runs/a", str(tmp_path / "from-file"))
    )
    done = script(
        """
        import logging, sys
        import stepscope

        with stepscope.profile(config="stepscope.yaml", tags=["mine"]) as prof:
            for batch in prof.watch([[1, 2], [3, 4]]):
                logging.getLogger("a").warning("not this")
                prof.step()
        with stepscope.profile("given", config="stepscope.yaml", logs=True, trace=False) as prof:
            for batch in prof.watch([[1, 2], [3, 4]], samples=3):
                logging.getLogger("a").warning("this")
                prof.step()
        try:
            stepscope.profile(config="wrong.yaml")
        except stepscope.FormatError as error:
            print(error)
        try:
            stepscope.profile(config={"lr": 1})
        except stepscope.UsageError as error:
            print(error)
        """
    )
    (tmp_path / "wrong.yaml").write_text("trace: {kep: []}\n")
    ended = done.run()
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [
        "wrong.yaml:1:9: unknown key 'kep' in 'trace'; did you mean 'keep'?",
        "the folder of the run is missing: profile(folder), or `folder:` in a file",
    ]
    about = json.loads((tmp_path / "from-file" / "run.json").read_text())
    assert (about["tags"], about["config"]) == (["mine"], {})
    assert rank_facts(tmp_path / "from-file")["steps"] == 2
    first = rank_folder(tmp_path / "from-file") / "events.scope"
    second = rank_folder(tmp_path / "given") / "events.scope"
    assert (lines_of(first), lines_of(second)) == ([], ["this", "this"])
    assert ranges_of(first)
    samples = [
        [row["samples"] for row in stepscope.open(file).throughput()["phases"].rows()]
        for file in (first, second)
    ]
    assert samples == [[14], [6]]
