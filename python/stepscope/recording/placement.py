"""Which process of which job this is: rank, world size, and what tells one launch from the next."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass

# Launchers, the innermost first: rank, size of the world, rank on this machine. In a Slurm job
# mpirun starts its helpers by srun, whose numbers are of the helpers.
_LAUNCHERS = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"),
    ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK"),
)

# The same in all processes of one launch, another one after a restart.
_LAUNCH = (
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_RESTART_COUNT",
    "TORCHELASTIC_RUN_ID",
    "TORCHELASTIC_RESTART_COUNT",
    "MASTER_ADDR",
    "MASTER_PORT",
    "PBS_JOBID",
    "LSB_JOBID",
    "PMIX_NAMESPACE",
    "PALS_APID",
    "FLUX_JOB_ID",
    "STEPSCOPE_LAUNCH",  # of `stepscope run` without a launcher around it
)


@dataclass(frozen=True)
class Placement:
    """One process among those of a job."""

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    source: str = ""  # what said so


def find_placement(environment: Mapping[str, str]) -> Placement:
    """From torch.distributed where it runs, else from the launcher's variables."""
    local = _number(environment, "LOCAL_RANK")
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        rank, world = distributed.get_rank(), distributed.get_world_size()
        return Placement(rank, world, rank if local is None else local, "torch.distributed")
    for rank_name, size_name, local_name in _LAUNCHERS:
        rank, size = _number(environment, rank_name), _number(environment, size_name)
        if rank is not None and size is not None and rank < size:
            found = _number(environment, local_name)
            return Placement(rank, size, rank if found is None else found, rank_name)
    return Placement()


def launch_key(environment: Mapping[str, str]) -> str:
    """What all processes of this launch share; of a process started by hand, its own."""
    # Nodes of one mpirun in a Slurm job differ in the step, which is of mpirun's helpers.
    left_out = "SLURM_STEP_ID" if environment.get("PMIX_NAMESPACE") else ""
    names = (name for name in _LAUNCH if environment.get(name) and name != left_out)
    parts = [f"{name}={environment[name]}" for name in names]
    if not parts:
        from time import time_ns

        return f"{socket.gethostname()}:{os.getpid()}:{time_ns()}"
    return " ".join(parts)


def expand(path: str, environment: Mapping[str, str], rank: int) -> str:
    """`%j` becomes the job, `%h` the host, `%r` the rank, `%%` a percent sign."""
    job = environment.get("SLURM_JOB_ID") or environment.get("PBS_JOBID")
    values = {
        "j": job or environment.get("LSB_JOBID") or "nojob",
        "h": socket.gethostname().split(".")[0],
        "r": str(rank),
        "%": "%",
    }
    return re.sub(r"%([jhr%])", lambda found: values[found[1]], path)


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else None
