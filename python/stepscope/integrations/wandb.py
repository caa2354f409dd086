"""A run into Weights & Biases: rates, system metrics of all nodes, tables.

from stepscope.integrations.wandb import log_run
log_run("runs/exp1", project="weather", mode="offline")
"""

from __future__ import annotations

import os
from typing import Any

from stepscope.integrations.packages import explain_missing
from stepscope.integrations.recorded import RecordedRun
from stepscope.integrations.series import rates, system_metrics
from stepscope.integrations.tables import sent_text, tables_of

try:
    import wandb
except ImportError as error:
    explain_missing(error, "wandb", __name__)


def log_run(
    folder: str | os.PathLike[str],
    run: Any | None = None,
    *,
    system: bool = True,
    quiet: bool = False,
    **init: Any,
) -> str:
    """Sends a recorded run; gives the id of the run in W&B.

    Args:
        folder: of the run; its last attempt counts.
        run: a W&B run that is open; a new one is made and finished when left out.
        system: whether system metrics are sent.
        quiet: whether no line is printed that says what was sent where.
        **init: of `wandb.init` for a new run: `project=`, `mode="offline"`, …
    """
    recorded = RecordedRun(folder)
    target = run if run is not None else wandb.init(name=recorded.name, **init)
    # Series have steps of their own; W&B's one count of steps may only grow.
    target.define_metric("stepscope/*", step_metric="stepscope/step")
    target.define_metric("system_recorded/*", step_metric="stepscope/seconds")
    measured, sampled = rates(recorded), system_metrics(recorded) if system else []
    for point in measured:
        target.log({f"stepscope/{point.name}": point.value, "stepscope/step": point.step})
    for point in sampled:
        name = point.name.replace("system/", "system_recorded/", 1)  # theirs begin with system
        seconds = (point.time_ns - recorded.start_ns) / 1e9
        target.log({name: point.value, "stepscope/seconds": seconds})
    tables = tables_of(recorded)
    for name, columns in tables.items():
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        target.log({f"stepscope/{name}": wandb.Table(columns=list(columns), data=rows)})
    run_id: str = target.id
    where = target.url or target.dir
    if run is None:
        target.finish(exit_code=1 if any(recorded.ends) else 0)
    if not quiet:
        what = sent_text(len(measured) + len(sampled), len(tables))
        print(f"{folder}: {what} to W&B's run {run_id} ({where})")
    return run_id
