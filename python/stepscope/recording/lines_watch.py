"""Reports to `lines` what a function does: sys.monitoring, or a trace function before Python 3.12.

Both report the same four things, with the number of the frame they are about: it begins, comes to a
line, gives way, goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from types import CodeType, FrameType
from typing import Any, Protocol


class Listener(Protocol):
    """Called in the thread in which it happens."""

    def begin_frame(self, frame: int) -> bool:
        """A frame begins; whether anybody waited for one."""

    def line(self, frame: int, number: int) -> None:
        """It comes to a line."""

    def suspend(self, frame: int) -> None:
        """It gives way, or ends."""

    def resume(self, frame: int) -> None:
        """It goes on."""


FindListener = Callable[[], Listener]


class Watch(Protocol):
    """Something that has to be there while a call runs."""

    def enter(self) -> None:
        """The calling thread runs the function from here."""

    def leave(self) -> None:
        """Up to here."""


def watch_code(code: CodeType, listener: FindListener) -> Watch | None:
    """From now on the listener of the running thread hears of this code; None: nothing to do.

    With sys.monitoring nothing but this code object is touched, and it costs others nothing.
    """
    if hasattr(sys, "monitoring"):
        tool = _monitoring_tool()
        if tool is not None:
            _watched[code] = listener
            events = sys.monitoring.events
            sys.monitoring.set_local_events(
                tool, code, events.PY_START | events.LINE | events.PY_YIELD | events.PY_RESUME
            )
            return None
    return _Tracing(code, listener)


_watched: dict[CodeType, FindListener] = {}
_tool: int | None = None


def _monitoring_tool() -> int | None:
    """A free number; None where all are taken."""
    global _tool
    monitoring = sys.monitoring  # type: ignore[attr-defined]
    if _tool is not None:
        return _tool
    for number in (monitoring.PROFILER_ID, 3, 4):
        try:
            monitoring.use_tool_id(number, "stepscope.lines")
        except ValueError:
            continue
        _tool = number
        events = monitoring.events
        monitoring.register_callback(number, events.PY_START, _on_start)
        monitoring.register_callback(number, events.LINE, _on_line)
        monitoring.register_callback(number, events.PY_YIELD, _on_yield)
        monitoring.register_callback(number, events.PY_RESUME, _on_resume)
        return number
    return None


def _on_start(code: CodeType, offset: int) -> None:
    _watched[code]().begin_frame(id(sys._getframe(1)))


def _on_line(code: CodeType, number: int) -> None:
    _watched[code]().line(id(sys._getframe(1)), number)


def _on_yield(code: CodeType, offset: int, value: object) -> None:
    _watched[code]().suspend(id(sys._getframe(1)))


def _on_resume(code: CodeType, offset: int) -> None:
    _watched[code]().resume(id(sys._getframe(1)))


class _Tracing:
    """A trace function while calls run; one that was set before still gets everything."""

    def __init__(self, code: CodeType, listener: FindListener) -> None:
        self._code = code
        self._listener = listener

    def enter(self) -> None:
        """A call begins in this thread."""
        traced = _traced_by(sys.gettrace())
        if traced is None:
            traced = _Traced(sys.gettrace())
            sys.settrace(_tracer(traced))
        traced.calls[self._code] = traced.calls.get(self._code, 0) + 1
        traced.listeners[self._code] = self._listener

    def leave(self) -> None:
        """A call ended in this thread; the last one takes the trace function away."""
        traced = _traced_by(sys.gettrace())
        if traced is None:
            return
        traced.calls[self._code] -= 1
        if traced.calls[self._code] > 0:
            return
        del traced.calls[self._code]
        if not traced.calls:
            sys.settrace(traced.before)


class Driven:
    """A generator or coroutine that is watched only while it runs, in whatever thread that is."""

    def __init__(self, steps: Any, watch: Watch) -> None:
        self._steps = steps
        self._watch = watch

    def __iter__(self) -> Generator[Any, Any, Any]:
        step, argument = self._steps.send, None
        while True:
            self._watch.enter()
            try:
                item = step(argument)
            except StopIteration as stop:
                return stop.value
            finally:
                self._watch.leave()
            try:
                argument = yield item
                step = self._steps.send
            except GeneratorExit:
                self._close()
                raise
            except BaseException as error:
                step, argument = self._steps.throw, error

    __await__ = __iter__

    def _close(self) -> None:
        self._watch.enter()
        try:
            self._steps.close()
        finally:
            self._watch.leave()


class _Traced:
    """What the trace function of one thread is there for."""

    def __init__(self, before: Any) -> None:
        self.before = before
        self.calls: dict[CodeType, int] = {}  # under way
        self.listeners: dict[CodeType, FindListener] = {}


def _tracer(traced: _Traced) -> Any:
    """A trace function; a plain one, since every call that is made meanwhile comes through it."""
    calls, before = traced.calls, traced.before

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        theirs = before(frame, event, argument) if before is not None else None
        if code not in calls:
            return theirs
        find = traced.listeners[code]
        listener = find()
        # A call that waits for its frame has it here; else a frame goes on.
        if not listener.begin_frame(id(frame)):
            listener.resume(id(frame))
        return _frame_tracer(find, theirs)

    trace.traced = traced  # type: ignore[attr-defined]
    return trace


def _traced_by(function: Any) -> _Traced | None:
    found = getattr(function, "traced", None)
    return found if isinstance(found, _Traced) else None


def _frame_tracer(find: FindListener, theirs: Any) -> Any:
    """Reports one frame, also to the tracer that the previous trace function made for it."""

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal theirs
        if theirs is not None:
            theirs = theirs(frame, event, argument)
        if event == "line":
            find().line(id(frame), frame.f_lineno)
        elif event == "return":  # or yield: the end of a call is reported by its caller
            find().suspend(id(frame))
        return trace

    return trace
