"""Opening a recording, and the run one gets."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence

from stepscope import _core
from stepscope.analyses import Analyses, Numbers, numbers
from stepscope.arguments import is_utf8, optional_path, path_text, whole_number
from stepscope.errors import NotFoundError, UsageError

TYPE_CHECKING = False  # as in analyses.py
if TYPE_CHECKING:
    from typing import IO, Any

    from stepscope.advice import Findings
    from stepscope.plot import Plots
    from stepscope.table import Diff

PathLike = str | os.PathLike[str]


class Run(Analyses):
    """A recording: ranks, steps, devices, and one method per analysis.

    Made by `open`. The events stay in the core, packed; what Python holds is small.
    """

    def __init__(self, core: _core.Recording, paths: Sequence[str], memory: bool = False) -> None:
        self._core = core
        self._memory = memory  # the report is about memory even where there are traces
        self.paths = tuple(paths)
        self._also_read: list[str] = []  # beside recordings
        self._info: dict[str, Any] | None = None

    @property
    def info(self) -> dict[str, Any]:
        """All that `stepscope info --json` says (schema stepscope.info/1)."""
        if self._info is None:
            import json

            self._info = json.loads(self._core.info_json())
        return self._info

    @property
    def ranks(self) -> list[int]:
        """The ranks that were read."""
        files = self.info["windows"] + self.info.get("recordings", [])
        return sorted({file["rank"] for file in files})

    @property
    def devices(self) -> list[dict[str, Any]]:
        """Kinds of devices, with memory and compute capability."""
        devices: list[dict[str, Any]] = self.info["devices"]
        return devices

    @property
    def step_numbers(self) -> list[int]:
        """The numbers of the steps, for the `steps=` of every analysis."""
        found = set(self.ask("steps").tables["steps"]["step"].tolist())
        if self.info.get("recordings"):  # also those that were not traced
            found |= set(self.ask("time").tables["steps"]["step"].tolist())
        return sorted(found)

    @property
    def notes(self) -> list[dict[str, Any]]:
        """What was odd in the files, counted."""
        notes: list[dict[str, Any]] = self.info["notes"]
        return notes

    def report(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        device_memory: int | str | None = None,
        batch_size: int | None = None,
        file: IO[str] | None = None,
    ) -> None:
        """Prints the page to read first, as `stepscope report` and `stepscope memory` do.

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            device_memory: of snapshots: bytes of the device, or text such as "80GiB".
            batch_size: of snapshots: samples per batch, to tell the bytes of one.
            file: where to write; standard output when left out.

        Example:
            >>> run = open("examples/data/gpt_bf16.json.gz")
            >>> run.report(steps=[3])  # doctest: +ELLIPSIS
            examples/data/gpt_bf16.json.gz
            ...
        """
        import shutil

        out = file if file is not None else sys.stdout
        terminal = out.isatty()
        width = shutil.get_terminal_size().columns if terminal else 100
        colour = terminal and "NO_COLOR" not in os.environ
        choice = self._choice(ranks, steps, device_memory, batch_size)
        out.write(self._core.report_text(choice, width, colour))

    def to_html(
        self,
        path: PathLike | None = None,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        device_memory: int | str | None = None,
        batch_size: int | None = None,
    ) -> str:
        """The report as one HTML page that needs no network; also written to `path` if given.

        Example:
            >>> page = open("examples/data/gpt_bf16.json.gz").to_html()
            >>> "Where the step time goes" in page
            True
        """
        if path is not None:
            from stepscope.read_files import refuse_to_overwrite

            refuse_to_overwrite(path, [*self.paths, *self._also_read], self.info)
        choice = self._choice(ranks, steps, device_memory, batch_size)
        page = self._core.report_html(choice)
        if path is not None:
            from pathlib import Path

            Path(path).write_text(page, encoding="utf-8")
        return page

    def findings(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        device_memory: int | str | None = None,
        thresholds: PathLike | None = None,
    ) -> Findings:
        """What is wrong, what to change and what it would bring, as `stepscope advise` says it.

        Args:
            ranks: these ranks only; all when left out.
            steps: these steps only, by number.
            device_memory: of snapshots: bytes of the device, or text such as "80GiB".
            thresholds: a YAML file with thresholds of rules.

        Example:
            >>> first = open("examples/data/gpt_stack.json.gz").findings()[0]
            >>> first.rule, first.level
            ('precision', 'critical')
            >>> first.changes[0].code
            'torch.set_float32_matmul_precision("high")'
        """
        from stepscope.advice import Findings

        choice = self._choice(ranks, steps, device_memory, None)
        own = optional_path("thresholds", thresholds)
        return Findings(self._core.advise(choice, own))

    def diff(
        self,
        other: Run,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        other_ranks: Numbers = None,
        other_steps: Numbers = None,
    ) -> Diff:
        """What changed from this run to another, as `stepscope diff` says it.

        Args:
            other: the later run; this one again to compare two of its ranks or steps.
            ranks: these ranks of this run only. Of several the slowest is compared.
            steps: these steps of this run only, by number; all but the warm-up when left out.
            other_ranks: the same for the other run.
            other_steps: the same for the other run.

        Example:
            >>> run = open("examples/data/ddp")
            >>> run.diff(run, ranks=0, other_ranks=1)["parts"]["part"].tolist()[0]
            'kernel'
        """
        from stepscope.table import Diff

        if not isinstance(other, Run):
            raise UsageError(f"diff takes another run, as stepscope.open gives it, not {other!r}")
        return Diff(
            self._core.diff(
                other._core,
                numbers(ranks, "ranks"),
                numbers(steps, "steps"),
                numbers(other_ranks, "other_ranks"),
                numbers(other_steps, "other_steps"),
            )
        )

    def _choice(
        self, ranks: Numbers, steps: Numbers, device_memory: int | str | None, batch: int | None
    ) -> _core.PageChoice:
        snapshots, traces = self.info.get("snapshots"), self.info["windows"]
        if not _memory_files(self) and (self._memory or not traces):
            raise NotFoundError("there is nothing to report: no trace and no memory snapshot")
        memory = self._memory or not traces
        settings = {"device-memory": device_memory, "batch-size": batch}
        given = {name: str(value) for name, value in settings.items() if value is not None}
        if given and not snapshots:
            raise UsageError(
                "device_memory and batch_size are of memory snapshots, and there is none here"
            )
        return _core.PageChoice(numbers(ranks, "ranks"), numbers(steps, "steps"), memory, given)

    @property
    def plot(self) -> Plots:
        """Interactive charts (needs plotly): ``run.plot.idle_time()``."""
        from stepscope.plot import Plots

        return Plots(self)

    def __repr__(self) -> str:
        run = self.info["run"]
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        holds = []
        if run["ranks"]:
            holds.append(_counted(run["ranks"], "rank"))
            holds.append(_counted(self.info["steps"]["count"], "step"))
            holds.append(_counted(run["events"], "event"))
        if snapshots := self.info.get("snapshots"):
            events = sum(d["events"] for s in snapshots for d in s["devices"])
            holds.append(_counted(len(snapshots), "memory snapshot"))
            holds.append(_counted(events, "memory event"))
        for kind, name in (
            ("memory_timelines", "memory timeline"),
            ("memory_stats", "memory_stats file"),
        ):
            if files := self.info.get(kind):
                holds.append(_counted(len(files), name))
        return f"<stepscope.Run {self.paths[0]}{more}: {', '.join(holds)}>"


def _memory_files(run: Run) -> int:
    kinds = ("snapshots", "memory_timelines", "memory_stats")
    return sum(len(run.info.get(kind, ())) for kind in kinds)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _paths(path: PathLike | Iterable[PathLike]) -> list[str]:
    try:
        given = [path] if isinstance(path, str | bytes | os.PathLike) else list(path)
    except TypeError:
        raise UsageError(f"paths are strings or Path objects, not {path!r}") from None
    if not given:
        raise UsageError("no path given: a trace file, a folder of them, or several")
    return [path_text("a path to open", one) for one in given]


def open(  # noqa: A001  (stepscope.open reads as the built-in does)
    path: PathLike | Iterable[PathLike],
    *,
    jobs: int | None = None,
    max_memory: float | None = None,
    steps: str = "",
    peaks: PathLike | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Run:
    """Opens traces: a file, a folder of ranks, or several of them.

    Args:
        path: files and folders; plain, gzip or zstd.
        jobs: threads to read with; what this process may use when left out.
        max_memory: bytes; reading fails with `LimitError` before it takes more.
        steps: a regular expression for the names of annotations that are steps.
        peaks: a YAML file that says what your devices can do at best, for roofline and MFU.
        progress: called as progress(bytes_done, bytes_total) while reading.

    Example:
        >>> run = open("examples/data/gpt_bf16.json.gz")
        >>> run
        <stepscope.Run examples/data/gpt_bf16.json.gz: 1 rank, 3 steps, 20,146 events>
        >>> run.ranks
        [0]
    """
    run = Run(*_opened(path, jobs, max_memory, steps, peaks, progress))
    if peaks is not None:
        run._also_read.append(os.fspath(peaks))
    return run


def open_memory(
    path: PathLike | Iterable[PathLike],
    *,
    jobs: int | None = None,
    max_memory: float | None = None,
    steps: str = "",
    progress: Callable[[int, int], object] | None = None,
) -> Run:
    """Opens memory snapshots; several are compared by `memory_diff()`.

    As `open`, but the report is the one about memory. A trace of the same process may be opened
    with them: it tells the steps.

    Example:
        >>> memory = open_memory("examples/data/snap_gpt_leak.pickle.gz")
        >>> leak = next(memory.memory_leaks()["leaks"].rows())
        >>> leak["confidence"]
        'high'
    """
    run = Run(*_opened(path, jobs, max_memory, steps, None, progress), memory=True)
    if not _memory_files(run):
        raise NotFoundError(
            "there is no memory snapshot among these files; "
            "torch.cuda.memory._dump_snapshot writes one"
        )
    return run


def _opened(
    path: PathLike | Iterable[PathLike],
    jobs: int | None,
    max_memory: float | None,
    steps: str,
    peaks: PathLike | None,
    progress: Callable[[int, int], object] | None,
) -> tuple[_core.Recording, list[str]]:
    threads = _amount("jobs is the number of threads", jobs, _MOST_JOBS)
    most_bytes = _amount("max_memory is a number of bytes", max_memory, _MOST_BYTES)
    if not isinstance(steps, str) or not is_utf8(steps):
        raise UsageError(
            f"steps is a regular expression for names of annotations, as text, not {steps!r}; "
            "leave it out for the steps of the profiler"
        )
    if progress is not None and not callable(progress):
        raise UsageError(f"progress is called with bytes done and in all; it is {progress!r}")
    paths = _paths(path)
    own = optional_path("peaks", peaks)
    return _core.open(paths, threads, most_bytes, steps, own, progress), paths


_MOST_JOBS = 4096  # as on the command line
_MOST_BYTES = 2**63 - 1


def _amount(what: str, value: float | None, most: int) -> int:
    """1 or more; 0 where it is left out, and the core chooses."""
    if value is None:
        return 0
    number = whole_number(value)
    if number is None or not 1 <= number <= most:
        raise UsageError(f"{what}, 1 or more and up to {most}, not {value!r}")
    return number
