"""A run into Weights & Biases: rates, system metrics of all nodes, tables.

from stepscope.integrations.wandb import log_run
log_run("runs/exp1", project="weather", mode="offline")
"""

from __future__ import annotations

import os
from typing import Any

import wandb

from stepscope.integrations.recorded import RecordedRun
from stepscope.integrations.series import rates, system_metrics
from stepscope.integrations.tables import tables_of


def log_run(
    folder: str | os.PathLike[str], run: Any | None = None, *, system: bool = True, **init: Any
) -> str:
    """Sends a recorded run; gives the id of the run in W&B.

    Args:
        folder: of the run; its last attempt counts.
        run: a W&B run that is open; a new one is made and finished when left out.
        system: whether system metrics are sent.
        **init: of `wandb.init` for a new run: `project=`, `mode="offline"`, …
    """
    recorded = RecordedRun(folder)
    target = run if run is not None else wandb.init(name=recorded.name, **init)
    # Series have steps of their own; W&B's one count of steps may only grow.
    target.define_metric("stepscope/*", step_metric="stepscope/step")
    target.define_metric("system_recorded/*", step_metric="stepscope/seconds")
    for point in rates(recorded):
        target.log({f"stepscope/{point.name}": point.value, "stepscope/step": point.step})
    for point in system_metrics(recorded) if system else []:
        name = point.name.replace("system/", "system_recorded/", 1)  # theirs begin with system
        seconds = (point.time_ns - recorded.start_ns) / 1e9
        target.log({name: point.value, "stepscope/seconds": seconds})
    for name, columns in tables_of(recorded).items():
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        target.log({f"stepscope/{name}": wandb.Table(columns=list(columns), data=rows)})
    run_id: str = target.id
    if run is None:
        target.finish()
    return run_id
