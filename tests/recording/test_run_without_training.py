"""Programs without a training, or without Python: time, machine and energy are recorded anyhow."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from launched_program import TRAINING, Runner, said
from program import Program
from recorded_program import ranges_of, rank_facts, rank_folder

import stepscope

NOTHING = "no training was recorded: "


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["sh", "-c", "exit 7"], "no process of the program was a Python that could record"),
        (["PYTHON", "-c", ""], "the program did not import torch"),
        (
            ["PYTHON", "-c", "raise SystemExit(7)"],
            "the program ended with status 7 before it imported torch",
        ),
        (["PYTHON", "-I", "-c", "raise SystemExit(7)"], "Python was started with -I, which keeps"),
        (["PYTHON", "-sS", "-c", "raise SystemExit(7)"], "Python was started with -S, which keeps"),
        (["PYTHON", "-E", "-c", "raise SystemExit(7)"], "Python was started with -E, which keeps"),
        (
            ["env", "-i", "PYTHON", "-c", "raise SystemExit(7)"],
            "no process of the program was a Python that could record",
        ),
    ],
)
def test_why_is_said(runner: Runner, words: Sequence[str], why: str) -> None:
    """And the rest is a run like others."""
    done = runner.run(
        "--no-report",
        *("--out", "run", "--", *(runner.python if word == "PYTHON" else word for word in words)),
    )
    status = 0 if words[-1] == "" else 7
    assert (done.returncode, done.stdout) == (status, b"")
    where, nothing, spent, *end = said(done)
    assert where == "the run is in run; `stepscope report run` shows it"
    assert nothing.startswith(NOTHING + why)
    assert ("env -i" in nothing) == (words[0] in ("env", "sh"))
    # A small one may take less than the command itself, as whose copy its process began.
    peak = rank_facts(runner.folder / "run")["program"]["peak_bytes"]
    assert peak is not None or words[0] == "sh"
    assert f"of processor time and {'less than' if peak is None else 'at most'}" in spent
    assert end == (["the program ended with status 7"] if status else [])
    facts = rank_facts(runner.folder / "run")
    assert (facts["finished"], facts["program"]["status"], facts["steps"]) == ("exit", status, 0)
    assert facts["warnings"][0]["text"].startswith(NOTHING + why)
    assert ranges_of(rank_folder(runner.folder / "run") / "events.scope") == {"program": 1}


def test_the_peak_of_a_small_program_is_not_that_of_the_command(runner: Runner) -> None:
    """Its process begins as a copy of ours, and Linux keeps the peak of that."""
    for i in range(5):
        done = runner.run("--no-report", "--out", f"run{i}", "--", "sleep", "0.1")
        spent = next(line for line in said(done) if line.startswith("the program ran for"))
        program = rank_facts(runner.folder / f"run{i}")["program"]
        assert program["peak_bytes"] is None
        assert " and less than " in spent


def test_why_is_said_beside_problems_of_the_command(runner: Runner, tmp_path: Path) -> None:
    """A run that could not be staged is no reason for a training that was not there."""
    done = runner.run(
        *("--stage", "--no-report", "--out", "run", "--", runner.python, "-c", ""),
        TMPDIR=str(tmp_path / "missing"),
    )
    _, staged, nothing, _ = said(done)
    assert staged.startswith("the run is not staged, but written to its folder at once: ")
    assert nothing == NOTHING + "the program did not import torch"


def test_the_machine_beside_a_program_that_is_not_python(
    runner: Runner, program: Program, tmp_path: Path
) -> None:
    """Samples are of its time, and its processor time is the job's."""
    source = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 0.5"
    done = runner.run("--out", "runs/%j-%h", "--", "sh", "-c", source, SLURM_JOB_ID="12")
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("12-")
    text = done.stderr.decode()
    assert "\nSystem\n" in text, text
    # Where no counter was read only a sentence is known, which the short report leaves out.
    whole = program.run("report", folder).stdout.decode()
    assert "\nSystem\n" in whole and "\nEnergy\n" in whole, whole
    run = stepscope.open(folder)
    nodes = list(run.system()["machines"].rows())
    wall = rank_facts(folder)["program"]["wall_ns"]
    spent = rank_facts(folder)["program"]["processor_ns"]
    assert len(nodes) == 1
    assert nodes[0]["samples"] >= 3
    assert nodes[0]["job_cores"] > 0.1
    (only,) = run.time()["ranges"].rows()
    assert only["range"] == "program"
    assert 0.5 * wall < only["total_ns"] <= wall
    assert 0 < spent < 2 * wall
    about = json.loads((folder / "run.json").read_text())
    assert about["command"] == ["sh", "-c", source]


def test_words_are_of_a_program_and_not_of_a_training(
    runner: Runner, program: Program, tmp_path: Path
) -> None:
    """Hints are not about calls in a training loop."""
    done = runner.run("--out", "run", "--", "sh", "-c", "head -c 30000000 /dev/zero | wc -c")
    assert done.returncode == 0, done.stderr
    run = stepscope.open(tmp_path / "run")
    processes = {row["processes"]: row for row in run.system()["processes"].rows()}
    assert "stepscope run" in processes
    assert set(processes) <= {"stepscope run", "the program"}
    answers = [run.time(), run.throughput(), run.loader(), run.model()]
    texts = [text for answer in answers for text in answer.remarks]
    assert len(texts) == 4
    report = program.run("report", tmp_path / "run").stdout.decode()
    for text in [*texts, report]:
        assert "No training was seen in this program" in text
    for text in [*texts, report, done.stderr.decode()]:
        assert "step()" not in text
        assert "prof." not in text


def test_what_a_program_read_counts_once(runner: Runner, tmp_path: Path) -> None:
    """Also when the command has waited for it."""
    source = "sleep 0.5; head -c 30000000 /dev/zero > /dev/null; sleep 0.5"
    done = runner.run("-q", "--out", "run", "--", "sh", "-c", source)
    assert done.returncode == 0, done.stderr
    rows = list(stepscope.open(tmp_path / "run").system()["processes"].rows())
    assert 30e6 < sum(row["read_bytes"] for row in rows) < 33e6, rows


def test_system_can_be_switched_off(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("system: {enabled: false}\narguments: false\n")
    done = runner.run("-q", "--config", "s.yaml", "--out", "run", "--", "sh", "-c", "exit 3")
    assert done.returncode == 3
    assert not list((tmp_path / "run" / "attempt-0").glob("node-*"))
    assert json.loads((tmp_path / "run" / "run.json").read_text())["command"] == ["sh"]


def test_a_second_time_into_the_same_folder(runner: Runner, tmp_path: Path) -> None:
    """The next attempt; another program's run is left alone."""
    again = "run has a run already: this is attempt 2 (run/attempt-1)"
    for status in (0, 1):
        done = runner.run("--no-report", "--out", "run", "--", "sh", "-c", f"exit {status}")
        assert done.returncode == status
        assert said(done).count(again) == status
    assert rank_facts(tmp_path / "run", attempt=1)["program"]["status"] == 1
    done = runner.run("--out", "run", "--", "true")
    assert done.returncode == 0
    assert any("run holds another run" in line for line in said(done))
    assert not (tmp_path / "run" / "attempt-2").exists()


def test_ranks_that_do_not_train(runner: Runner, tmp_path: Path) -> None:
    """Of one launch: one attempt, with both of them; one of a node measures it and them."""
    (tmp_path / "temporary").mkdir()
    burn = "import time; end = time.monotonic() + 1.5\nwhile time.process_time() < 1.5 and "
    burn += "time.monotonic() < end + 30: pass\ntime.sleep(0.5)"
    job = {"SLURM_JOB_ID": "9", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2"}
    ranks = [
        runner.start(
            *("--no-report", "--out", "run", "--", runner.python, "-c", burn),
            SLURM_PROCID=rank,
            SLURM_LOCALID=rank,
            TMPDIR=str(tmp_path / "temporary"),
            **job,
        )
        for rank in ("0", "1")
    ]
    ends = [process.communicate(timeout=60)[1].decode() for process in ranks]
    assert [process.returncode for process in ranks] == [0, 0], ends
    assert [rank_facts(tmp_path / "run", rank)["rank"] for rank in (0, 1)] == [0, 1]
    assert len(list((tmp_path / "run").glob("attempt-*"))) == 1
    assert len(list((tmp_path / "run" / "attempt-0").glob("node-*/system*.scope"))) == 1
    assert ends[1] == ""
    rows = list(stepscope.open(tmp_path / "run").system()["processes"].rows())
    used = {row["rank"]: row["cpu_ns"] for row in rows if row["processes"] == "the program"}
    assert set(used) == {0, 1}, rows
    assert min(used.values()) > 1.2e9, rows
    (node,) = (tmp_path / "run" / "attempt-0").glob("node-*")
    assert not list(node.glob("process-*"))
    assert not list((tmp_path / "temporary").iterdir())


def test_ranks_that_outlive_the_one_that_measures(runner: Runner, tmp_path: Path) -> None:
    """The next of the node goes on, and what was used meanwhile is not lost."""
    (tmp_path / "temporary").mkdir()
    job = {"SLURM_JOB_ID": "9", "SLURM_STEP_ID": "1", "SLURM_STEP_NUM_TASKS": "3"}
    burn = "import time\nwhile time.process_time() < {}: pass\ntime.sleep({})"
    ranks = [
        runner.start(
            *("--no-report", "--out", "run", "--", runner.python, "-c", burn.format(cpu, rest)),
            SLURM_PROCID=str(rank),
            SLURM_LOCALID=str(rank),
            TMPDIR=str(tmp_path / "temporary"),
            **job,
        )
        for rank, (cpu, rest) in enumerate([(0.1, 1), (0.1, 5), (2, 6)])
    ]
    for process in ranks:
        process.communicate(timeout=60)
    run = stepscope.open(tmp_path / "run")
    (machine,) = run.system()["machines"].rows()
    facts = [rank_facts(tmp_path / "run", rank)["program"] for rank in (0, 1, 2)]
    assert machine["sampled_ns"] > 0.85 * facts[2]["wall_ns"], (machine, facts)
    rows = list(run.system()["processes"].rows())
    used = {row["rank"]: row["cpu_ns"] for row in rows if row["processes"] == "the program"}
    assert used[2] == pytest.approx(facts[2]["processor_ns"], rel=0.05), (used, facts)
    assert not list((tmp_path / "temporary").iterdir())


def test_nothing_is_kept_beside_a_training(trainer: Runner, tmp_path: Path) -> None:
    """What the command saw goes where the program records itself."""
    trainer.script(TRAINING + "loop(1)\ntime.sleep(1.2)\n")
    (tmp_path / "temporary").mkdir()
    done = trainer.run(
        *("-q", "--out", "run", "--", trainer.python, "train.py"),
        TMPDIR=str(tmp_path / "temporary"),
    )
    assert done.returncode == 0, done.stderr
    assert "program" not in ranges_of(rank_folder(tmp_path / "run") / "events.scope")
    assert len(list((tmp_path / "run").glob("attempt-*"))) == 1
    assert not list((tmp_path / "temporary").glob("stepscope-*"))


def test_a_folder_that_cannot_be_written(trainer: Runner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    trainer.script(
        TRAINING + "input()\nloop(1)\nprint('trained')\nprint('theirs', file=sys.stderr)\n"
    )
    process = trainer.start("--out", "file/run", "--", trainer.python, "train.py")
    # At once: the program waits for us.
    assert process.stderr is not None
    first = process.stderr.readline().decode()
    assert first == (
        "stepscope: file/run cannot be written (Not a directory): the program runs, and is not "
        "recorded; stop it and choose another folder with --out to have a run\n"
    )
    done = trainer.end_of(process, b"\n")
    assert (done.returncode, done.stdout) == (0, b"trained\n")
    assert done.stderr.startswith(b"theirs\n")
    nothing, spent = said(done)
    assert nothing == "no training was recorded: the folder of the run cannot be written"
    assert spent.startswith("the program ran for ")


def test_a_folder_that_not_even_the_administrator_can_make(runner: Runner) -> None:
    """The rights say yes, and the file system says no: printed before the program, not after it."""
    runner.script("input()\nprint('ran')\n")
    process = runner.start("--out", "/proc/run", "--", runner.python, "train.py")
    assert process.stderr is not None
    first = process.stderr.readline().decode()
    assert first.startswith("stepscope: /proc/run cannot be written ("), first
    done = runner.end_of(process, b"\n")
    assert (done.returncode, done.stdout) == (0, b"ran\n")


def test_a_program_that_records_itself(runner: Runner, tmp_path: Path) -> None:
    """Without torch: its own run is the one that is shown."""
    runner.script(
        """
import stepscope
with stepscope.profile("its-own", trace=False) as prof:
    for _ in range(4):
        prof.step()
"""
    )
    done = runner.run("--out", "run", "--", runner.python, "train.py")
    assert done.returncode == 0, done.stderr
    assert said(done) == [
        "the run is in its-own; `stepscope report its-own` shows all of it",
    ]
    assert done.stderr.decode().startswith("its-own\n")
    assert rank_facts(tmp_path / "its-own")["program"]["status"] == 0
    assert not (tmp_path / "run").exists()


def test_a_folder_of_another_script(trainer: Runner, tmp_path: Path) -> None:
    """Said at once, not after days of training; the same script makes a further attempt."""
    trainer.script("import torch\n", "other.py")
    trainer.script(TRAINING + "input()\nloop(1)\n")
    for script, warns in (("train.py", False), ("other.py", True), ("train.py", False)):
        process = trainer.start("--no-report", "--out", "run", "--", trainer.python, script)
        done = trainer.end_of(process, b"\n")
        assert done.returncode == 0
        refusal = (
            "run holds a run of train.py: this one cannot be recorded there; stop it and choose "
            "another folder with --out to have a run"
        )
        assert (said(done)[0] == refusal) == warns, said(done)
    assert (tmp_path / "run" / "attempt-1").exists()


def test_a_folder_that_belongs_to_others(program: Program, unprivileged: list[str]) -> None:
    """The root of the file system: only the administrator writes there."""
    command = [*unprivileged, str(program.path), "run", "--out", "/theirs/run", "--", "sh", "-c"]
    done = subprocess.run([*command, "echo done; exit 3"], capture_output=True, cwd="/usr")
    assert (done.returncode, done.stdout) == (3, b"done\n")
    assert said(done)[0].startswith("/theirs/run cannot be written (Permission denied)")


def test_a_second_training_into_the_same_folder(trainer: Runner, tmp_path: Path) -> None:
    trainer.script(TRAINING + "loop(1)\n")
    words = ("--no-report", "--out", "run", "--", trainer.python, "train.py")
    for attempt in (0, 1):
        done = trainer.run(*words)
        lines = ["run has a run already: this is attempt 2 (run/attempt-1)"] * attempt
        lines += ["the run is in run; `stepscope report run` shows it"]
        assert [line for line in said(done) if "never opened" not in line] == lines
        assert rank_facts(tmp_path / "run", attempt=attempt)["program"]["status"] == 0


@pytest.mark.parametrize("words", [("train.py",), ("-m", "train")])
def test_a_restart_that_trains(trainer: Runner, tmp_path: Path, words: Sequence[str]) -> None:
    """It is a further attempt of what ended before it trained, also as a task of a job array."""
    task = {"SLURM_ARRAY_JOB_ID": "8", "SLURM_ARRAY_TASK_ID": "2"}
    for attempt, source in enumerate(("raise SystemExit(1)\n", TRAINING + "loop(1)\n")):
        trainer.script(source)
        command = ("--no-report", "--out", "run", "--", trainer.python, *words)
        done = trainer.end_of(trainer.start(*command, **task))
        assert done.returncode == 1 - attempt, said(done)
        assert not any("holds" in line for line in said(done)), said(done)
    assert rank_facts(tmp_path / "run", attempt=1)["program"]["status"] == 0
    identity = json.loads((tmp_path / "run" / "run.json").read_text())["identity"]
    assert identity == {
        "script": "-m train" if words[0] == "-m" else str(tmp_path / "train.py"),
        "slurm_array_job_id": "8",
        "slurm_array_task_id": "2",
    }


def test_hints_are_of_the_command(trainer: Runner, tmp_path: Path) -> None:
    """Hints name options, as the program has no line of stepscope; its log is not the run's."""
    trainer.script(TRAINING + "loop(1)\n")
    done = trainer.run("--no-report", "--out", "run", "--", trainer.python, "train.py")
    (warning,) = [line for line in said(done) if "never opened" in line]
    assert warning.endswith("ended after 10 steps; choose earlier ones, such as --steps 7:10")
    done = trainer.run("-q", "--steps", "7:10", "--out", "next", "--", trainer.python, "train.py")
    assert (done.returncode, said(done)) == (0, [])
    assert not list(stepscope.open(tmp_path / "next").log()["levels"].rows())
    done = trainer.run(
        *("--no-report", "--epoch", "7", "--out", "late", "--", trainer.python, "train.py")
    )
    (warning,) = [line for line in said(done) if "never opened" in line]
    assert warning.endswith("choose an earlier epoch, or fewer batches, with --epoch")


def test_a_program_that_forks_and_leaves(runner: Runner, tmp_path: Path) -> None:
    """A child that outlives the program holds nothing up, and writes nothing of the run."""
    runner.script(
        """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    os.close(1), os.close(2)
    time.sleep(20)
print("gone", flush=True)
"""
    )
    done = runner.run("--no-report", "--out", "run", "--", sys.executable, "train.py")
    assert (done.returncode, done.stdout) == (0, b"gone\n")
    assert rank_facts(tmp_path / "run")["program"]["wall_ns"] < 15e9


def test_programs_started_in_the_same_second(runner: Runner) -> None:
    started = [runner.start("--no-report", "--", "sh", "-c", "sleep 0.2") for _ in range(5)]
    answers = {said(runner.end_of(process))[0] for process in started}
    runs = list((runner.folder / "stepscope-runs").iterdir())
    assert len(runs) == len(answers) == 5
    assert all(rank_facts(run)["program"]["status"] == 0 for run in runs)


def test_a_program_that_does_not_start_leaves_no_folder(runner: Runner) -> None:
    done = runner.run("--", "/there/is/none")
    assert (done.returncode, said(done)) == (127, ["/there/is/none: No such file or directory"])
    assert not (runner.folder / "stepscope-runs").exists()
