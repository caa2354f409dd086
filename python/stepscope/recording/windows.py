"""Parts of a recording that run for some steps only, and what opens and closes them.

A trace of torch.profiler and the allocator's history are windows. A window never harms the
training: what goes wrong in it becomes a warning, and the window is not opened again.
"""

from __future__ import annotations

import time
from typing import Any, Protocol

from stepscope.recording.notices import Notices
from stepscope.recording.process_memory import private_bytes
from stepscope.recording.run_folder import RankFolder
from stepscope.recording.schedule import Action, Phase, Position, Schedule, counted

Facts = dict[str, Any]
# Of a window that was open, and whose file is lost; there was a warning.
NOT_WRITTEN: Facts = {"files": [], "closed": "not written"}


class Window(Protocol):
    """What a kind of window does. Called by the thread that calls `step()`, never twice at once."""

    kind: str  # "trace", "snapshot": in rank.json and in messages

    def begin_run(self, rank: RankFolder, notices: Notices) -> None:
        """Once, before all else: files go into `rank`, what the user must know to `notices`."""

    def warm_up(self, step: int) -> None:
        """The step of this number begins now and is not kept. Left out without warm-up."""

    def open(self, step: int) -> None:
        """The step of this number begins now and is the first that is recorded."""

    def on_step(self, step: int) -> None:
        """The step of this number ended in warm-up or in the window, and another one follows."""

    def close(self, reason: str) -> Facts:
        """The window ends now and writes its files. Gives facts for rank.json, `files` among them.

        Reasons: "complete", "max_bytes", "max_seconds", "epoch", "stop", "exit", "SIGTERM",
        "exception". With nothing recorded, gives {}; with a file that could not be written, no
        `files` and why it was `closed`.
        """

    def drop(self) -> None:
        """The window ends now, and nothing of it is kept."""

    def end_run(self, reason: str) -> None:
        """Once, after all else: waits for what is still being written, takes hooks away."""


class Limits:
    """When an open window ends early."""

    def __init__(self, max_bytes: float, max_seconds: float) -> None:
        self.max_bytes = max_bytes
        self.max_seconds = max_seconds
        self.begin()

    def begin(self) -> None:
        """The window opens now."""
        self._opened_s = time.monotonic()
        self._opened_bytes = private_bytes()

    def passed(self) -> str:
        """Which one was passed, or nothing."""
        if time.monotonic() - self._opened_s > self.max_seconds:
            return "max_seconds"
        if private_bytes() - self._opened_bytes > self.max_bytes:
            return "max_bytes"
        return ""

    def explain(self, which: str) -> str:
        """Why, for the user."""
        if which == "max_seconds":
            return f"it had been open for more than {self.max_seconds:g} s (max_seconds)"
        grown = (private_bytes() - self._opened_bytes) / 2**20
        return (
            f"the process had grown by {grown:,.0f} MiB since it was opened, more than the "
            f"{self.max_bytes / 2**20:,.0f} MiB of max_bytes"
        )


class ScheduledWindow:
    """One window with its schedule: opened, led through the steps, and closed in time."""

    def __init__(self, window: Window, schedule: Schedule, limits: Limits) -> None:
        self._window = window
        self.schedule = schedule
        self._limits = limits
        self._phase = Phase(Action.WAIT)
        self._first_step = 0
        self._steps = 0
        self._given_up = False  # after an error of its own
        self._cut_short: tuple[int, int] | None = None  # the window that ended before its time
        self._notices: Notices | None = None
        self._spent_ns = 0  # of the training's time, for the window that is open or was just closed
        self.opened = 0  # how often
        self.completed = 0  # how often something was recorded
        self.steps_held = 0  # whole ones, of all windows
        self.is_cut_by_the_end = False

    @property
    def kind(self) -> str:
        """Of the window: trace, snapshot."""
        return self._window.kind

    @property
    def is_given_up(self) -> bool:
        """Whether an error of its own ended it, with a warning."""
        return self._given_up

    @property
    def held(self) -> str:
        """How much of what was asked for the last one holds."""
        if self.schedule.by_batch:
            return f"{counted(self._steps)}, and {self.schedule} were asked for"
        return f"{self._steps} of {counted(self.schedule.active or 0)}"

    @property
    def is_open(self) -> bool:
        """Whether steps are being recorded now."""
        return self._phase.action is Action.RECORD

    def begin_run(self, rank: RankFolder, notices: Notices) -> None:
        """The run begins."""
        self._notices = notices
        self._guarded("prepare", lambda: self._window.begin_run(rank, notices))

    def advance(self, ended: int | None, at: Position, number: int) -> bool:
        """Step `ended` is over (None: the run begins); step `number` at this position begins.

        True where something was opened or closed.
        """
        before = as_it_was = self._phase
        if self.is_open and ended is not None:
            self._steps += 1
            if passed := self._limits.passed():
                self._say_cut_short(passed)
                self.close(passed)
                before = self._phase
        now = Phase(Action.WAIT) if self._given_up else self.schedule.phase(at)
        if now.window is not None and now.window == self._cut_short:
            now = Phase(Action.WAIT)
        if before.action is not Action.WAIT and before.window != now.window:
            self.close("complete")
            before = self._phase
        if self._given_up:
            return self._phase != as_it_was
        if now.action is Action.WARM_UP and before.action is Action.WAIT:
            self._phase = now
            self._guarded("warm up", lambda: self._window.warm_up(number))
        elif now.action is Action.RECORD and before.action is not Action.RECORD:
            self._phase, self._first_step, self._steps = now, number, 0
            self.opened += 1
            self._limits.begin()
            self._guarded("open", lambda: self._window.open(number))
        elif now.action is not Action.WAIT and ended is not None:
            last = ended
            self._guarded("step", lambda: self._window.on_step(last))
        return self._phase != as_it_was

    def close(self, reason: str) -> None:
        """Whatever is open ends now."""
        before, self._phase = self._phase, Phase(Action.WAIT)
        if before.action is Action.WAIT or self._given_up:
            return
        if reason != "complete":
            self._cut_short = before.window
        if reason in ("stop", "exit") and self._is_one_too_many(before):
            self._guarded("close", self._window.drop)
            return
        facts = self._guarded("close", lambda: self._window.close(reason))
        if facts is None:
            facts = NOT_WRITTEN
        if not facts or before.action is not Action.RECORD or self._notices is None:
            return
        if facts["files"]:
            self.completed += 1
            self.steps_held += self._steps
            self.is_cut_by_the_end |= reason in ("stop", "exit")
        if reason == "epoch" and self._steps < (self.schedule.active or 0):
            self._notices.warn(
                f"an epoch ended within the {self.kind} window: it holds {self.held}"
            )
        known = {"kind": self.kind, "first_step": self._first_step, "steps": self._steps}
        self._notices.add_window({**known, "closed": reason, **facts})

    def _is_one_too_many(self, phase: Phase) -> bool:
        """Again and again, and the run ended where the next one had begun."""
        return (
            phase.action is Action.RECORD
            and self._steps == 0
            and self.completed > 0
            and self.schedule.repeat == 0
        )

    def spend(self, took_ns: int, is_over: bool) -> None:
        """The training stood still for it; all of it is noted when the window is over."""
        self._spent_ns += took_ns
        if is_over and self._notices is not None:
            self._notices.complete_cost(self._spent_ns)
            self._spent_ns = 0

    def end_run(self, reason: str) -> None:
        """Closes what is open and lets the window go."""
        self.close(reason)
        self._guarded("finish", lambda: self._window.end_run(reason))

    def _say_cut_short(self, passed: str) -> None:
        if self._notices is not None:
            self._notices.warn(
                f"the {self.kind} window was closed after {counted(self._steps)}: "
                f"{self._limits.explain(passed)}"
            )

    def _guarded(self, what: str, call: Any) -> Any:
        """The training goes on whatever a window does."""
        try:
            return call()
        except Exception as error:
            self._given_up = True
            self._phase = Phase(Action.WAIT)
            if self._notices is not None:
                kind = type(error).__name__
                self._notices.warn(
                    f"the {self.kind} window failed to {what} and is given up; the training "
                    f"goes on ({kind}: {error})"
                )
            return None
