"""Settings of loaders that recorded runs had, as a sweep would have measured them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import stepscope
from stepscope.errors import UsageError
from stepscope.sweep.schedule import Scene, Swept
from stepscope.sweep.scores import Block, Trial, Tried, Trouble


def sweep_runs(paths: Sequence[str], jobs: int, max_memory: int) -> Swept:
    """A row for each run.

    Raises:
        UsageError: they are of different programs.
        Error: one cannot be read.
    """
    scripts = {path: script for path in paths if (script := _script_of(path))}
    lines = [f"{path}: {script}" for path, script in scripts.items()]
    # Those of one name in several folders may be copies of one, as jobs make them; under another
    # name it is another training.
    if len({Path(script).name for script in scripts.values()}) > 1:
        raise UsageError(
            "these runs are of different programs, whose loaders cannot be compared; give the runs "
            "of one:\n" + "\n".join(lines)
        )
    tried = [finished_run(path, jobs, max_memory) for path in paths]
    sentences = []
    if any(not one.actual and one.is_measured for one in tried):
        sentences.append(
            "Some of these runs do not say how their loader was set: they were recorded by an "
            "older stepscope, or the loader is not torch's."
        )
    if len(set(scripts.values())) > 1:
        sentences.append(
            f"The script of these runs lies in {len(set(scripts.values()))} folders: whether it is "
            f"the same one is not known ({'; '.join(lines)})."
        )
    sentences.append(
        "Jobs differ in more than their loaders: another node, other data, a busier file system. A "
        "sweep on one node (stepscope sweep dataloader TARGET) compares like with like."
    )
    return Swept(tried, Scene(sentences=sentences), [("Runs", str(len(paths)))])


def finished_run(path: str, jobs: int, max_memory: int) -> Tried:
    """Of the rank that waited longest, and of the loader that its training took most batches from.

    A run that watched no loader has a sentence for it instead of times.
    """
    run = stepscope.open(path, jobs=jobs, max_memory=max_memory)
    found = json.loads(run._core.loader_trial())
    out = Tried(job=_job_of(path))
    if found["blocks"]:
        out.actual = found["settings"]
        blocks, firsts = ([Block(*one) for one in found[key]] for key in ("blocks", "firsts"))
        out.trials = [Trial(blocks, firsts, found["length"], trains=True)]
    else:
        out.trouble, out.why = Trouble.FAILED, "no loader was watched in it"
    # Of its ranks, the one with the fewest processors, and the one with most memory.
    ranks = list(run.ask("system").tables["processes"].rows())
    cpus, peaks = ([v for row in ranks if (v := row[name]) is not None] for name in _OF_MACHINE)
    out.job_cpus, out.peak_bytes = min(cpus, default=None), max(peaks, default=None)
    return out


_OF_MACHINE = ("usable_cores", "pss_max_bytes")


def _facts_of(path: str) -> dict[str, Any]:
    """`run.json`, which the folder of a run holds."""
    with suppress(OSError, ValueError):
        facts = json.loads((Path(path) / "run.json").read_text(encoding="utf-8"))
        if isinstance(facts, dict):
            return facts
    return {}


def _job_of(path: str) -> str:
    """The scheduler's, else the name of the folder."""
    slurm = _facts_of(path).get("slurm")
    job = slurm.get("job_id") if isinstance(slurm, dict) else None
    return job if isinstance(job, str) else Path(path).name


def _script_of(path: str) -> str:
    identity = _facts_of(path).get("identity")
    script = identity.get("script") if isinstance(identity, dict) else None
    return script if isinstance(script, str) else ""
