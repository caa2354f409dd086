"""Opening a recording, and the run one gets."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any

from stepscope import _core
from stepscope.analyses import Analyses, Numbers, numbers
from stepscope.errors import UsageError
from stepscope.plot import Plots

PathLike = str | os.PathLike[str]


class Run(Analyses):
    """A recording: ranks, steps, devices, and one method per analysis.

    Made by `open`. The events stay in the core, packed; what Python holds is small.
    """

    def __init__(self, core: _core.Recording, paths: Sequence[str]) -> None:
        self._core = core
        self.paths = tuple(paths)
        self._info: dict[str, Any] | None = None

    @property
    def info(self) -> dict[str, Any]:
        """All that `stepscope info --json` says (schema stepscope.info/1)."""
        if self._info is None:
            self._info = json.loads(self._core.info_json())
        return self._info

    @property
    def ranks(self) -> list[int]:
        """The ranks that were read."""
        return sorted({window["rank"] for window in self.info["windows"]})

    @property
    def devices(self) -> list[dict[str, Any]]:
        """Kinds of devices, with memory and compute capability."""
        devices: list[dict[str, Any]] = self.info["devices"]
        return devices

    @property
    def step_numbers(self) -> list[int]:
        """The numbers of the steps, for the `steps=` of every analysis."""
        return sorted(set(self.ask("steps").tables["steps"]["step"].tolist()))

    @property
    def notes(self) -> list[dict[str, Any]]:
        """What was odd in the files, counted."""
        notes: list[dict[str, Any]] = self.info["notes"]
        return notes

    def report(
        self, *, ranks: Numbers = None, steps: Numbers = None, file: IO[str] | None = None
    ) -> None:
        """Prints the report that `stepscope report` prints."""
        import shutil

        out = file if file is not None else sys.stdout
        terminal = out.isatty()
        width = shutil.get_terminal_size().columns if terminal else 100
        colour = terminal and "NO_COLOR" not in os.environ
        chosen = numbers(ranks, "ranks"), numbers(steps, "steps")
        out.write(self._core.report_text(*chosen, width, colour))

    def to_html(
        self, path: PathLike | None = None, *, ranks: Numbers = None, steps: Numbers = None
    ) -> str:
        """The report as one HTML page that needs no network; also written to `path` if given."""
        page = self._core.report_html(numbers(ranks, "ranks"), numbers(steps, "steps"))
        if path is not None:
            from pathlib import Path

            Path(path).write_text(page, encoding="utf-8")
        return page

    @property
    def plot(self) -> Plots:
        """Interactive charts (needs plotly): ``run.plot.idle_time()``."""
        return Plots(self)

    def __repr__(self) -> str:
        run = self.info["run"]
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        steps = self.info["steps"]["count"]
        return (
            f"<stepscope.Run {self.paths[0]}{more}: {run['ranks']} rank(s), {steps} step(s), "
            f"{run['events']:,} events>"
        )


def _paths(path: PathLike | Iterable[PathLike]) -> list[str]:
    try:
        given = [path] if isinstance(path, str | os.PathLike) else list(path)
    except TypeError:
        raise UsageError(f"paths are strings or Path objects, not {path!r}") from None
    if not given:
        raise UsageError("no path given: a trace file, a folder of them, or several")
    try:
        return [os.fspath(one) for one in given]
    except TypeError:
        raise UsageError(f"paths are strings or Path objects, not {given!r}") from None


def open(  # noqa: A001  (stepscope.open reads as the built-in does)
    path: PathLike | Iterable[PathLike],
    *,
    jobs: int | None = None,
    max_memory: int | None = None,
    steps: str = "",
    progress: Callable[[int, int], object] | None = None,
) -> Run:
    """Opens traces: a file, a folder of ranks, or several of them.

    Args:
        path: files and folders; plain, gzip or zstd.
        jobs: threads to read with; what this process may use when left out.
        max_memory: bytes; reading fails with `LimitError` before it takes more.
        steps: a regular expression for the names of annotations that are steps.
        progress: called as progress(bytes_done, bytes_total) while reading.

    Example:
        >>> run = open("examples/data/gpt_bf16.json.gz")
        >>> run.ranks
        [0]
    """
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs is the number of threads, 1 or more, not {jobs}")
    paths = _paths(path)
    return Run(_core.open(paths, jobs or 0, max_memory or 0, steps, progress), paths)


def open_memory(
    path: PathLike | Iterable[PathLike], *, jobs: int | None = None, max_memory: int | None = None
) -> Run:
    """Opens memory snapshots; several are compared by `memory_diff()`.

    The same as `open`, which reads them too: a trace and a snapshot of one process may be opened
    together.
    """
    return open(path, jobs=jobs, max_memory=max_memory)
