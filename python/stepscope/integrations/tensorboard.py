"""A run into TensorBoard: its rates and system metrics as scalars.

from stepscope.integrations.tensorboard import log_run
log_run("runs/exp1", "lightning_logs/version_0")
"""

from __future__ import annotations

import os
from typing import Any

from stepscope.integrations.packages import explain_missing
from stepscope.integrations.recorded import RecordedRun
from stepscope.integrations.series import rates, system_metrics
from stepscope.integrations.tables import sent_text


def log_run(
    folder: str | os.PathLike[str],
    log_dir: str | os.PathLike[str],
    *,
    system: bool = True,
    quiet: bool = False,
) -> int:
    """Writes an event file; gives the number of values in it.

    Args:
        folder: of the run; its last attempt counts.
        log_dir: where TensorBoard looks.
        system: whether system metrics are written.
        quiet: whether no line is printed that says what was written where.
    """
    run = RecordedRun(folder)
    points = rates(run) + (system_metrics(run) if system else [])
    writer = _writer(os.fspath(log_dir))
    try:
        for point in points:
            name = point.name if "/" in point.name else f"stepscope/{point.name}"
            writer.add_scalar(name, point.value, point.step, walltime=point.time_ns / 1e9)
    finally:
        writer.close()
    if not quiet:
        print(f"{folder}: {sent_text(len(points))} to {os.fspath(log_dir)}")
    return len(points)


def _writer(log_dir: str) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        try:
            from tensorboardX import SummaryWriter  # as Lightning does
        except ImportError as error:
            explain_missing(error, "tensorboardX", __name__, "tensorboard, or tensorboardX")
    return SummaryWriter(log_dir)
