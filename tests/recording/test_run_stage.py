"""A run that is staged: written to a disk of the node, and moved when the program has ended."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from launched_program import TRAINING, Runner, said, windows
from recorded_program import rank_facts, rank_folder

# Says where the run is being written, as the recorder has it.
PLACE = "import stepscope.recording.profile as p; print(p.current().rank.path, flush=True)\n"


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    folder = tmp_path / "local disk"
    folder.mkdir()
    return folder


def left_in(stage: Path) -> list[Path]:
    """Of the run: torch has a folder of its own there."""
    return list(stage.glob("stepscope-stage-*"))


def files_below(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("end", ["", "raise RuntimeError('theirs')\n", "os.kill(os.getpid(), 9)\n"])
def test_the_run_is_whole_at_its_place(
    trainer: Runner, tmp_path: Path, stage: Path, end: str
) -> None:
    trainer.script(TRAINING + "loop(2)\n" + PLACE + "time.sleep(0.8)\n" + end)
    done = trainer.run(
        *("--stage", "--steps", "4:6", "--no-report", "--out", "runs/a%r"),
        *("--", trainer.python, "train.py"),
        TMPDIR=str(stage),
    )
    assert done.stdout.decode().startswith(str(stage / "stepscope-stage-")), done.stderr
    run = tmp_path / "runs" / "a0"
    assert any(line.startswith("the run is in runs/a0;") for line in said(done)), done.stderr
    assert not left_in(stage)
    assert windows(run) == [(4, 2, "complete")]
    found = files_below(run)
    assert {"run.json", "attempt-0/attempt.json", "attempt-0/rank00000/events.scope"} <= found
    assert any(name.startswith("attempt-0/node-") for name in found)


def test_sigterm(trainer: Runner, tmp_path: Path, stage: Path) -> None:
    trainer.script(TRAINING + "loop(1)\n" + PLACE + "time.sleep(60)\n")
    process = trainer.start(
        "--stage", "-q", "--out", "run", "--", trainer.python, "train.py", TMPDIR=str(stage)
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM, err
    assert rank_facts(tmp_path / "run")["finished"] == "SIGTERM"
    assert not left_in(stage)


def test_what_cannot_be_moved_stays_and_is_named(
    trainer: Runner, tmp_path: Path, stage: Path
) -> None:
    """Something lies where a file of the run belongs."""
    trainer.script(
        TRAINING + "loop(1)\n" + PLACE + "os.mkdir('run/attempt-0/rank00000/events.scope')\n"
    )
    done = trainer.run(
        *("--stage", "--no-report", "--out", "run", "--", trainer.python, "train.py"),
        TMPDIR=str(stage),
    )
    assert done.returncode == 0, done.stderr
    (problem,) = [line for line in said(done) if "could not be moved" in line]
    assert "1 of " in problem
    assert "rank00000/events.scope: File exists" in problem
    kept = Path(problem.rpartition("they lie in ")[2])
    assert (kept / "attempt-0" / "rank00000" / "events.scope").is_file()
    assert rank_facts(tmp_path / "run")["steps"] == 10


def test_a_stage_that_cannot_be_written(trainer: Runner, tmp_path: Path) -> None:
    """The run goes to its folder at once, and the end says so."""
    (tmp_path / "file").write_text("")
    trainer.script(TRAINING + "loop(1)\n")
    done = trainer.run(
        *("--stage", "--no-report", "--out", "run", "--", trainer.python, "train.py"),
        TMPDIR=str(tmp_path / "file"),
    )
    assert done.returncode == 0, done.stderr
    assert any(line.startswith("the run is not staged") for line in said(done))
    assert rank_facts(tmp_path / "run")["steps"] == 10


def test_ranks_share_a_stage(trainer: Runner, tmp_path: Path, stage: Path) -> None:
    """The last to leave moves what is there, also of a command that was killed."""
    trainer.script(
        TRAINING
        + "loop(1)\n"
        + PLACE
        + "time.sleep(0.5 + 1.5 * (os.environ['SLURM_PROCID'] == '0'))\n"
    )
    job = {"SLURM_JOB_ID": "5", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "3"}
    words = ("--stage", "-q", "--out", "run", "--", trainer.python, "train.py")
    ranks = [
        trainer.start(*words, SLURM_PROCID=rank, SLURM_LOCALID=rank, TMPDIR=str(stage), **job)
        for rank in ("0", "1", "2")
    ]
    places = [process.stdout.readline() for process in ranks if process.stdout is not None]
    assert len({Path(os.fsdecode(place)).parent for place in places}) == 1
    ranks[2].kill()
    ends = [process.communicate(timeout=60) for process in ranks]
    assert [process.returncode for process in ranks] == [0, 0, -9], ends
    for rank in (0, 1, 2):
        assert rank_folder(tmp_path / "run", rank).joinpath("events.scope").is_file()
    assert len(list((tmp_path / "run" / "attempt-0").glob("node-*/system.scope"))) == 1
    deadline = time.monotonic() + 10
    while left_in(stage) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left_in(stage)


def test_another_disk(trainer: Runner, tmp_path: Path) -> None:
    """Files are copied where they cannot be renamed."""
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is one disk here")
    made = subprocess.run(
        ["mktemp", "-d", "-p", str(other)], capture_output=True, text=True, check=True
    ).stdout.strip()
    trainer.script(TRAINING + "loop(1)\n" + PLACE)
    done = trainer.run(
        "--stage", "-q", "--out", "run", "--", trainer.python, "train.py", TMPDIR=made
    )
    assert done.returncode == 0, done.stderr
    assert rank_facts(tmp_path / "run")["steps"] == 10
    assert not left_in(Path(made))
    shutil.rmtree(made)
