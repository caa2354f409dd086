"""A real Slurm, of one node: before and after srun, in batch scripts, with the names in paths."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from launched_program import TRAINING, windows
from one_node_slurm import OneNodeSlurm
from program import ROOT, Program
from recorded_program import rank_facts

pytestmark = pytest.mark.skipif(
    "STEPSCOPE_SLURM" not in os.environ,
    reason="starts the daemons of a Slurm: `make slurm` installs and runs it",
)


@pytest.fixture(scope="module")
def slurm() -> Iterator[OneNodeSlurm]:
    with OneNodeSlurm() as started:
        yield started


class Job:
    """A user's folder with a training, `stepscope` and `python` on the PATH."""

    def __init__(self, slurm: OneNodeSlurm, folder: Path) -> None:
        self.slurm, self.folder = slurm, folder
        self.path = f"{folder / 'bin'}:{slurm.environment['PATH']}"

    def run(self, *words: str, **variables: str) -> tuple[int, str, str]:
        done = self.slurm.run(
            *words,
            cwd=self.folder,
            **{"PATH": self.path, "OMP_NUM_THREADS": "1", "PYTHONPATH": "", **variables},
        )
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def job(slurm: OneNodeSlurm, program: Program, training_python: str, tmp_path: Path) -> Job:
    (tmp_path / "bin").mkdir()
    # Not by links: a Python knows by its path which environment it is of.
    for name, command in (("stepscope", program.path), ("python", training_python)):
        file = tmp_path / "bin" / name
        file.write_text(f'#!/bin/sh\nexec "{command}" "$@"\n')
        file.chmod(0o755)
    torchrun = tmp_path / "bin" / "torchrun"
    torchrun.write_text('#!/bin/sh\nexec python -m torch.distributed.run "$@"\n')
    torchrun.chmod(0o755)
    (tmp_path / "train.py").write_text(TRAINING + "loop(1)\n")
    return Job(slurm, tmp_path)


def test_after_srun(job: Job, tmp_path: Path) -> None:
    """A command for each rank: one run, named by the job, of which rank 0 tells."""
    words = ("stepscope", "run", "--steps", "3:5", "--out", "runs/%j", "--", "python", "train.py")
    status, out, err = job.run("srun", "-n2", *words)
    assert (status, out) == (0, ""), err
    (run,) = (tmp_path / "runs").iterdir()
    assert run.name.isdigit()
    assert err.count("the run is in") == 1
    assert f"`stepscope report runs/{run.name}` shows all of it" in err
    for rank in (0, 1):
        facts = rank_facts(run, rank)
        assert (facts["rank_from"], facts["steps"]) == ("SLURM_PROCID", 10)
        assert (facts["finished"], facts["program"]["status"]) == ("exit", 0)
        assert windows(run, rank) == [(3, 2, "complete")]
    assert len(list(run.glob("attempt-*"))) == 1
    assert len(list(run.glob("attempt-0/node-*/system.scope"))) == 1


def test_before_srun(job: Job, tmp_path: Path) -> None:
    """One command for all ranks: it is no rank itself, and the job begins after it."""
    words = ("srun", "-n2", "python", "train.py")
    status, out, err = job.run("sh", "-c", f"stepscope run --out runs/%j -- {' '.join(words)}")
    assert (status, out) == (0, ""), err
    (run,) = (tmp_path / "runs").iterdir()
    assert run.name.isdigit()
    assert err.count("the run is in") == 1
    assert re.search(r"^  Run +2 ranks", err, re.MULTILINE), err
    assert [rank_facts(run, rank)["rank"] for rank in (0, 1)] == [0, 1]
    assert {rank_facts(run, rank)["program"]["status"] for rank in (0, 1)} == {0}
    assert len(list(run.glob("attempt-*"))) == 1


def test_names_in_paths(job: Job, tmp_path: Path) -> None:
    """Each rank into a folder of its own, if that is what was asked for."""
    words = ("stepscope", "run", "--no-report", "--out", "runs/%j/%h-%r", "--")
    status, _, err = job.run("srun", "-n2", *words, "python", "-c", "")
    assert status == 0, err
    (number,) = (tmp_path / "runs").iterdir()
    host, ranks = set(), set()
    for folder in number.iterdir():
        name, rank = folder.name.rsplit("-", 1)
        host.add(name)
        ranks.add(rank)
        assert rank_facts(folder, int(rank))["host"].partition(".")[0] == name
    assert (len(host), ranks) == (1, {"0", "1"})


def test_one_rank_fails(job: Job, tmp_path: Path) -> None:
    """Its command says so, srun ends as it would, and the run tells which one it was."""
    (tmp_path / "train.py").write_text(
        TRAINING
        + "loop(1)\nif os.environ['SLURM_PROCID'] == '1':\n    raise ValueError('theirs')\n"
    )
    words = ("stepscope", "run", "--no-report", "--out", "run", "--", "python", "train.py")
    status, _, err = job.run("srun", "-n2", *words)
    assert status == 1, err
    assert "stepscope: the program of rank 1 ended with status 1 (ValueError: theirs)\n" in err
    assert "of rank 0 ended" not in err
    assert [rank_facts(tmp_path / "run", rank)["finished"] for rank in (0, 1)] == [
        "exit",
        "exception",
    ]


def submit(job: Job, name: str, **changes: tuple[str, str]) -> str:
    """An example as it stands, but for GPUs, two nodes and eight processors, which are not here."""
    text = (ROOT / "examples" / "slurm" / f"{name}.sbatch").read_text()
    text = re.sub(r"#SBATCH --(gpus|cpus)-per-.*\n", "", text)
    text = re.sub(r"--nodes=\d+", "--nodes=1", text)
    text = re.sub(r"--ntasks-per-node=4", "--ntasks-per-node=2", text)
    for old, new in changes.values():
        assert old in text, old
        text = text.replace(old, new)
    (job.folder / f"{name}.sbatch").write_text(text)
    status, out, err = job.run("sbatch", "--parsable", "--output=said.txt", f"{name}.sbatch")
    assert status == 0, err
    return out.strip()


def wait_for_end(job: Job, number: str) -> str:
    """What the job said."""
    said = job.folder / "said.txt"
    deadline = time.monotonic() + 400
    while time.monotonic() < deadline:
        _, state, _ = job.run("squeue", "--noheader", "--jobs", number, "--format=%T %r")
        if not state.strip():
            return said.read_text()
        time.sleep(0.3)
    job.run("scancel", number)
    pytest.fail(f"{state.strip()}: {said.read_text() if said.exists() else 'never began'}")


@pytest.mark.parametrize("name", ["train", "staged"])
def test_batch_scripts(job: Job, tmp_path: Path, name: str) -> None:
    shutil.copy(ROOT / "examples" / "plain_training.py", tmp_path / "train.py")
    number = submit(job, name, steps=("100:105", "20:23"))
    said = wait_for_end(job, number)
    run = tmp_path / "runs" / number
    assert f"the run is in runs/{number};" in said, said
    for rank in (0, 1):
        assert rank_facts(run, rank)["steps"] == 48, said
        assert windows(run, rank) == [(20, 3, "complete")]
        assert rank_facts(run, rank)["program"]["status"] == 0


def test_a_batch_script_with_torchrun(job: Job, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "plain_training.py", tmp_path / "train.py")
    (tmp_path / "stepscope.yaml").write_text('window: {steps: "5:7"}\n')
    number = submit(job, "torchrun", ranks=("--nproc-per-node 4", "--nproc-per-node 2"))
    said = wait_for_end(job, number)
    run = tmp_path / "runs" / number
    assert [windows(run, rank) for rank in (0, 1)] == [[(5, 2, "complete")]] * 2, said
    assert said.count("the run is in") == 1


def test_the_time_is_over(job: Job, tmp_path: Path) -> None:
    """As `--signal=TERM@120` does it: what was recorded on the node's disk is in the run."""
    (tmp_path / "train.py").write_text(
        TRAINING + "loop(1)\nopen(f\"ready-{os.environ['SLURM_PROCID']}\", 'w').close()\n"
        "time.sleep(300)\n"
    )
    number = submit(job, "staged", steps=("100:105", "3:5"))
    deadline = time.monotonic() + 400
    while len(list(tmp_path.glob("ready-*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    job.run("scancel", "--signal=TERM", number)
    said = wait_for_end(job, number)
    run = tmp_path / "runs" / number
    for rank in (0, 1):
        facts = rank_facts(run, rank)
        assert (facts["finished"], facts["program"]["signal"]) == ("SIGTERM", "SIGTERM"), said
        assert windows(run, rank) == [(3, 2, "complete")]
