"""Starts one trial: a process of its own, in the user's Python, watched until it ends.

What runs there is the package `trial` beside this file.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from stepscope import _core
from stepscope.sweep.race import NextTrial
from stepscope.sweep.scores import Block, Trial, Trouble
from stepscope.sweep.settings import NAMES, OF_WORKERS, SWITCHES, Settings

_TRIAL = Path(__file__).resolve().parent / "trial" / "__main__.py"
_LOOK_S = 0.15  # between two looks at the memory
_POLL_MS = 50
_MOST_TEXT = 64 << 20  # of an answer
_PATIENCE_S = 0.5  # with a process that does not end


@dataclass(frozen=True)
class Limits:
    """On the time of a trial."""

    all_s: float  # from the start of its process
    first_batch_s: float  # until it came, once the target is imported: that may take long
    measuring_s: float  # from there on


@dataclass
class Outcome:
    """What came of a trial."""

    trial: Trial = field(default_factory=Trial)
    actual: Settings = field(default_factory=dict)
    trouble: Trouble | None = None
    why: str = ""
    keywords: list[str] = field(default_factory=list)  # that the target takes
    peak_bytes: int = 0
    shared_bytes: int = 0
    wall_s: float = 0
    import_s: float | None = None  # until the target was there; None: it never was
    is_wrong: bool = False  # the target is: no setting would do better
    was_silent: bool = False  # no batch came, and no reason
    was_cut: bool = False  # by a limit


def request_for(
    target: str, given: Settings, keywords: Sequence[str], trial: NextTrial
) -> dict[str, object]:
    """What the process is asked."""
    values: dict[str, object] = {
        name: bool(given[name]) if name in SWITCHES else given[name]
        for name in NAMES
        if name in given
    }
    if given.get("num_workers") == 0:
        # torch refuses them without workers, and the target's default may be another.
        for name in OF_WORKERS:
            values.setdefault(name, False if name in SWITCHES else None)
    return {
        "target": target,
        "names": list(keywords),
        "keywords": values,
        "seconds": trial.seconds,
        "hopeless_ns": trial.hopeless_ns,
        "per_sample": trial.by_sample,
    }


class Runner:
    """Runs trials of one target, one after the other."""

    def __init__(self, python: str, target: str, log: Path, memory_limit: int) -> None:
        self._python, self._target, self._log = python, target, log
        self.memory_limit = memory_limit
        self.stopped_by = 0  # the signal that ends the sweep
        self.group = 0  # of the trial that runs

    def stop(self, number: int) -> None:
        """Ends the trial that runs, from a signal; the second signal ends everything at once."""
        if self.stopped_by:
            self._kill()
            os._exit(128 + number)
        self.stopped_by = number

    def last_lines(self, most: int) -> list[str]:
        """Of what the user's code printed."""
        try:
            return self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-most:]
        except OSError:
            return []

    def run(
        self, given: Settings, keywords: Sequence[str] | None, trial: NextTrial, limits: Limits
    ) -> Outcome:
        """One trial; keywords are those of the target, None before the first trial said them."""
        request = request_for(self._target, given, NAMES if keywords is None else keywords, trial)
        answer = Answer()
        memory = _MemoryWatch(self.memory_limit)
        began = time.monotonic()
        why = self._watch(json.dumps(request), answer, memory, limits, began)
        out = answer.outcome
        out.wall_s = time.monotonic() - began
        out.peak_bytes, out.shared_bytes = memory.peak, memory.shared
        if memory.why:
            out.trouble, out.why = Trouble.MEMORY, memory.why
        elif not answer.has_ended:
            out.trouble, out.why = Trouble.FAILED, why
            late = why.startswith("did not get")
            out.was_cut = late or why == "stopped"
            out.was_silent = late and not out.trial.firsts
        return out

    def _watch(
        self, request: str, answer: Answer, memory: _MemoryWatch, limits: Limits, began: float
    ) -> str:
        """Until the process ends, and ends it where it must; why it ended."""
        try:
            with self._log.open("wb") as log:
                process = subprocess.Popen(
                    [self._python, str(_TRIAL), request],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    preexec_fn=_become_group,
                )
        except OSError as error:
            return f"no process could be started for it: {error}"
        self.group = process.pid
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        poll = select.poll()
        poll.register(pipe)
        text, why, size = b"", "", 0
        while not why:
            now = time.monotonic() - began
            limit = limits.all_s
            is_late = now > limit
            if not is_late and answer.outcome.import_s is not None:
                limit = limits.first_batch_s
                limit += limits.measuring_s if answer.outcome.trial.firsts else 0
                is_late = now > answer.outcome.import_s + limit
            if self.stopped_by or not memory.is_enough(process.pid):
                why = "stopped"
            elif is_late or size > _MOST_TEXT:
                why = f"did not get beyond {answer.phase} within {limit:.3g} s"
            elif poll.poll(_POLL_MS):
                part = os.read(pipe, 65536)
                if not part:
                    break
                size += len(part)
                *lines, text = (text + part).split(b"\n")
                for line in lines:
                    answer.take(line.decode("utf-8", "replace"), time.monotonic() - began)
        if why:
            self._kill()
        patience = _PATIENCE_S if why else max(0.0, limits.all_s + began - time.monotonic())
        try:
            status = process.wait(patience + _PATIENCE_S)
        except subprocess.TimeoutExpired:
            status = -signal.SIGKILL
            why = why or f"did not get beyond {answer.phase} within {limits.all_s:.3g} s"
        self._kill()  # what it started and left running
        process.stdout.close()
        self.group = 0
        if why or status >= 0:
            return why or f"ended with status {status}, {answer.phase}"
        perhaps = "; perhaps for want of memory" if -status == signal.SIGKILL else ""
        return f"killed by signal {-status}, {answer.phase}{perhaps}"

    def _kill(self) -> None:
        if self.group:
            with suppress(OSError):
                os.killpg(self.group, signal.SIGKILL)


_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def _become_group() -> None:
    """In the child: a process group of its own, which is killed when the sweep is."""
    os.setpgid(0, 0)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Answer:
    """The lines of a trial, read in order."""

    def __init__(self) -> None:
        self.outcome = Outcome()
        self.has_ended = False
        self.phase = "importing"

    def take(self, line: str, now_s: float = 0) -> None:
        """One of them; what is not known is skipped."""
        kind, _, rest = line.partition(" ")
        out, words = self.outcome, rest.split()
        if kind == "takes":
            self.phase = "making the loader"
            out.import_s = now_s
            out.keywords = words
        elif kind in ("trains", "loads"):
            self.phase = "waiting for the first batch"
            out.trial.trains = kind == "trains"
        elif kind in ("wrong", "error"):
            self.has_ended = True
            out.trouble, out.why, out.is_wrong = Trouble.FAILED, rest, kind == "wrong"
        elif kind == "end":
            self.has_ended = True
        else:
            with suppress(ValueError):
                self._take_numbers(kind, words)

    def _take_numbers(self, kind: str, words: list[str]) -> None:
        trial = self.outcome.trial
        if kind == "setting":
            name, value = words
            if name in NAMES:
                self.outcome.actual[name] = int(value)
        elif kind == "length":
            trial.length = int(words[0])
        elif kind == "storage":
            trial.storage_bytes = int(words[0])
        elif kind in ("first", "block"):
            self.phase = "after the first batch"
            steps, loading, training, samples = map(int, words)
            if steps > 0:
                block = Block(steps, loading, training, samples if samples > 0 else None)
                (trial.firsts if kind == "first" else trial.blocks).append(block)


class _MemoryWatch:
    """Looks at a trial's memory while it runs, to end it before there is none."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._before, self._last = shared_memory(), 0.0
        self.peak, self.shared = 0, 0
        self.why = ""

    def is_enough(self, group: int) -> bool:
        """Whether it may go on."""
        if time.monotonic() - self._last < _LOOK_S:
            return not self.why
        self._last = time.monotonic()
        held = group_memory(group)
        self.peak = max(self.peak, held)
        shared = shared_memory()
        if shared and self._before:
            self.shared = max(self.shared, shared[0] - self._before[0])
        stopped = f"stopped at {_core.bytes_text(held)} of memory"
        left = _core.available_memory()
        if held > self._limit:
            most = _core.bytes_text(self._limit)
            self.why = f"{stopped}: more than the {most} it may take (--max-memory)"
        elif left is not None and left < self._limit // 20:
            self.why = f"{stopped}: only {_core.bytes_text(left)} was left for all"
        return not self.why


def group_memory(group: int) -> int:
    """That the processes of a group hold; what several share counts once (PSS)."""
    return sum(
        _memory_of(folder)
        for folder in Path("/proc").iterdir()
        if folder.name.isdigit() and _group_of(folder) == group
    )


def _group_of(process: Path) -> int:
    try:
        # After a name that may hold anything: state, parent, group.
        return int((process / "stat").read_text(errors="replace").rpartition(")")[2].split()[2])
    except (OSError, ValueError, IndexError):
        return -1


def _memory_of(process: Path) -> int:
    with suppress(OSError):
        for line in (process / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    with suppress(OSError, ValueError, IndexError):
        return int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    return 0


def shared_memory() -> tuple[int, int] | None:
    """Bytes of /dev/shm that are used, and that are free; None where there is none."""
    try:
        facts = os.statvfs("/dev/shm")
    except OSError:
        return None
    if not facts.f_blocks:
        return None
    used = (facts.f_blocks - facts.f_bfree) * facts.f_frsize
    return used, facts.f_bavail * facts.f_frsize
