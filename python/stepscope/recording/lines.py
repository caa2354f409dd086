"""`@stepscope.lines`: time and memory of each line of one function, where a range is not enough.

Only the code of that function is watched: by sys.monitoring from Python 3.12 on, else by a trace
function that is there while it runs. A line's time is what passes while it runs, the calls it makes
included; in a recursion it counts once. What waits (a generator between two items, a coroutine
that was put aside) takes no time. Kernels run on after the line that launched them: times are the
host's.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import CodeType, TracebackType
from typing import Any, TypeVar, overload

from stepscope.around import around
from stepscope.errors import UsageError
from stepscope.recording.lines_report import FunctionLines, LineSum, report_text
from stepscope.recording.lines_watch import Driven, Watch, watch_code
from stepscope.recording.process_memory import resident_bytes

F = TypeVar("F", bound=Callable[..., Any])

_now = time.perf_counter_ns
_RUNS_IN_STEPS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@overload
def lines(function: F) -> F: ...
@overload
def lines(*, name: str | None = None, memory: bool = True) -> Callable[[F], F]: ...
def lines(
    function: Callable[..., Any] | None = None, *, name: str | None = None, memory: bool = True
) -> Any:
    """Measures every line of the decorated function; `lines_report()` tells.

    Args:
        function: a function, generator or coroutine, sync or async.
        name: what reports call it; its qualified name when left out.
        memory: whether the memory of the process, and of torch's GPU if in use, is looked at
            before and after each line, which takes a few microseconds.

    Example:
        >>> import stepscope
        >>> @stepscope.lines
        ... def add(a, b):
        ...     return a + b
        >>> add(1, 2)
        3
        >>> "calls: 1" in stepscope.lines_report()
        True
    """
    if name is not None and not isinstance(name, str):
        raise UsageError(f"lines: name is a text, not {name!r}")
    if function is None:
        return functools.partial(_measured, name=name, memory=memory)
    return _measured(function, name, memory)


def lines_report(*names: str) -> str:
    """What was measured so far, as text: a table for each function, or for these alone."""
    measured = measured_lines()
    for name in names:
        if name not in (known := [each.name for each in all_lines()]):
            others = f"measured are {', '.join(known)}" if known else "none is decorated with lines"
            raise UsageError(f"lines_report: no function {name!r} is measured; {others}")
    return report_text(each for each in measured if not names or each.name in names)


def measured_lines(since: Sequence[FunctionLines] = ()) -> list[FunctionLines]:
    """Of each function that was called, or called since `all_lines` gave this, as decorated."""
    now = all_lines()
    for function, before in zip(now, since, strict=False):
        function.take_away(before)
    return [function for function in now if function.calls > 0]


def all_lines() -> list[FunctionLines]:
    """Of every function, also those that were never called."""
    return [each.summed() for each in _measured_functions]


def _measured(function: Callable[..., Any], name: str | None, memory: bool) -> Callable[..., Any]:
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        raise TypeError(f"stepscope.lines measures functions written in Python, not {function!r}")
    measured = _Measured(code, name or function.__qualname__, memory)
    _measured_functions.append(measured)
    if measured.watch is None:
        return around(function, measured.begin)
    watch = measured.watch
    return around(function, measured.begin, lambda steps: Driven(steps, watch))


class _Measured:
    """All calls of one function."""

    def __init__(self, code: CodeType, name: str, memory: bool) -> None:
        self.code = code
        self.name = name
        self.memory = memory
        self._threads: list[_ThreadLines] = []
        self._mine = threading.local()
        self.by_frame: dict[int, _Call] = {}
        self.watch: Watch | None = watch_code(code, self.thread)

    def begin(self) -> _Call:
        """A call begins."""
        return _Call(self)

    def thread(self) -> _ThreadLines:
        """What the calling thread measured; no other writes to it."""
        found: _ThreadLines | None = getattr(self._mine, "lines", None)
        if found is None:
            found = self._mine.lines = _ThreadLines(self.memory, self.by_frame)
            self._threads.append(found)
        return found

    def summed(self) -> FunctionLines:
        """Over all threads."""
        lines: dict[int, LineSum] = {}
        for thread in list(self._threads):
            for number, part in list(thread.sums.items()):
                lines.setdefault(number, LineSum()).add(part)
        calls = sum(thread.calls for thread in list(self._threads))
        return FunctionLines(
            self.name, self.code.co_filename, self.code.co_firstlineno, calls, lines
        )

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self._threads = []
        self.by_frame = {}
        self._mine = threading.local()


class _ThreadLines:
    """Lines of one function in one thread. A line may run several times at once: recursion."""

    def __init__(self, memory: bool, by_frame: dict[int, _Call]) -> None:
        self.memory = memory
        self.calls = 0
        self.sums: dict[int, LineSum] = {}
        self.waiting: _Call | None = None  # a call whose frame has not begun yet
        self.by_frame = by_frame  # of all threads: a generator may go on in another one

    # Called by the watch. Frames of calls that did not come through the decorator are not known.

    def begin_frame(self, frame: int) -> bool:
        """The function's own frame begins; whether a call waited for it."""
        call, self.waiting = self.waiting, None
        if call is None:
            return False
        call.frame = frame
        self.by_frame[frame] = call
        return True

    def line(self, frame: int, number: int) -> None:
        """That frame comes to this line."""
        at = _now()
        call = self.by_frame.get(frame)
        if call is None:
            return
        memory = self._memory_now()
        if call.line:
            self._end(call.line, at, memory)
        call.line = number
        self._start(number, 1, memory)

    def suspend(self, frame: int) -> None:
        """That frame gives way and is resumed later."""
        at = _now()
        call = self.by_frame.get(frame)
        if call is not None and call.line:
            call.suspended = call.line
            self.end_line(call, at)

    def resume(self, frame: int) -> None:
        """Goes on where it was suspended, maybe in another thread than before."""
        call = self.by_frame.get(frame)
        if call is not None and not call.line and call.suspended:
            call.line, call.suspended = call.suspended, 0
            self._start(call.line, 0, self._memory_now())

    def end_line(self, call: _Call, at: int) -> None:
        """The line that a call runs is left, and no other begins."""
        line, call.line = call.line, 0
        self._end(line, at, self._memory_now())

    def _memory_now(self) -> tuple[int, int]:
        """Of the process and of the GPU."""
        return (resident_bytes(), _device_bytes()) if self.memory else (0, 0)

    def _start(self, number: int, hits: int, memory: tuple[int, int]) -> None:
        found = self.sums.get(number)
        if found is None:
            found = self.sums[number] = LineSum()
        found.hits += hits
        found.open += 1
        if found.open == 1:
            found.rss_before, found.device_before = memory
            found.begun_ns = _now()  # last: looking at memory is not the line's time

    def _end(self, number: int, at: int, memory: tuple[int, int]) -> None:
        found = self.sums.get(number)
        if found is None:  # forgotten by a fork while it ran
            return
        found.open -= 1
        if found.open == 0:
            found.time_ns += at - found.begun_ns
            found.rss_bytes += memory[0] - found.rss_before
            found.device_bytes += memory[1] - found.device_before


class _Call:
    """One call, as a context manager around it: however it ends, its last line ends too."""

    def __init__(self, measured: _Measured) -> None:
        self._measured = measured
        # What runs in steps is watched step by step instead.
        self._watch = None if measured.code.co_flags & _RUNS_IN_STEPS else measured.watch
        self.frame = 0
        self.line = 0  # that runs now
        self.suspended = 0  # that goes on later

    def __enter__(self) -> None:
        thread = self._measured.thread()
        thread.calls += 1
        if self._watch is not None:
            self._watch.enter()
        thread.waiting = self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        at = _now()
        thread = self._measured.thread()
        if self._watch is not None:
            self._watch.leave()
        if self.line:
            thread.end_line(self, at)
        thread.by_frame.pop(self.frame, None)
        if thread.waiting is self:
            thread.waiting = None


def _device_bytes() -> int:
    """Allocated by torch on the current GPU; 0 where none is in use."""
    torch: Any = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return 0
    return int(cuda.memory_allocated())


_measured_functions: list[_Measured] = []


def _forget_in_child() -> None:
    for measured in _measured_functions:
        measured.forget()


os.register_at_fork(after_in_child=_forget_in_child)
