"""Functions whose lines are measured, and how often each line was hit: the same in every Python.

    python lines_scenarios.py PACKAGE_FOLDER

Needs nothing but the standard library: the extensions of the package are made for one Python, and
this runs with others, too.
"""

import asyncio
import contextlib
import json
import sys
import types
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def hits(module: Any) -> dict[str, Any]:
    """By function and by line, counted from the function's first."""

    def lines(name: str) -> Callable[[F], F]:
        measured: Callable[[F], F] = module.lines(name=name)
        return measured

    @lines("plain")
    def plain(count: int) -> int:
        total = 0
        for i in range(count):
            total += i
        return total

    @lines("recursive")
    def recursive(depth: int) -> int:
        if depth == 0:
            return 0
        return 1 + recursive(depth - 1)

    @lines("raises")
    def raises() -> None:
        error = ValueError("no")
        raise error

    @lines("generator")
    def generator(count: int) -> Iterator[int]:
        for i in range(count):
            yield 2 * i

    @lines("coroutine")
    async def coroutine(count: int) -> int:
        for _ in range(count):
            await asyncio.sleep(0)
        return count

    @lines("async generator")
    async def async_generator(count: int) -> AsyncIterator[int]:
        for i in range(count):
            await asyncio.sleep(0)
            yield i

    async def use() -> None:
        assert list(await asyncio.gather(coroutine(3), coroutine(4))) == [3, 4]
        assert [item async for item in async_generator(3)] == [0, 1, 2]

    assert plain(5) == 10
    assert recursive(6) == 6
    with contextlib.suppress(ValueError):
        raises()
    assert list(generator(3)) == [0, 2, 4]
    begun: Any = generator(3)
    assert next(begun) == 0
    begun.close()
    asyncio.run(use())
    return {
        each.name: {
            "calls": each.calls,
            "open": sum(line.open for line in each.lines.values()),
            "hits": {str(n - each.first_line): line.hits for n, line in sorted(each.lines.items())},
        }
        for each in module.measured_lines()
        if each.calls and each.file == __file__
    }


if __name__ == "__main__":
    package: Any = types.ModuleType("stepscope")
    package.__path__ = [sys.argv[1]]
    sys.modules["stepscope"] = package
    from stepscope.recording import lines as module

    watched = "monitoring" if hasattr(sys, "monitoring") else "trace"
    found = hits(module)
    print(json.dumps({"watched": watched, "gettrace": repr(sys.gettrace()), "found": found}))
