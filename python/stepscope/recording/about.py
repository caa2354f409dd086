"""What is written down about a launch: enough to know later what ran where, and nothing secret.

Of the environment only the names listed here are kept.
"""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from stepscope._version import __version__
from stepscope.recording.foreign_text import writable
from stepscope.recording.placement import Placement

KEPT_VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING",
    "NCCL_DEBUG",
    "NCCL_ALGO",
    "NCCL_PROTO",
    "NCCL_IB_DISABLE",
    "NCCL_P2P_DISABLE",
    "NCCL_SOCKET_IFNAME",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "TORCHELASTIC_RESTART_COUNT",
)

_SLURM = {
    "job_id": "SLURM_JOB_ID",
    "step_id": "SLURM_STEP_ID",
    "array_job_id": "SLURM_ARRAY_JOB_ID",
    "array_task_id": "SLURM_ARRAY_TASK_ID",
    "restart_count": "SLURM_RESTART_COUNT",
    "job_name": "SLURM_JOB_NAME",
    "partition": "SLURM_JOB_PARTITION",
    "nodes": "SLURM_JOB_NODELIST",
}


def about_launch(
    environment: Mapping[str, str],
    placement: Placement,
    config: Mapping[str, Any] | None,
    tags: tuple[str, ...],
    with_arguments: bool,
) -> dict[str, Any]:
    """The launch as run.json and attempt.json tell it."""
    now = time.time_ns()
    command = _command()
    facts = {
        "identity": _identity(environment, command),
        "command": command if with_arguments else command[:1],
        "directory": str(_absolute("")),
        "start": datetime.fromtimestamp(now // 10**9, timezone.utc).isoformat(timespec="seconds"),
        "start_ns": now,
        "host": socket.gethostname(),
        "world_size": placement.world_size,
        "versions": _versions(),
        "environment": {name: environment[name] for name in KEPT_VARIABLES if name in environment},
        "config": writable(config or {}),
        "tags": list(tags),
    }
    # By one rank: a thousand at once would keep a shared file system busy.
    if placement.rank == 0 and (git := _git_state(_absolute(command[0]).parent)):
        facts["git"] = git
    if slurm := {key: environment[name] for key, name in _SLURM.items() if name in environment}:
        facts["slurm"] = slurm
    return facts


def _command() -> list[str]:
    """As the user wrote it; a module started with -m by its name."""
    arguments = list(sys.argv) or [""]
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name:
        arguments[0] = f"-m {spec.name.removesuffix('.__main__')}"
    return arguments


def _absolute(path: str) -> Path:
    """As it is where the working folder was deleted: that must not stop a training."""
    try:
        return Path(path).absolute()
    except OSError:
        return Path(path)


def _identity(environment: Mapping[str, str], command: list[str]) -> dict[str, Any]:
    """What a restart shares with the run: the script, and its task of a job array."""
    script = command[0]
    if script and not script.startswith("-"):
        script = str(_absolute(script))
    identity: dict[str, Any] = {"script": script}
    for name in ("SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"):
        if name in environment:
            identity[name.lower()] = environment[name]
    return identity


def _versions() -> dict[str, str]:
    """Of what is loaded; nothing is imported to ask."""
    versions = {"stepscope": __version__, "python": platform.python_version()}
    versions["system"] = f"{platform.system()} {platform.release()} {platform.machine()}"
    for name in ("torch", "numpy", "lightning", "transformers", "triton"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            versions[name] = str(version)
    cuda = getattr(getattr(sys.modules.get("torch"), "version", None), "cuda", None)
    if cuda:
        versions["cuda"] = str(cuda)
    return versions


def _git_state(folder: Path) -> dict[str, Any] | None:
    """Commit, branch and whether files were changed; None outside a repository or without git."""
    quiet = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",  # of a branch, which may be called anything
            timeout=5,
            check=True,
            env=quiet,
        )
        return done.stdout.strip()

    try:
        state: dict[str, Any] = {"commit": git("rev-parse", "HEAD")}
        state["branch"] = git("rev-parse", "--abbrev-ref", "HEAD")
        state["changed"] = bool(git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.SubprocessError):
        return None
    return state
