"""A function with something around each of its calls, whatever kind of function it is.

Around a generator or a coroutine that is its whole life, from the first step to the last.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractContextManager
from typing import Any

Begin = Callable[[], AbstractContextManager[Any]]
Drive = Callable[[Any], Any]


def around(
    function: Callable[..., Any], begin: Begin, drive: Drive = lambda steps: steps
) -> Callable[..., Any]:
    """The same kind of function, with `with begin():` around what it does.

    What runs in steps (a generator, a coroutine) is handed to `drive` and what that gives is run.
    """
    if inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        async def around_async_generator(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
            with begin():
                inner = function(*args, **kwargs)
                is_over = False
                try:
                    item = await drive(inner.__anext__())
                    while True:
                        try:
                            sent = yield item
                        except GeneratorExit:  # noqa: PERF203  # each item may be answered by one
                            raise
                        except BaseException as error:
                            item = await drive(inner.athrow(error))
                        else:
                            item = await drive(inner.asend(sent))
                except StopAsyncIteration:
                    is_over = True
                finally:
                    if not is_over:  # else there is nothing left that could run
                        await drive(inner.aclose())

        return around_async_generator
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def around_coroutine(*args: Any, **kwargs: Any) -> Any:
            with begin():
                return await drive(function(*args, **kwargs))

        return around_coroutine
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def around_generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            with begin():
                return (yield from drive(function(*args, **kwargs)))

        return around_generator

    @functools.wraps(function)
    def around_call(*args: Any, **kwargs: Any) -> Any:
        with begin():
            return function(*args, **kwargs)

    return around_call


def resumed_within(begin: Begin, inner: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """The same generator, with `with begin():` around each time it runs."""
    resume: Callable[[], Any] = functools.partial(next, inner)
    while True:
        try:
            with begin():
                item = resume()
        except StopIteration as end:
            return end.value
        try:
            sent = yield item
        except GeneratorExit:
            with begin():  # what it does to end, such as shutting workers down
                inner.close()
            raise
        except BaseException as error:
            resume = functools.partial(inner.throw, error)
        else:
            resume = functools.partial(inner.send, sent)


async def awaited_within(begin: Begin, inner: Awaitable[Any]) -> Any:
    """The same, with `with begin():` around the time until it is there."""
    with begin():
        return await inner
