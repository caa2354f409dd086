"""The callback for Anemoi's trainer: a recording, the five reports, and MLflow's artifacts.

In the config, under `diagnostics.callbacks`:

    - _target_: stepscope.integrations.anemoi.callback.Callback
      folder: profiler/%j
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepscope.integrations.anemoi.reports import Reports, write_reports
from stepscope.integrations.anemoi.settings import profile_options, settings_of
from stepscope.integrations.harmless import say_lost
from stepscope.integrations.pytorch_lightning import Callback as LightningCallback
from stepscope.integrations.recorded import RecordedRun

_LOGGER = logging.getLogger("stepscope.anemoi")

# Names of tables in MLflow; the first one of Anemoi's is a singular.
TABLE_NAMES = {
    "system": "system_metrics_report",
    "time": "time_metrics_reports",
    "speed": "speed_metrics_reports",
    "memory": "memory_metrics_reports",
}
# Ranks end at different moments; the reports do not wait for longer.
_MOST_WAIT_S = 60.0


class Callback(LightningCallback):
    """Records `trainer.fit` and writes Anemoi's reports at its end.

    Args:
        config: Anemoi's config, which it passes to every callback; the settings are its
            `diagnostics.benchmark_profiler`.
        folder: of the run. `%j` becomes the job.
        out_folder: of the reports; `profiler` within the run's folder when left out.
        settings: in the place of the config's.
        **options: of `stepscope.profile`, in the place of what the settings ask for.
    """

    prints_times = False  # the reports hold them

    def __init__(
        self,
        config: Any = None,
        *,
        folder: str | os.PathLike[str] = "profiler/%j",
        out_folder: str | os.PathLike[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self._settings = settings if settings is not None else settings_in(config)
        self._out_folder = out_folder
        verbose = bool(settings_of(self._settings)["time"]["verbose"])
        super().__init__(folder, verbose=verbose, **{**profile_options(self._settings), **options})
        self.reports: Reports | None = None  # on rank 0, at the end

    def finished(self, trainer: Any, run_folder: Path) -> None:
        """Rank 0 writes for all."""
        if trainer.global_rank != 0:
            return
        run = RecordedRun(run_folder)
        if not run.wait_for_ranks(_MOST_WAIT_S):
            _LOGGER.warning("not all ranks have finished: the reports hold what they wrote so far")
        self.reports = write_reports(run_folder, self._out_folder, self._settings)
        if _LOGGER.isEnabledFor(logging.INFO) and _LOGGER.hasHandlers():
            _LOGGER.info("%s", self.reports.text)
        else:  # a program that has not set up logging is shown them all the same
            print(self.reports.text, flush=True)
        for logger in trainer.loggers:
            if "mlflow" in type(logger).__name__.lower():
                self._send(logger, RecordedRun(run_folder), self.reports)

    def _send(self, logger: Any, run: RecordedRun, reports: Reports) -> None:
        """A server that is away takes nothing from the reports on the disk."""
        try:
            log_to_mlflow(logger.experiment, logger.run_id, run, reports)
        except Exception as error:
            say_lost(
                f"Anemoi's reports are not in MLflow, or not all of them; they are in"
                f" {reports.folder} ({type(error).__name__}: {error})"
            )


def settings_in(config: Any) -> Mapping[str, Any] | None:
    """`diagnostics.benchmark_profiler` of a config of any kind, as plain mappings."""
    part = config
    for name in ("diagnostics", "benchmark_profiler"):
        part = part.get(name) if isinstance(part, Mapping) else getattr(part, name, None)
        if part is None:
            return None
    return {name: _plain(part, name) for name in settings_of(None).parts if _has(part, name)}


def _has(part: Any, name: str) -> bool:
    return name in part if isinstance(part, Mapping) else getattr(part, name, None) is not None


def _plain(part: Any, name: str) -> Any:
    value = part[name] if isinstance(part, Mapping) else getattr(part, name)
    if value is None or isinstance(value, bool):
        return bool(value)
    known = [*settings_of(None)[name], "track_rank0_only"]
    return {
        key: value[key] if isinstance(value, Mapping) else getattr(value, key)
        for key in known
        if _has(value, key)
    }


def log_to_mlflow(client: Any, run_id: str, run: RecordedRun, reports: Reports) -> None:
    """Under Anemoi's names: tables, files, and the system metrics of all nodes."""
    from stepscope.integrations.mlflow import log_files, log_points, log_table, need_server
    from stepscope.integrations.series import system_metrics

    need_server(client, run.folder)
    for what, frame in reports.frames.items():
        log_table(client, run_id, TABLE_NAMES[what], frame.columns_of_values())
    for what in ("time", "speed", "memory", "system", "model", "snapshots", "plots"):
        log_files(client, run_id, reports.files.get(what, []))
    log_points(client, run_id, system_metrics(run))
