"""`check` and `diff` of recorded runs: how they ended, and which of their steps count."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from program import Program
from recorded_program import Script, rank_facts, rank_folder

import stepscope

MakeScript = Callable[[str], Script]

TRAIN = """
import os, signal, sys, time
import stepscope as ss
from stepscope import _capture

folder, steps, end = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with ss.profile(folder, trace=False, system=False) as prof:
    for step in range(steps):
        time.sleep(0.002)
        prof.step()
    if end == "exception":
        raise ValueError("loss is nan")
    if end.startswith("status"):
        sys.exit(int(end.removeprefix("status ")))
    if end == "SIGTERM":
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    if end == "SIGKILL":
        _capture.flush()  # what is younger than half a second may be lost
        os.kill(os.getpid(), signal.SIGKILL)
"""
STEPS = 40
TRACED = range(20, 24)


def record(script: MakeScript, run: Path, steps: int = STEPS, end: str = "stop") -> Path:
    script(TRAIN).run(str(run), str(steps), end)
    assert rank_facts(run).get("finished", "SIGKILL") == end
    return run


def trace_text() -> str:
    """Steps as torch's profiler names them, each ten seconds long."""
    steps = [
        {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{n}", "pid": 1, "tid": 1}
        | {"ts": 1000 + 10_010_000 * at, "dur": 10_000_000 + n % 3}
        for at, n in enumerate(TRACED)
    ]
    return json.dumps({"schemaVersion": 1, "traceEvents": steps})


def trace(run: Path) -> Path:
    """A window of torch's profiler, as if the run had had one."""
    (rank_folder(run) / "trace-0.json").write_text(trace_text())
    facts = rank_facts(run)
    window = {"kind": "trace", "first_step": TRACED[0], "steps": len(TRACED)}
    facts["windows"] = [window | {"closed": "complete", "files": ["trace-0.json"]}]
    (rank_folder(run) / "rank.json").write_text(json.dumps(facts))
    return run


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("exception", "ended by an exception in step 40: ValueError: loss is nan"),
        ("status 3", "ended with status 3"),
        ("SIGTERM", "was ended by SIGTERM"),
        ("SIGKILL", "was killed, or still runs"),
    ],
)
def test_a_run_that_did_not_end_by_itself_is_not_passed(
    program: Program, script: MakeScript, tmp_path: Path, end: str, words: str
) -> None:
    run = record(script, tmp_path / "run", end=end)
    done = program.run("check", run, "--baseline", run, "--width", "0")
    assert done.exit_status == 1
    out = done.stdout.decode()
    assert out.startswith("failed: ending\n")
    assert f"ending: {run} {words}" in out
    allowed = program.run("check", run, "--baseline", run, "--allow-unfinished")
    assert allowed.exit_status in (0, 4)  # a killed process may have lost its last records
    baseline = tmp_path / "baseline.json"
    refused = program.run("check", run, "--write-baseline", baseline)
    assert (refused.exit_status, baseline.exists()) == (1, False)
    assert words in refused.stderr.decode()


def test_a_run_without_steps_is_not_judged(
    program: Program, script: MakeScript, tmp_path: Path
) -> None:
    none = record(script, tmp_path / "none", steps=0)
    good = record(script, tmp_path / "good")
    for run, baseline in ((none, good), (good, none), (none, none)):
        done = program.run("check", run, "--baseline", baseline, "--width", "0")
        assert done.exit_status == 1
        assert f"{none} has no steps: nothing could be judged" in done.stdout.decode()
        diff = program.run("diff", run, baseline)
        assert (diff.exit_status, diff.stdout) == (3, b"")
        assert f"{none}: it has no steps, and steps are compared" in diff.stderr.decode()
    with pytest.raises(stepscope.Error, match="it has no steps"):
        stepscope.open(good).diff(stepscope.open(none))


def test_a_program_that_does_not_train_has_no_step(program: Program, tmp_path: Path) -> None:
    run = tmp_path / "run"
    program.run("run", "--no-report", "--out", run, "--", "sh", "-c", "sleep 0.1")
    done = program.run("check", run, "--baseline", run, "--width", "0")
    assert done.exit_status == 1
    out = done.stdout.decode()
    assert f"steps: {run} has no steps" in out
    assert program.run("diff", run, run).exit_status == 3


def test_steps_outside_of_windows_count(
    program: Program, script: MakeScript, tmp_path: Path
) -> None:
    run = trace(record(script, tmp_path / "run"))
    answer = json.loads(program.run("diff", "--json", run, run).stdout)
    # The one before, in which a profiler warms up, four of the window, the one it was closed in.
    for side in answer["tables"]["sides"]:
        assert side["kind"] == "untraced"
        assert side["steps"] + side["warmup_steps"] == STEPS - 6
        assert side["traced_steps"] == len(TRACED)
    assert answer["tables"]["times"][0]["before_ns"] < 5e9
    done = program.run("check", run, "--baseline", run, "--json")
    checked = json.loads(done.stdout)
    assert " steps outside of trace windows" in checked["runs"][0]
    limits = {one["limit"]: one for one in checked["limits"]}
    assert limits["step_time"]["after"] < 5e9
    # The same through a file, which keeps both kinds.
    baseline = tmp_path / "baseline.json"
    program.run("check", run, "--write-baseline", baseline)
    kept = json.loads(baseline.read_text())["runs"][0]["samples"]
    assert (kept["step_time"]["steps"], kept["traced_step_time"]["steps"]) == ("untraced", "traced")
    by_file = json.loads(program.run("check", run, "--baseline", baseline, "--json").stdout)
    assert by_file["limits"] == checked["limits"]


def test_traced_steps_are_held_against_traced_ones(
    program: Program, script: MakeScript, tmp_path: Path
) -> None:
    run = trace(record(script, tmp_path / "run"))
    alone = tmp_path / "alone.json"
    alone.write_text(trace_text())
    answer = json.loads(program.run("diff", "--json", run, alone).stdout)
    assert [side["kind"] for side in answer["tables"]["sides"]] == ["traced", "traced"]
    assert [side["steps"] for side in answer["tables"]["sides"]] == [len(TRACED)] * 2
    assert f"Of both sides the traced steps, since {alone} has no others." in answer["remarks"]
    done = program.run("check", alone, "--baseline", run, "--width", "0")
    assert done.exit_status == 0
    assert f"of both sides the traced steps, since {alone} has no others" in done.stdout.decode()


def test_traced_against_untraced_steps_is_unsure(
    program: Program, script: MakeScript, tmp_path: Path
) -> None:
    run = record(script, tmp_path / "run")
    alone = tmp_path / "alone.json"
    alone.write_text(trace_text())
    answer = json.loads(program.run("diff", "--json", run, alone).stdout)
    assert "unsure: one side was traced, the other was not" in answer["sentence"]
    assert answer["tables"]["times"][0]["significant"] is None
    done = program.run("check", alone, "--baseline", run, "--width", "0")
    assert done.exit_status == 0
    assert f"the steps of {alone} were traced, those of {run} were not" in done.stdout.decode()
    strict = program.run("check", alone, "--baseline", run, "--strict")
    assert strict.exit_status == 1
    assert strict.stdout.startswith(b"failed: step_time is unsure, throughput is unsure\n")


def test_a_folder_of_runs_is_no_run(program: Program, script: MakeScript, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    for name in ("a", "b"):
        record(script, folder / name, steps=3)
    words = f"{folder}: this folder holds 2 runs: a, b; name one, as in `stepscope report"
    for command in ("info", "report", "advise", "serve", "memory"):
        done = program.run(command, folder)
        assert (done.exit_status, done.stdout) == (2, b"")
        assert words in done.stderr.decode()
    assert program.run("check", folder, "--baseline", folder).exit_status == 2
    assert program.run("diff", folder, folder / "a").exit_status == 2
    assert program.run("info", folder / "a").exit_status == 0
    with pytest.raises(stepscope.UsageError, match="this folder holds 2 runs"):
        stepscope.open(folder)
