"""The live rate of a loop on the terminal: tqdm's bar or rich's where installed, else one line.

Nothing where standard error is no terminal.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import Any, Protocol

_BETWEEN_S = 0.2  # a terminal is read by a person
_WEIGHT = 0.3  # of the newest stretch in the rate that is shown
_WARM_UP = 3  # stretches that leave nothing in the next: compiling, first allocations


class Bar(Protocol):
    """What draws."""

    def show(self, done: int, rate: str) -> None:
        """So many batches came, at this rate."""

    def end(self) -> None:
        """No more come."""


class LiveRate:
    """Counts batches and samples and says how fast they come."""

    def __init__(self, bar: Bar) -> None:
        self._bar: Bar = bar
        self._done = self._samples = 0
        self._knows_samples = True
        self._shown_at = time.perf_counter()
        self._shown_done = self._shown_samples = 0
        self._stretches = 0
        self._rate = self._sample_rate = 0.0

    def advance(self, samples: int | None) -> None:
        """A batch came."""
        self._done += 1
        if samples is None:
            self._knows_samples = False
        else:
            self._samples += samples
        now = time.perf_counter()
        passed = now - self._shown_at
        if self._done == 1:  # until now workers started: the loop begins here
            self._begin_stretch(now)
            self._show()
            return
        if passed < _BETWEEN_S:
            return
        self._stretches += 1
        self._rate = self._smooth(self._rate, (self._done - self._shown_done) / passed)
        self._sample_rate = self._smooth(
            self._sample_rate, (self._samples - self._shown_samples) / passed
        )
        self._begin_stretch(now)
        self._show()

    def _begin_stretch(self, now: float) -> None:
        self._shown_at, self._shown_done = now, self._done
        self._shown_samples = self._samples

    def _smooth(self, before: float, now: float) -> float:
        return now if self._stretches <= _WARM_UP else (1 - _WEIGHT) * before + _WEIGHT * now

    def _show(self) -> None:
        try:
            self._bar.show(self._done, self.text())
        except Exception:  # a terminal that went away must not end the training
            self._bar = NoBar()

    def text(self) -> str:
        """Such as 12.3 it/s, 394 samples/s; nothing while it is not known."""
        if self._stretches == 0:
            return ""
        text = f"{self._rate:.3g} it/s"
        if self._knows_samples:
            text += f", {self._sample_rate:,.0f} samples/s"
        return text

    def end(self) -> None:
        """The loop is over."""
        self._show()
        try:
            self._bar.end()
        except Exception:
            self._bar = NoBar()


class NoBar:
    """For a terminal that went away."""

    def show(self, done: int, rate: str) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""


class TqdmBar:
    """tqdm's."""

    def __init__(self, tqdm: Any, title: str, total: int | None) -> None:
        self._bar = tqdm(
            desc=title, total=total, file=sys.stderr, leave=False, bar_format=_tqdm_format(total)
        )

    def show(self, done: int, rate: str) -> None:
        """Its own rate is left out: it counts from the beginning and knows no samples."""
        self._bar.set_postfix_str(rate, refresh=False)
        self._bar.update(done - self._bar.n)

    def end(self) -> None:
        """The line is free again."""
        self._bar.close()


def _tqdm_format(total: int | None) -> str:
    if total is None:
        return "{desc}: {n_fmt} [{elapsed}{postfix}]"
    return "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"


class RichBar:
    """rich's."""

    def __init__(self, progress: Any, console: Any, title: str, total: int | None) -> None:
        columns = progress.Progress.get_default_columns()
        self._progress = progress.Progress(
            *columns, progress.TextColumn("{task.fields[rate]}"), console=console, transient=True
        )
        self._task = self._progress.add_task(title, total=total, rate="")
        self._progress.start()

    def show(self, done: int, rate: str) -> None:
        """Its thread draws."""
        self._progress.update(self._task, completed=done, rate=rate)

    def end(self) -> None:
        """The line is free again."""
        self._progress.stop()


class PlainBar:
    """A line that is written over."""

    def __init__(self, title: str, total: int | None) -> None:
        self._title, self._total = title, total
        self._length = 0

    def show(self, done: int, rate: str) -> None:
        """Blanks cover what was longer before."""
        of = "" if self._total is None else f"/{self._total}"
        line = f"{self._title}: {done}{of}" + (f" [{rate}]" if rate else "")
        sys.stderr.write("\r" + line.ljust(self._length))
        sys.stderr.flush()
        self._length = len(line)

    def end(self) -> None:
        """The line is free again."""
        sys.stderr.write("\r" + " " * self._length + "\r")
        sys.stderr.flush()


def live_rate(title: str, total: int | None) -> LiveRate | None:
    """What this terminal and this environment have; None where there is no terminal."""
    try:
        if not sys.stderr.isatty():
            return None
    except (AttributeError, ValueError):
        return None
    return LiveRate(_best_bar(title, total))


def _best_bar(title: str, total: int | None) -> Bar:
    try:
        return TqdmBar(import_module("tqdm").tqdm, title, total)
    except Exception:  # not installed, or not as we know it
        pass
    try:
        console = import_module("rich.console").Console(stderr=True)
        return RichBar(import_module("rich.progress"), console, title, total)
    except Exception:
        return PlainBar(title, total)
