"""`stepscope run` before and after launchers: every rank finds its place in one run."""

import socket
from pathlib import Path

import pytest
from launched_program import TRAINING, Runner, windows
from program import ROOT
from recorded_program import rank_facts


def free_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def test_torchrun_with_two_ranks(trainer: Runner, tmp_path: Path) -> None:
    trainer.script(
        TRAINING
        + """
torch.distributed.init_process_group("gloo")
loop(1, lambda epoch: torch.distributed.all_reduce(torch.ones(4)))
torch.distributed.destroy_process_group()
"""
    )
    launcher = [trainer.python, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    done = trainer.run(
        *("--steps", "4:6", "--out", "run", "--", *launcher, "--master-port", free_port()),
        "train.py",
    )
    assert done.returncode == 0, done.stderr
    assert b"  Run           2 ranks" in done.stderr
    for rank in (0, 1):
        facts = rank_facts(tmp_path / "run", rank)
        assert (facts["rank_from"], facts["steps"]) == ("torch.distributed", 10)
        assert windows(tmp_path / "run", rank) == [(4, 2, "complete")]


def test_the_example_after_srun(trainer: Runner, tmp_path: Path) -> None:
    """A command for each rank; that of rank 0 tells of the run, which is named by the job."""
    example = str(ROOT / "examples" / "plain_training.py")
    job = {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2"}
    words = ("--epoch", "1:3-5", "--out", "runs/%j", "--no-report", "--", trainer.python, example)
    ranks = [trainer.start(*words, SLURM_PROCID=rank, **job) for rank in ("0", "1")]
    ends = [process.communicate(timeout=600)[1].decode() for process in ranks]
    assert [process.returncode for process in ranks] == [0, 0], ends
    assert ends[0].splitlines()[0].startswith("stepscope: the run is in runs/77;")
    assert "the run is in" not in ends[1]
    for rank in (0, 1):
        assert rank_facts(tmp_path / "runs" / "77", rank)["steps"] == 48
        assert windows(tmp_path / "runs" / "77", rank) == [(19, 3, "complete")]  # 16 to an epoch


# As the launchers set them: for rank 1 of 2 on one machine, beside what they inherit.
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "PMIX_NAMESPACE": "prterun-host-77@1",
    "PMIX_RANK": "1",
}
MPICH = {"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1", "PMI_FD": "9"}
# The helper of mpirun on a further node was started by srun, in a step of its own.
HELPER = {
    "SLURM_JOB_ID": "8",
    "SLURM_PROCID": "0",
    "SLURM_STEP_NUM_TASKS": "1",
    "SLURM_LOCALID": "0",
    "SLURM_STEP_ID": "3",
}


@pytest.mark.parametrize(
    ("variables", "folder", "said_by"),
    [
        (OPEN_MPI, "train-prterun-host-77-1", "OMPI_COMM_WORLD_RANK"),
        (MPICH, "train", "PMI_RANK"),
        ({**HELPER, **OPEN_MPI}, "train-8", "OMPI_COMM_WORLD_RANK"),
        (
            {"SLURM_JOB_ID": "8", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"},
            "train-8",
            "SLURM_PROCID",
        ),
    ],
    ids=["Open MPI", "MPICH", "Open MPI in Slurm", "srun"],
)
def test_the_rank_is_that_of_the_launcher(
    trainer: Runner, tmp_path: Path, variables: dict[str, str], folder: str, said_by: str
) -> None:
    """And only rank 0 speaks."""
    trainer.script(TRAINING + "loop(1)\n")
    words = ("--steps", "4:6", "--", trainer.python, "train.py")
    done = trainer.end_of(trainer.start(*words, **variables))
    assert (done.returncode, done.stderr) == (0, b"")
    run = tmp_path / "stepscope-runs" / folder
    facts = rank_facts(run, 1)
    assert (facts["rank"], facts["world_size"], facts["rank_from"]) == (1, 2, said_by)


def test_nodes_of_one_mpirun_make_one_attempt(trainer: Runner, tmp_path: Path) -> None:
    """The node of the batch script has no step; the others have that of mpirun's helper."""
    trainer.script(TRAINING + "loop(1)\n")
    first = {**OPEN_MPI, "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
    words = ("--no-report", "--out", "runs/%j", "--", trainer.python, "train.py")
    for variables in ({**first, "SLURM_JOB_ID": "8"}, {**HELPER, **OPEN_MPI}):
        assert trainer.end_of(trainer.start(*words, **variables)).returncode == 0
    assert len(list((tmp_path / "runs" / "8").glob("attempt-*"))) == 1
    assert [rank_facts(tmp_path / "runs" / "8", rank)["rank"] for rank in (0, 1)] == [0, 1]


def test_ranks_host_and_job_in_a_path(trainer: Runner, tmp_path: Path) -> None:
    trainer.script(TRAINING + "loop(1)\n")
    host = socket.gethostname().split(".")[0]
    for rank in ("0", "1"):
        done = trainer.run(
            *("-q", "--out", "runs/%j/%h/%r-100%%", "--", trainer.python, "train.py"),
            SLURM_PROCID=rank,
            SLURM_STEP_NUM_TASKS="2",
            SLURM_JOB_ID="31",
        )
        assert done.returncode == 0, done.stderr
        run = tmp_path / "runs" / "31" / host / f"{rank}-100%"
        assert rank_facts(run, int(rank))["steps"] == 10
