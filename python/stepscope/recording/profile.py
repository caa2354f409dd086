"""`stepscope.profile`: a run is recorded between its beginning and its end.

Ranges, steps, counters and log lines always; windows (a trace, the allocator's history) for the
steps a schedule chooses. One at a time per process; in a forked child nothing of it is left but the
ranges.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any, TypeVar

from stepscope import _capture
from stepscope.errors import UsageError
from stepscope.recording import children
from stepscope.recording import settings as checked
from stepscope.recording.collector import CollectorWatch
from stepscope.recording.config_file import takes_a_file
from stepscope.recording.handing_on import hand_ranges_on, stop_handing_on
from stepscope.recording.leaving import Leaving, status_of
from stepscope.recording.lines_report import lines_so_far, write_measured_lines
from stepscope.recording.loading.samples import Samples
from stepscope.recording.loading.step_batches import StepBatches
from stepscope.recording.loading.watching import LoaderList, WatchRequest, as_the_file_says
from stepscope.recording.logs import listen_to_logs
from stepscope.recording.memory_figures import count_memory, write_memory
from stepscope.recording.model_summary import summary_of
from stepscope.recording.notices import Notices, shown, warn_in_python
from stepscope.recording.oom import OomWatch, watch_for_oom
from stepscope.recording.run_folder import RankFolder
from stepscope.recording.schedule import Position, Schedule
from stepscope.recording.settings import Settings, Trace
from stepscope.recording.shortfalls import (
    warn_of_a_short_epoch,
    warn_of_another_rank,
    warn_of_little_disk,
    warn_of_other_profilers,
    warn_of_too_few_steps,
    warn_of_unknown_transforms,
)
from stepscope.recording.snapshot_options import SnapshotOptions, window_snapshot
from stepscope.recording.starting import begin, note_own_run, rank_facts
from stepscope.recording.system import samples_a_second, start_system, stop_system
from stepscope.recording.window_list import WindowList

Loader = TypeVar("Loader", bound=Iterable[Any])


class profile:  # noqa: N801  (read as a word: with stepscope.profile("runs/a") as prof)
    """Records this process into a run's folder; a context manager, or `start()` and `stop()`.

    Args:
        folder: of the run, shared by all ranks. `%j` becomes the job, `%h` the host, `%r` the rank.
            Started again in the same folder, a run gets its next attempt.
        schedule: which steps windows cover: `stepscope.schedule(…)`. When left out, three steps
            after ten others and one of warm-up.
        epochs: only in these epochs; short for `schedule(epochs=…)`.
        trace: whether torch.profiler runs in the window, or what it keeps: `["shapes", "memory",
            "stacks", "flops", "modules", "cpu", "cuda"]`. When left out, where torch is imported.
        snapshot: whether the history of the GPU's allocator is kept in the window and written as a
            snapshot; or a schedule of its own, or `stepscope.snapshot(…)`. When left out, a
            snapshot is written when memory runs out; False: not even then.
        ranges: whether ranges, steps, counters and log lines are recorded.
        logs: whether lines of `logging` are recorded; or the least level: `logging.INFO`, "info".
        system: whether the machine is measured (processors, memory, GPUs, energy), ten times a
            second; or how often. One process of each node does it.
        rank0_only: windows on rank 0 alone; ranges and logs on all.
        max_bytes: a window ends early when the process has grown by more than this meanwhile.
        max_seconds: a window ends early when it has been open for longer.
        config: a file of settings (`stepscope config` prints one): what is not given here is as the
            file says. Or a dictionary with settings of the training, kept in run.json.
        tags: words to find the run by; a text is one.
        run_id: what restarts share; made from the script when left out.
        first_step: the number of the first step, after a restart from a checkpoint.
        first_epoch: the same for epochs.
        arguments: whether the command's arguments are kept in run.json.

    Example:
        >>> import tempfile, stepscope
        >>> with stepscope.profile(tempfile.mkdtemp(), trace=False) as prof:
        ...     for batch in prof.watch(range(3)):
        ...         with stepscope.range("forward"):
        ...             pass
        ...         prof.step()
        >>> prof.steps
        3
    """

    @takes_a_file
    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        schedule: Schedule | None = None,
        epochs: int | Collection[int] | None = None,
        trace: Trace = None,
        snapshot: bool | Schedule | SnapshotOptions | None = None,
        ranges: bool = True,
        logs: bool | int | str = True,
        system: bool | float = True,
        rank0_only: bool = False,
        max_bytes: float = 1 << 30,
        max_seconds: float = 600,
        config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        tags: str | Collection[str] = (),
        run_id: str | None = None,
        first_step: int = 0,
        first_epoch: int = 0,
        arguments: bool = True,
    ) -> None:
        self._settings = Settings(
            folder=checked.folder_name(folder),
            schedule=checked.window_schedule(schedule, epochs),
            trace=checked.window_trace(trace),
            trace_wanted=bool(trace) or schedule is not None or epochs is not None,
            snapshot=window_snapshot(snapshot),
            ranges=checked.yes_or_no("ranges", ranges),
            log_level=checked.log_level(logs),
            system_hz=samples_a_second(system),
            rank0_only=checked.yes_or_no("rank0_only", rank0_only),
            max_bytes=checked.positive("max_bytes", max_bytes),
            max_seconds=checked.positive("max_seconds", max_seconds),
            config=checked.settings_of_training(config),
            tags=checked.words("tags", tags),
            run_id=checked.optional_text("run_id", run_id),
            first_step=checked.counted_from("first_step", first_step),
            first_epoch=checked.counted_from("first_epoch", first_epoch),
            arguments=checked.yes_or_no("arguments", arguments),
        )
        self.steps = 0  # that ended
        self.epochs = 0  # that ended
        self._batches = StepBatches()  # of the epoch
        self.rank: RankFolder  # known from start() on
        self._is_running = False
        self._windows: WindowList  # likewise
        self._oom: OomWatch | None = None
        # Set by `stepscope run`, whose program may record itself and must not be written into.
        self.gives_way = False
        self.tell: Callable[[str], None] | None = None
        self.stage: Mapping[str, str] | None = None
        self.plan: dict[str, Any] = {}  # the settings file's
        self.recorded_by = (
            "profile"  # what began it: advice says how to record again in the same way
        )

    @property
    def _number(self) -> int:
        """Of the step that is under way."""
        return self._settings.first_step + self.steps

    # Beginning and end.

    def start(self) -> profile:
        """Begins; where that cannot be, an error says why and the process is as before."""
        if _current is not None and _current.gives_way:
            _current.stop()
        if _current is not None:
            raise UsageError(
                f"this process is being recorded already, into {_current.rank.path}; "
                "stop() that profile first"
            )
        self.rank = begin(self._settings, self.stage, self.recorded_by)
        with ExitStack() as undo:
            undo.callback(self._let_go)
            self._set_up(undo)
            undo.pop_all()
        return self

    def _set_up(self, undo: ExitStack) -> None:
        """All that listens, each with what takes it away again if a later one fails."""
        global _current
        self._notices = Notices(self.rank, rank_facts(self.rank), self.tell)
        self._is_running, _current = True, self
        start_system(self._settings.system_hz, self.rank, self._notices)
        self._logs = listen_to_logs(self._settings)
        if self._logs is not None:
            undo.callback(self._logs.stop)
        self._collector = CollectorWatch() if self._settings.ranges else None
        if self._collector is not None:
            undo.callback(self._collector.stop)
        self._lines_before = lines_so_far()
        self._leaving = Leaving(self._finish, self._save, self._failed)
        undo.callback(self._leaving.forget)
        self._leaving.watch()
        self._windows = WindowList(self._settings, self.rank, self._notices)
        undo.callback(lambda: self._windows.end_run("exception", self._number))
        self.loaders = LoaderList(self.rank, lambda: self._is_running, self._batches.came)
        self._oom = watch_for_oom(self._settings, self.rank, self._notices, lambda: self._number)
        if self._oom is not None:
            undo.callback(self._oom.forget)
        warn_of_little_disk(self.rank, self._notices)
        warn_of_other_profilers(self._windows, self._notices)
        count_memory()
        hand_ranges_on(to_torch=False)
        if not self.gives_way:  # `stepscope run`, where it is there, learns whose run to show
            note_own_run(self.rank)
        self._advance(None)
        _capture.begin_step(self._number)

    def _let_go(self) -> None:
        """Of the process, after a start that failed: another recording may begin."""
        global _current
        self._is_running, _current = False, None
        children.withdraw()
        stop_handing_on()
        _capture.stop_system()
        _capture.stop()

    def add_early_lines(self, lines: Iterable[tuple[int, int, str, str]]) -> None:
        """Lines that were logged before: when, at which level, by whom, what."""
        if self._logs is not None:
            self._logs.add_earlier(lines)

    def stop(self) -> None:
        """Ends: windows are closed, files are complete. Again: nothing."""
        self._finish("stop")

    def __enter__(self) -> profile:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or isinstance(error, SystemExit):
            status = 0 if error is None else status_of(error)
            if status != 0 and isinstance(error, SystemExit) and isinstance(error.code, str):
                self._failed(error)  # sys.exit("no data left")
            self._finish("stop", status)
            return
        self._failed(error)
        self._finish("exception")

    # In the loop.

    def step(self) -> None:
        """A training step ends now."""
        if not self._is_running:
            return
        number = self._number
        _capture.step(number)
        if self._oom is not None:
            self._oom.listen()
        if self.steps == 0:
            warn_of_another_rank(self.rank, self._notices)
            note_threads()
        self.steps += 1
        self._batches.step_ended()
        self._advance(number)

    def expect_batches(self, batches: int) -> None:
        """A step will take so many, until one takes another number."""
        self._batches.expect(batches)
        if self._is_running:
            self._advance(None)  # the step under way may hold batches that are asked for

    def count_batches(self, batches: int = 1) -> None:
        """So many of the step under way, from a caller that knows better than watched loaders."""
        self._batches.add(batches)

    def epoch(self) -> None:
        """An epoch ends now."""
        if not self._is_running:
            return
        with self._leaving.held():
            self._windows.end_epoch(self._number)
            _capture.instant("epoch")
            ended = self._settings.first_epoch + self.epochs
            write_memory(self.rank, "epoch", self._number, epoch=ended)
            self.epochs += 1
            self._batches.epoch_ended()
        self._advance(None)
        self.begin_step()

    def begin_step(self) -> None:
        """A step begins now: what came since the last one, such as validation, is part of none."""
        if self._is_running:
            _capture.begin_step(self._number)

    def watch(
        self,
        batches: Loader,
        *,
        phase: str | None = None,
        name: str | None = None,
        samples: Samples | None = None,
        transforms: str | Collection[str] = (),
        progress: bool = False,
    ) -> Loader:
        """The same loader; how long the loop waits for each batch is recorded, and why.

        Workers of a torch DataLoader record what making a batch took them. The loader works as
        before, also where it is passed on, asked for its length or pickled.

        Args:
            batches: a DataLoader, or anything else that can be iterated.
            phase: `"validation"`, `"test"`, …; when left out, that of a range of such a name around
                the loop, else training.
            name: in reports; when left out, the loader's class.
            samples: how many a batch holds, or a function of the batch; when left out, by the
                batch's shape.
            transforms: attributes or methods of the dataset that transform a sample, beside the
                usual ones (`transform`, `transforms`, `augment`, `preprocess`, …).
            progress: whether a bar with the live rate is drawn, on rank 0 and where standard error
                is a terminal: tqdm's or rich's if installed.
        """
        checked.iterable(batches)
        if not self._is_running or not self._settings.ranges:
            return batches
        warn_of_a_short_epoch(batches, self._windows, self._notices)
        named = checked.words("transforms", transforms)
        request = WatchRequest(phase, name, samples, named, progress)
        request = as_the_file_says(request, self.plan)
        warn_of_unknown_transforms(batches, request.transforms, self._notices)
        same: Loader = self.loaders.watch(batches, request)
        return same

    def summarize(self, model: Any, batch: Any | None = None) -> None:
        """Writes what the model is made of into the run: layers, parameters, multiply-adds, sizes.

        Args:
            model: a torch module.
            batch: what it is called with (a tensor, a tuple of arguments, a dictionary of named
                ones), on the model's device. It is run once, without gradients and in evaluation
                mode. When left out, only parameters are counted.
        """
        if not self._is_running:
            return
        try:
            self.rank.write_json("model.json", summary_of(model, batch))
        except Exception as error:  # a model may do anything with a batch
            self._notices.warn(
                f"the model could not be summarized: {type(error).__name__}: {error}"
            )

    # Inside.

    def _advance(self, ended: int | None) -> None:
        """Windows hear of the step that ended and of the one that begins."""
        if not self._windows:
            return  # the usual case must cost nothing
        epoch, batches = self._settings.first_epoch + self.epochs, self._batches
        at = Position(self.steps, batches.batch, epoch, batches.of_step, batches.steps)
        with self._leaving.held():
            took_time = self._windows.advance(ended, at, self._number)
        if took_time:  # opening and closing are ours, no part of a step
            _capture.begin_step(self._number)

    def _save(self, reason: str) -> None:
        """The end may be near: what windows hold is written, and recording goes on."""
        self._windows.close(reason, self._number)
        _capture.flush()

    def _failed(self, error: BaseException) -> None:
        """An uncaught error: into the recording, with the memory of that moment."""
        if not self._is_running:
            return
        kind = type(error).__name__
        text = shown(error)
        _capture.log(logging.ERROR, "stepscope", f"{kind}: {text}")
        self._notices.set(error={"type": kind, "text": text[:2000], "step": self._number})
        if kind == "OutOfMemoryError":
            write_memory(self.rank, "out of memory", self._number)
            if self._oom is not None:
                self._oom.on_exception()

    def _finish(self, reason: str, status: int = 0) -> None:
        global _current
        if not self._is_running:
            return
        self._is_running, _current = False, None
        with self._leaving.held():
            self._write_all(reason, status)
            self._leaving.forget()

    def _write_all(self, reason: str, status: int) -> None:
        self._windows.end_run(reason, self._number)
        if reason in ("stop", "exit"):
            warn_of_too_few_steps(
                self._settings,
                self._windows,
                self.steps,
                self.epochs,
                self._notices,
                self.loaders.is_training,
                by_command=self.gives_way,
            )
        if self._oom is not None:
            self._oom.forget()
        write_memory(self.rank, "exit", self._number)
        lines = write_measured_lines(self.rank, self._lines_before)
        if self._logs is not None:
            self._logs.stop()
        if self._collector is not None:
            self._collector.stop()
        children.withdraw()
        stop_handing_on()
        stop_system(self._notices)
        _capture.stop()
        if error := _capture.write_error():
            self._notices.warn(f"some of the recording could not be written: {error}")
        if dropped := _capture.cost()["dropped"]:
            self._notices.warn(
                f"{dropped:,} records found no room: ranges, counters or log lines came faster "
                "than they could be written; put fewer into the innermost loops"
            )
        self._notices.set(
            finished=f"status {status}" if status else reason,
            steps=self.steps,
            epochs=self.epochs,
            cost=_capture.cost(),
            **({"lines": lines} if lines else {}),
        )


# The recording of this process: one at a time, since there is one recorder.
_current: profile | None = None


def current() -> profile | None:
    """The recording that runs in this process."""
    return _current


def note_threads() -> None:
    """How many share the work of one of torch's operators on the CPU."""
    count = getattr(sys.modules.get("torch"), "get_num_threads", None)
    if count is not None:
        _capture.counter("torch threads", count())
    asked = [os.environ.get(name, "") for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")]
    if numbers := [int(one) for one in asked if one.isdecimal()]:
        _capture.counter("asked threads", max(numbers))


_warned: set[str] = set()  # by a process that only joined a recording


def warn_once(key: str, text: str) -> None:
    """Something odd, that may come in every step, was recorded by this process."""
    if _current is not None:
        _current._notices.warn_once(key, text)
    elif key not in _warned:
        _warned.add(key)
        _capture.log(logging.WARNING, "stepscope", text)
        warn_in_python(text)


def _forget_in_child() -> None:
    """A forked child is no training: it records ranges into a file of its own, and nothing else."""
    global _current
    if _current is not None:
        _current._is_running = False
        if _current._collector is not None:
            _current._collector.stop()  # or a child that does nothing would leave a file
        _current = None
        stop_handing_on()


os.register_at_fork(after_in_child=_forget_in_child)
