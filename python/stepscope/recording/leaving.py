"""However a process ends, its recording is finished first, where Python still runs.

Handlers and hooks of others are kept and called; nothing is replaced for good.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any, NoReturn

from stepscope import _capture

# For a main thread that runs no Python, and so no handlers, training is not held up for longer.
_MOST_WAIT_S = 1.0


def status_of(error: SystemExit) -> int:
    """What a process that ends by it returns; as Python counts it."""
    if error.code is None:
        return 0
    return error.code & 0xFF if isinstance(error.code, int) else 1  # a text is printed


class _ExitMark:
    """Goes with a SystemExit: when that is gone and no frame is left, it was not caught.

    Python tells an atexit handler nothing of the status, and no hook of a SystemExit.
    """

    def __init__(self, status: int, into: list[int]) -> None:
        self._status, self._into = status, into

    def __del__(self) -> None:
        try:
            sys._getframe(1)
        except ValueError:
            self._into[:] = [self._status]


@contextmanager
def _one_interrupt_held() -> Iterator[None]:
    """For a process that ends already, Ctrl-C means nothing more, unless it comes a second time.

    `timeout -s INT` sends two at once.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or before is not signal.default_int_handler:
        yield
        return
    came: list[int] = []

    def interrupted(number: int, frame: FrameType | None) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


ExceptionHook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


class Leaving:
    """Watches for the end of this process, between `watch` and `forget`."""

    def __init__(
        self,
        finish: Callable[[str, int], None],
        save: Callable[[str], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        """What to call: at the end (why, and the status), near it, with an uncaught error."""
        self._finish, self._save, self._failed = finish, save, failed
        self._process = os.getpid()
        self._signal_before: Any = None
        self._has_signal = False
        self._hook_before: ExceptionHook | None = None
        self._exit_before: Any = None
        self._exit_now_before: Any = None
        self._status = [0]  # that sys.exit() ends this process with
        self._holds = 0
        self._held_signal: tuple[int, FrameType | None] | None = None
        self._acted = threading.Event()  # on the signal that was held

    @contextmanager
    def held(self) -> Iterator[None]:
        """A signal that comes meanwhile is acted on afterwards: files must not be half closed."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            if self._holds == 0 and self._held_signal is not None:
                late, self._held_signal = self._held_signal, None
                if threading.current_thread() is threading.main_thread():
                    self._on_signal(*late)
                else:  # handlers are the main thread's
                    self._acted.clear()
                    os.kill(os.getpid(), late[0])
                    # Else the next hold, a step later, would make it wait again, and again.
                    self._acted.wait(_MOST_WAIT_S)

    def watch(self) -> None:
        """Puts itself in front of what is there."""
        atexit.register(self._at_exit)
        self._hook_before = sys.excepthook
        sys.excepthook = self._on_exception
        self._exit_before = sys.exit
        sys.exit = self._exit
        self._exit_now_before = os._exit
        os._exit = self._exit_now
        if threading.current_thread() is not threading.main_thread():
            return  # only the main thread may set handlers
        before = signal.getsignal(signal.SIGTERM)
        # None: a handler in C, which cannot be called from here. Ignored: the process goes on.
        if before is None or before == signal.SIG_IGN:
            return
        self._signal_before, self._has_signal = before, True
        signal.signal(signal.SIGTERM, self._on_signal)
        # A handler of the program's own would have waited for the main thread as well.
        if not callable(before):
            _capture.end_on_unseen_sigterm()

    def forget(self) -> None:
        """Takes itself away, unless something was put on top since."""
        atexit.unregister(self._at_exit)
        # Bound methods are made anew each time they are asked for: equal, not identical.
        if sys.excepthook == self._on_exception and self._hook_before is not None:
            sys.excepthook = self._hook_before
        if sys.exit == self._exit and self._exit_before is not None:
            sys.exit = self._exit_before
        if os._exit == self._exit_now and self._exit_now_before is not None:
            os._exit = self._exit_now_before
        if not self._has_signal or threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) == self._on_signal:
            signal.signal(signal.SIGTERM, self._signal_before)
        self._has_signal = False

    def _is_child(self) -> bool:
        return os.getpid() != self._process

    def _at_exit(self) -> None:
        if not self._is_child():
            self._finish("exit", self._status[0])

    def _exit(self, status: Any = None, /) -> NoReturn:
        """sys.exit(), as before."""
        before: Callable[[Any], NoReturn] = self._exit_before
        try:
            before(status)
        except SystemExit as error:
            error.__dict__["_stepscope"] = _ExitMark(status_of(error), self._status)
            raise

    def _exit_now(self, status: int) -> NoReturn:
        """os._exit(), as before: what waits is written, but nothing is waited for that may hang.

        Programs leave so where their own end hangs: torch's profiler might, too.
        """
        with suppress(Exception):
            # A forked child that recorded anything has a file of its own, which ends here.
            write = _capture.stop if self._is_child() else _capture.flush
            if _capture.path():
                writing = threading.Thread(target=write, daemon=True)
                writing.start()
                writing.join(_MOST_WAIT_S)
        before: Callable[[int], NoReturn] = self._exit_now_before
        before(status)

    def _on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if not self._is_child():
            # Whatever happens in here, the error that is printed is the program's own.
            with suppress(BaseException), _one_interrupt_held():
                self._failed(error)
                self._finish("exception", 0)
        (self._hook_before or sys.__excepthook__)(kind, error, trace)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        _capture.sigterm_seen()
        if self._holds > 0 and not self._is_child():
            self._held_signal = (number, frame)
            return
        try:
            self._act_on(number, frame)
        finally:
            self._acted.set()

    def _act_on(self, number: int, frame: FrameType | None) -> None:
        before = self._signal_before
        if callable(before):
            # Theirs decides whether the process ends, and when.
            if not self._is_child():
                self._save("SIGTERM")
            before(number, frame)
            return
        if self._is_child():
            _capture.stop()  # of a worker that is ended so: all that a pool's `with` does
        else:
            self._finish("SIGTERM", 0)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
