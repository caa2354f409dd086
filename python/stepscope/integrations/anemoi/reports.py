"""Anemoi's reports, written from the folder of a run: Time, Speed, Memory, System, Model."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from stepscope.integrations.actions import read_actions, time_report
from stepscope.integrations.anemoi.memory_report import memory_frame
from stepscope.integrations.anemoi.model_report import model_text
from stepscope.integrations.anemoi.settings import AnemoiSettings, settings_of
from stepscope.integrations.anemoi.speed_report import speed_frame
from stepscope.integrations.anemoi.system_report import system_frame
from stepscope.integrations.anemoi.time_report import is_kept, time_frame
from stepscope.integrations.frame import Frame
from stepscope.integrations.recorded import RecordedRun
from stepscope.run import Run
from stepscope.run import open as open_run


@dataclass
class Reports:
    """What was written, and what was not.

    Attributes:
        folder: where they are.
        files: by report: "time", "speed", "memory", "system", "model", "traces", "snapshots", …
        frames: the tables, by report.
        text: all of it for a terminal, in Anemoi's order.
        remarks: sentences about what could not be found out.
    """

    folder: Path
    files: dict[str, list[Path]] = field(default_factory=dict)
    frames: dict[str, Frame] = field(default_factory=dict)
    text: str = ""
    remarks: list[str] = field(default_factory=list)


def write_reports(
    run_folder: str | os.PathLike[str],
    out_folder: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Reports:
    """Writes the reports that the settings ask for.

    Args:
        run_folder: of a run; all ranks of its last attempt count.
        out_folder: where they go; `profiler` within the run's folder when left out.
        settings: the mapping `benchmark_profiler` of an Anemoi config; the defaults of its
            `detailed` for what is left out.

    Raises:
        NotFoundError: there is no run in that folder.
    """
    wanted = settings_of(settings)
    run = RecordedRun(run_folder)
    out = Path(out_folder) if out_folder is not None else run.folder / "profiler"
    out.mkdir(parents=True, exist_ok=True)
    return _Writing(run, out, wanted).write()


class _Writing:
    """One call of `write_reports`."""

    def __init__(self, run: RecordedRun, out: Path, wanted: AnemoiSettings) -> None:
        self._run, self._out, self._wanted = run, out, wanted
        self._done = Reports(out)
        self._shown: list[str] = []
        self._traces: Run | None = None

    def write(self) -> Reports:
        """Each report by itself: one that fails leaves the others alone."""
        wanted = self._wanted
        if wanted.wants("memory") and self._run.traces:
            self._tried("Memory", self._open_traces)
        parts: list[tuple[str, str, Callable[[], None]]] = [
            ("time", "Time", self._time),
            ("speed", "Speed", self._speed),
            ("memory", "Memory", self._memory),
            ("system", "System", self._system),
            ("model_summary", "Model", self._model),
            ("snapshot", "Snapshot", self._snapshots),
        ]
        for key, title, act in parts:
            if wanted.wants(key):
                self._tried(title, act)
        self._done.text = "\n\n".join([_header(self._run), *self._shown, *self._done.remarks])
        return self._done

    def _tried(self, title: str, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:
            self._done.remarks.append(
                f"{title}: the report could not be made ({type(error).__name__}: {error})."
            )

    def _open_traces(self) -> None:
        self._traces = open_run(self._run.traces)

    def _save(self, what: str, title: str, frame: Frame, shown: str | None = None) -> None:
        file = self._out / f"{what}_profiler.csv"
        file.write_text(frame.csv(), encoding="utf-8")
        self._done.files[what] = [file]
        self._done.frames[what] = frame
        self._shown.append(f"{title} report\n{shown or frame.text()}")

    def _time(self) -> None:
        verbose = bool(self._wanted["time"]["verbose"])
        ranks = read_actions(self._run)
        if not ranks:
            self._done.remarks.append("Time: no action and no range was recorded.")
        self._save("time", "Time", time_frame(ranks, verbose), time_report(ranks, verbose, is_kept))

    def _speed(self) -> None:
        frame = speed_frame(self._run.with_traces, self._traces, self._done.remarks)
        self._save("speed", "Speed", frame)

    def _memory(self) -> None:
        if self._traces is None:
            self._done.remarks.append("Memory: there is no trace in this run, so no operators.")
            return
        self._save("memory", "Memory", memory_frame(self._traces))
        self._done.files["traces"] = [self._named_trace(trace) for trace in self._run.traces]
        if self._wanted["memory"]["extra_plots"]:
            self._plots()

    def _named_trace(self, trace: Path) -> Path:
        """Under the name that Anemoi gives a trace, with the rank where it says None."""
        place = self._run.ranks.index(trace.parent)
        facts = self._run.facts[place]
        host, pid = facts.get("host", "host"), facts.get("pid", 0)
        ending = ".pt.trace.json.gz" if trace.name.endswith(".gz") else ".pt.trace.json"
        rank = trace.parent.name
        return _linked(trace, self._out / f"{host}_{pid}.{rank}.{trace.stat().st_mtime_ns}{ending}")

    def _plots(self) -> None:
        from stepscope.run import open_memory

        page = self._out / "memory_trace.html"
        if self._run.snapshots:
            open_memory(self._run.snapshots[0]).to_html(page)
        else:
            self._done.remarks.append(
                "Memory: there is no snapshot in this run, so memory_trace.html is the report of "
                "its first trace."
            )
            open_run(self._run.traces[0]).to_html(page)
        self._done.files["plots"] = [page]

    def _system(self) -> None:
        self._save("system", "System", system_frame(self._run, self._done.remarks))

    def _model(self) -> None:
        text = model_text(self._run.recordings, self._done.remarks)
        if text is not None:
            file = self._out / "model_summary.txt"
            file.write_text(text, encoding="utf-8")
            self._done.files["model"] = [file]
            self._shown.append(f"Model report\n{text}")

    def _snapshots(self) -> None:
        """Of all ranks; that of the lowest has Anemoi's name."""
        files = []
        for number, snapshot in enumerate(self._run.snapshots):
            more = f".{snapshot.parent.name}.{snapshot.stem}" if number else ""
            files.append(_linked(snapshot, self._out / f"memory_snapshot{more}.pickle"))
        self._done.files["snapshots"] = files
        if not files:
            self._done.remarks.append(
                "Snapshot: none was written; only GPUs with CUDA or ROCm have one."
            )


def _linked(file: Path, name: Path) -> Path:
    """The same file under another name, without taking its place on the disk again."""
    name.unlink(missing_ok=True)
    try:
        os.link(file, name)
    except OSError:  # another file system
        shutil.copyfile(file, name)
    return name


def _header(run: RecordedRun) -> str:
    slurm = run.about.get("slurm") or {}
    nodes = sorted({str(one["host"]) for one in run.facts if "host" in one})
    job = f", job {slurm['job_id']}" if isinstance(slurm, dict) and slurm.get("job_id") else ""
    now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    ranks = f"{len(run.ranks)} rank{'' if len(run.ranks) == 1 else 's'}"
    return f"Reports of {run.folder}: {ranks} on {', '.join(nodes)}{job}; {now} UTC"
