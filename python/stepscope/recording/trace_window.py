"""A window of torch.profiler: ranges and steps reach it, and its file lands in the rank's folder.

torch's profiler is made anew for each window and steps are named by the run's numbers, so that
ProfilerStep#7 is step 7 of the recording. Its file is written plain and packed by a thread: torch
would pack it at the highest level while the training waits. A file has its final name only when it
is whole.
"""

from __future__ import annotations

import atexit
import contextlib
import gzip
import importlib
import json
import os
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepscope.recording.foreign_text import path_for_torch
from stepscope.recording.handing_on import hand_ranges_on
from stepscope.recording.notices import Notices
from stepscope.recording.other_profilers import (
    ready_profilers,
    watch_for_profilers,
    without_step_count,
)
from stepscope.recording.placement import find_placement
from stepscope.recording.profiler_in_forks import let_children_leave
from stepscope.recording.run_folder import RankFolder, sized
from stepscope.recording.schedule import counted
from stepscope.recording.trace_options import TraceOptions
from stepscope.recording.windows import NOT_WRITTEN, Facts

# Below this much free disk no trace is begun: the training's checkpoints need it more.
_LEAST_FREE_BYTES = 256 << 20
_KINETO = "KINETO_LOG_LEVEL"
# Why windows are closed there; any other reason comes within a step.
_AT_THE_END_OF_A_STEP = ("complete", "max_bytes", "max_seconds")


_INTRUDER = "another torch profiler was started within the trace window"


class TraceWindow:
    """Drives torch.profiler."""

    kind = "trace"

    def __init__(self, options: TraceOptions, always: bool) -> None:
        self._options = options
        self._always = always  # the user asked for traces, so their lack is worth a warning
        self._profiler: Any = None
        self._thread = 0  # that started it
        self._abandoned: Any = None
        self._step: Any = None  # the record_function of the step under way
        self._number = 0  # of that step
        self._first_step = 0  # of the window
        self._next_file = 0
        self._packing: list[threading.Thread] = []
        self._opened_ns = 0
        self._start_cost_ns = 0
        self._is_recording = False
        self._is_declined = False  # this window; the next may have more luck
        self._others: Any = None  # torch's own, begun by others; None without torch
        self._watch: Any = None  # for profilers that start within the window
        self._given_way: Facts = {}  # what was written when one came

    def begin_run(self, rank: RankFolder, notices: Notices) -> None:
        """Nothing is loaded yet: torch may be imported later than this."""
        self._rank = rank
        self._notices = notices
        self._others = ready_profilers()

    def warm_up(self, step: int) -> None:
        """Kineto gets ready; what it sees is thrown away."""
        self._prepare()
        self._begin_step(step)

    def open(self, step: int) -> None:
        """From here on everything is kept."""
        self._end_step()
        if self._profiler is None:
            self._prepare()
        if self._profiler is None:
            return
        begun = time.perf_counter_ns()
        self._forget_others()  # this one is ours
        self._profiler.start_trace()
        self._thread = threading.get_ident()
        self._start_cost_ns += time.perf_counter_ns() - begun
        self._opened_ns = time.time_ns()
        self._first_step = step
        self._is_recording = True
        self._watch = watch_for_profilers(self._give_way)
        hand_ranges_on(to_torch=True)
        self._begin_step(step)

    def on_step(self, step: int) -> None:
        """ProfilerStep#… ends and the next begins."""
        self._end_step()
        self._begin_step(step + 1)

    def close(self, reason: str) -> Facts:
        """Writes the trace."""
        return self._end(reason, keep=True)

    def drop(self) -> None:
        """Without a file."""
        self._end("stop", keep=False)

    def _end(self, reason: str, keep: bool) -> Facts:
        self._forget_others()
        if self._given_way:
            facts, self._given_way = self._given_way, {}
            return facts
        profiler, self._profiler = self._profiler, None
        was_recording, self._is_recording = self._is_recording, False
        self._is_declined = False
        if profiler is None:
            return {}
        hand_ranges_on(to_torch=False)
        if was_recording and threading.get_ident() != self._thread:
            self._abandon(profiler)
            return NOT_WRITTEN
        begun = time.perf_counter_ns()
        self._end_step()
        if was_recording:
            self._describe(profiler, reason)
        else:
            profiler.start_trace()  # torch stops only what it started
        profiler.stop_trace()
        stopped = time.perf_counter_ns()
        if not was_recording or not keep:
            return {}
        name = f"trace-{self._next_file}.json"
        self._next_file += 1
        with path_for_torch(self._rank.partial(name)) as path:
            profiler.export_chrome_trace(path)
        if not _is_whole(self._rank.partial(name)):  # torch does not look at what it could write
            self._notices.warn(f"{self._rank.file(name)} could not be written; is the disk full?")
            partial = self._rank.partial(name)
            for remnant in (partial, partial.with_name(partial.name + ".tmp")):  # torch's own
                remnant.unlink(missing_ok=True)
            return NOT_WRITTEN
        self._rank.complete(name)
        exported = time.perf_counter_ns()
        size = self._rank.file(name).stat().st_size
        self._pack(name, inline=reason in ("exit", "SIGTERM"))
        return {
            "files": [f"{name}.gz"],
            "start_ns": self._opened_ns,
            "trace": self._options.words(),
            "plain_bytes": size,
            "cost_ns": {
                "start": self._start_cost_ns,
                "stop": stopped - begun,
                "export": exported - stopped,
            },
        }

    def _give_way(self) -> None:
        """The program starts a profiler of its own, and torch has but one: that one goes on."""
        steps = self._number - self._first_step
        was_recording = self._is_recording
        if threading.get_ident() != self._thread:
            # Both would crash if ours were stopped now, from here or later from its own thread.
            self._abandoned, self._profiler = self._profiler, None
            self._is_recording = False
            hand_ranges_on(to_torch=False)
            self._decline(f"{_INTRUDER}, by another thread, and there can be only one")
            return
        facts = self.close("another profiler")
        if not was_recording:
            self._decline(f"{_INTRUDER}, and there can be only one")
            return
        self._is_declined = True
        self._notices.warn(
            f"{_INTRUDER}, and there can be only one: the trace ends there, after {counted(steps)}"
        )
        if facts:
            self._given_way = {**facts, "closed": "another profiler", "steps": steps}

    def _forget_others(self) -> None:
        if self._watch is not None:
            self._watch.forget()
            self._watch = None

    def end_run(self, reason: str) -> None:
        """Waits for what is being packed."""
        if self._others is not None:
            self._others.forget()
        for thread in self._packing:
            thread.join()

    def _abandon(self, profiler: Any) -> None:
        """Another thread than torch's may neither stop it nor let it go: both crash."""
        self._abandoned = profiler
        if self._thread == threading.main_thread().ident:
            atexit.register(profiler.stop_trace)
        self._notices.warn(
            "the trace is lost: torch's profiler can only be stopped by the thread that started "
            "it; call stop() where step() is called"
        )

    def _decline(self, why: str) -> None:
        self._is_declined = True
        self._notices.warn(f"no trace was recorded: {why}")

    def _prepare(self) -> None:
        if self._is_declined:
            return
        torch = self._torch()
        if torch is None:
            return
        import torch.profiler as torch_profiler

        if self._others is None:
            self._others = ready_profilers()
        if torch.autograd._profiler_enabled() or self._others:
            self._decline("another torch profiler is active, and there can be only one")
            return
        if not (activities := self._activities(torch_profiler)):
            self._is_declined = True  # with a warning
            return
        free = shutil.disk_usage(self._rank.path).free
        if free < _LEAST_FREE_BYTES:
            self._decline(f"only {sized(free)} are free on the disk of {self._rank.path}")
            return
        begun = time.perf_counter_ns()
        let_children_leave()
        with _quiet_kineto(), warnings.catch_warnings():
            profiler = without_step_count(
                lambda: torch_profiler.profile(
                    activities=activities,
                    **self._options.arguments(),
                    **self._trace_only(torch),
                )
            )
            # Some versions say so at the first window, where nothing is cleared.
            warnings.filterwarnings("ignore", message="Warning: Profiler clears events")
            profiler.prepare_trace()
        self._profiler = profiler
        self._thread = threading.get_ident()
        self._watch = watch_for_profilers(self._give_way)
        self._start_cost_ns = time.perf_counter_ns() - begun

    def _torch(self) -> Any:
        """torch, if it is in use; imported here only where traces were asked for."""
        if self._always:
            try:
                importlib.import_module("torch")
            except ImportError as error:
                self._decline(f"torch cannot be imported ({error})")
        return sys.modules.get("torch")

    def _activities(self, torch_profiler: Any) -> list[Any]:
        there = torch_profiler.supported_activities()
        by_word = {str(activity).rpartition(".")[2].lower(): activity for activity in there}
        wanted = self._options.activities or frozenset(by_word)
        if missing := wanted - frozenset(by_word):
            self._notices.warn(f"torch cannot trace {', '.join(sorted(missing))} here")
        return [by_word[word] for word in sorted(wanted & frozenset(by_word))]

    def _trace_only(self, torch: Any) -> dict[str, Any]:
        """Where torch can leave out the tables not needed here: it stops a third sooner."""
        config: Any = getattr(torch._C._profiler, "_ExperimentalConfig", None)
        if "stacks" in self._options.keeps or not hasattr(config, "trace_only"):
            return {}
        return {"experimental_config": config(trace_only=True)}

    def _begin_step(self, step: int) -> None:
        """Named as torch names its own, which older versions count one too low."""
        if self._profiler is not None:
            from torch.autograd.profiler import record_function

            self._number = step
            self._step = record_function(f"ProfilerStep#{step}")
            self._step.__enter__()

    def _end_step(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            step.__exit__(None, None, None)

    def _describe(self, profiler: Any, reason: str) -> None:
        """Into the trace itself: which run it is of."""
        facts = {
            "run": self._rank.run_id,
            "attempt": self._rank.attempt,
            "rank": self._rank.placement.rank,
            "world_size": self._rank.placement.world_size,
            "closed": reason,
        }
        if reason not in _AT_THE_END_OF_A_STEP:  # its ProfilerStep is there, but not whole
            facts["cut_step"] = self._number
        profiler.add_metadata_json("stepscope", json.dumps(facts))
        if find_placement({}).source != "torch.distributed":  # else torch has said it itself
            ranks = {name: facts[name] for name in ("rank", "world_size")}
            profiler.add_metadata_json("distributedInfo", json.dumps(ranks))

    def _pack(self, name: str, inline: bool) -> None:
        plain = self._rank.file(name)
        thread = threading.Thread(target=_pack_file, args=(plain,), name="stepscope-pack")
        if inline:  # an interpreter that ends starts no threads
            _pack_file(plain)
            return
        thread.start()
        self._packing.append(thread)


@contextlib.contextmanager
def _quiet_kineto() -> Iterator[None]:
    """The tracer of torch writes to the program's standard error, by a level that it reads once.

    Where the user has set one it stays.
    """
    if _KINETO in os.environ:
        yield
        return
    os.environ[_KINETO] = "99"
    try:
        yield
    finally:
        os.environ.pop(_KINETO, None)


def _is_whole(file: Path) -> bool:
    if not file.exists():
        return False
    with file.open("rb") as text:
        text.seek(max(0, file.stat().st_size - 16))
        return text.read().rstrip().endswith(b"}")


def _pack_file(plain: Path) -> None:
    """The lowest level: a fifth of the time of torch's, for a file a few percent larger."""
    packed = plain.with_name(plain.name + ".gz")
    partial = plain.with_name(packed.name + ".partial")
    try:
        with plain.open("rb") as source, gzip.open(partial, "wb", compresslevel=1) as target:
            shutil.copyfileobj(source, target, 1 << 20)
        partial.replace(packed)
        plain.unlink()
    except OSError:  # a full disk: the plain file is whole and stays
        partial.unlink(missing_ok=True)
