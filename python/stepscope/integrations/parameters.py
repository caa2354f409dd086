"""What tells one run from another, as trackers show it beside each other: names and short texts."""

from __future__ import annotations

import shlex
from typing import Any

from stepscope.errors import Error
from stepscope.integrations.recorded import RecordedRun
from stepscope.run import open as open_run

_LONGEST = 500  # what trackers of any age take


def parameters_of(run: RecordedRun) -> dict[str, str]:
    """By name; what was not recorded is not there."""
    found: dict[str, Any] = {
        **_launch(run),
        **_loader(run),
        "threads": _threads(run),
        "gpu": _gpu(run),
        "first_finding": _first_finding(run),
    }
    return {name: str(value)[:_LONGEST] for name, value in found.items() if value not in (None, "")}


def _launch(run: RecordedRun) -> dict[str, Any]:
    command = run.about.get("command") or []
    commit = (run.about.get("git") or {}).get("commit")
    if commit and run.about["git"].get("changed"):
        commit += " and changes"
    return {
        "script": command[0] if command else None,
        "arguments": shlex.join(command[1:]),
        "ranks": run.about.get("world_size"),
        "commit": commit,
    }


def _loader(run: RecordedRun) -> dict[str, Any]:
    """Of the loader that gave most batches of the training."""
    rows = [one for one in run.recordings.loader()["loaders"].rows() if one["phase"] == "training"]
    if not rows:
        return {}
    most = max(rows, key=lambda row: row["batches"])
    size = round(most["samples"] / most["batches"], 1) if most["samples"] else None
    return {
        "num_workers": most["workers"],
        "batch_size": int(size) if size is not None and size == int(size) else size,
    }


def _threads(run: RecordedRun) -> Any:
    """Of torch, on the CPU."""
    rows = list(run.events.time(top=1)["times"].rows())
    return next((row["torch_threads"] for row in rows if row["torch_threads"]), None)


def _gpu(run: RecordedRun) -> str | None:
    models: dict[str, int] = {}
    for row in run.recordings.system()["gpus"].rows():
        name = row["model"] or "GPU"
        models[name] = models.get(name, 0) + 1
    return ", ".join(f"{count} x {name}" for name, count in sorted(models.items())) or None


def _first_finding(run: RecordedRun) -> str | None:
    try:
        findings = open_run(run.attempt).findings()
    except Error:  # a trace that cannot be read is no reason to send nothing
        return None
    return findings[0].title if len(findings) else "none"
