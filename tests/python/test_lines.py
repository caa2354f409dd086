"""`stepscope.lines`: time and memory of each line of one function."""

import asyncio
import inspect
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from program import ROOT

from stepscope import UsageError
from stepscope.recording.lines import lines, lines_report, measured_lines
from stepscope.recording.lines_report import FunctionLines

pytestmark = pytest.mark.timing_sensitive(reason="times of lines are compared")

MS = 1_000_000


def measured_function(name: str) -> FunctionLines:
    """What was measured of the last function of that name."""
    return next(found for found in reversed(measured_lines()) if found.name == name)


def by_offset(name: str) -> dict[int, Any]:
    """Its lines, counted from the line of its first decorator."""
    found = measured_function(name)
    return {number - found.first_line: line for number, line in found.lines.items()}


def test_lines_of_a_function_have_hits_and_time() -> None:
    @lines(name="plain")
    def work(times: int) -> int:
        total = 0
        for i in range(times):
            total += i
        time.sleep(0.03)
        return total

    assert work(10) == 45
    assert work(5) == 10
    assert measured_function("plain").calls == 2
    found = by_offset("plain")
    assert {n: line.hits for n, line in found.items()} == {2: 2, 3: 17, 4: 15, 5: 2, 6: 2}
    assert 60 * MS <= found[5].time_ns < 500 * MS
    assert found[2].time_ns < 20 * MS


def test_an_exception_ends_the_line_it_came_from() -> None:
    @lines(name="raises")
    def work() -> None:
        time.sleep(0.02)
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            work()
    time.sleep(0.05)
    found = by_offset("raises")
    assert [found[2].hits, found[3].hits] == [2, 2]
    assert found[3].time_ns < 20 * MS
    assert all(line.open == 0 for line in measured_function("raises").lines.values())


def test_in_a_recursion_a_line_counts_once() -> None:
    @lines(name="recursive")
    def work(depth: int) -> int:
        if depth == 0:
            time.sleep(0.03)
            return 0
        return 1 + work(depth - 1)

    begin = time.perf_counter_ns()
    assert work(20) == 20
    whole = time.perf_counter_ns() - begin
    found = by_offset("recursive")
    assert measured_function("recursive").calls == 21
    assert found[5].hits == 20
    assert 30 * MS <= found[5].time_ns <= whole
    assert 30 * MS <= found[3].time_ns <= whole


def test_a_generator_takes_no_time_while_it_waits() -> None:
    @lines(name="generator")
    def items() -> Iterator[int]:
        for i in range(3):
            time.sleep(0.01)
            yield i

    assert inspect.isgeneratorfunction(items)
    got = []
    for item in items():
        time.sleep(0.03)
        got.append(item)
    assert got == [0, 1, 2]
    found = by_offset("generator")
    assert found[4].hits == 3
    assert found[4].time_ns < 30 * MS
    assert 30 * MS <= found[3].time_ns < 90 * MS


def test_a_generator_that_is_closed_early_is_right() -> None:
    @lines(name="closed")
    def items() -> Iterator[int]:
        try:
            yield 1
            yield 2
        finally:
            time.sleep(0.01)

    generator: Any = items()
    assert next(generator) == 1
    generator.close()
    found = by_offset("closed")
    assert found[6].time_ns >= 10 * MS
    assert all(line.open == 0 for line in measured_function("closed").lines.values())


def test_coroutines_are_measured_apart() -> None:
    @lines(name="coroutine")
    async def work(seconds: float) -> float:
        await asyncio.sleep(seconds)
        time.sleep(0.005)
        return seconds

    async def both() -> list[float]:
        return list(await asyncio.gather(work(0.05), work(0.05)))

    assert asyncio.run(both()) == [0.05, 0.05]
    found = by_offset("coroutine")
    assert found[2].hits == 2
    assert found[2].time_ns < 40 * MS, "waiting is not running"
    assert 10 * MS <= found[3].time_ns < 40 * MS
    assert all(line.open == 0 for line in measured_function("coroutine").lines.values())


def test_async_generators_can_be_sent_to() -> None:
    @lines(name="async generator")
    async def echo() -> AsyncIterator[Any]:
        got = yield 0
        while True:
            got = yield got

    async def use() -> list[Any]:
        generator: Any = echo()
        first = await generator.asend(None)
        rest = [await generator.asend(i) for i in (1, 2)]
        await generator.aclose()
        return [first, *rest]

    assert asyncio.run(use()) == [0, 1, 2]
    assert by_offset("async generator")[4].hits == 2


def test_threads_lose_nothing() -> None:
    @lines(name="threads", memory=False)
    def work() -> None:
        for _ in range(1000):
            pass

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = by_offset("threads")
    assert measured_function("threads").calls == 8
    assert found[3].hits == 8000


def test_a_generator_may_go_on_in_another_thread() -> None:
    @lines(name="moved")
    def items() -> Iterator[int]:
        yield 1
        time.sleep(0.01)
        yield 2

    generator = items()
    assert next(generator) == 1
    rest: list[int] = []
    thread = threading.Thread(target=lambda: rest.extend(generator))
    thread.start()
    thread.join()
    assert rest == [2]
    found = by_offset("moved")
    assert found[3].time_ns >= 10 * MS
    assert all(line.open == 0 for line in measured_function("moved").lines.values())


def test_memory_of_the_process_is_seen() -> None:
    @lines(name="memory")
    def work() -> bytes:
        kept = bytes(range(256)) * (200_000)
        time.sleep(0)
        return kept

    kept = work()
    found = by_offset("memory")
    assert found[2].rss_bytes > 0.8 * len(kept)
    assert abs(found[3].rss_bytes) < 1 << 20


def test_other_functions_are_not_traced() -> None:
    seen = []

    def other() -> Any:
        seen.append(sys._getframe().f_trace)
        return 1

    @lines(name="alone")
    def work() -> None:
        other()

    before = sys.gettrace()
    work()
    assert seen == [None] or before is not None
    assert sys.gettrace() is before
    assert [found.name for found in measured_lines()].count("alone") == 1


@pytest.mark.skipif(hasattr(sys, "monitoring"), reason="nothing is traced from 3.12 on")
def test_a_trace_function_that_is_there_still_gets_everything() -> None:
    events: list[str] = []

    def tracer(frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code.co_name == "traced":
            events.append(event)
            return tracer
        return None

    @lines(name="traced too")
    def traced() -> int:
        return 1

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        traced()
        after = sys.gettrace()
    finally:
        sys.settrace(before)
    assert after is tracer
    assert events == ["call", "line", "return"]
    assert by_offset("traced too")[2].hits == 1


def test_only_python_functions_have_lines() -> None:
    with pytest.raises(TypeError, match="functions written in Python"):
        lines(len)


def test_a_name_is_a_text() -> None:
    with pytest.raises(UsageError, match="lines: name is a text, not 5"):
        lines(name=5)  # type: ignore[call-overload]


def test_the_report_is_a_table_with_the_source() -> None:
    @lines(name="reported")
    def work() -> int:
        return 1 + 1

    work()
    text = lines_report()
    part = text[text.index("reported") :]
    assert "calls: 1" in part
    assert "line  hits" in part
    assert "return 1 + 1" in part
    (row,) = measured_function("reported").as_json()["lines"]
    assert row["text"].strip() == "return 1 + 1"
    assert row["hits"] == 1


def newer_python() -> tuple[str, dict[str, str]]:
    """A Python that has sys.monitoring, and the variables it needs."""
    for name in ("python3.12", "python3.13", "python3.14"):
        versions = [""]
        if shutil.which("pyenv"):
            every = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True)
            versions += [v for v in every.stdout.split() if v.startswith(name[6:])]
        for version in versions:
            env = {**os.environ, **({"PYENV_VERSION": version} if version else {})}
            if shutil.which(name) is None:
                continue
            if subprocess.run([name, "-c", ""], capture_output=True, env=env).returncode == 0:
                return name, env
    pytest.skip("no Python of 3.12 or later is here")


def test_both_ways_of_watching_see_the_same() -> None:
    """Of this Python and of a newer one; of this one twice, in another process too."""
    script = Path(__file__).with_name("lines_scenarios.py")
    package = str(ROOT / "python" / "stepscope")
    name, env = newer_python()
    answers = []
    for python in (sys.executable, name):
        done = subprocess.run([python, script, package], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout))
    here, there = answers
    assert there["watched"] == "monitoring"
    assert here["gettrace"] == there["gettrace"] == "None"
    assert here["found"] == there["found"]
    assert here["found"]["plain"] == {
        "calls": 1,
        "open": 0,
        "hits": {"2": 1, "3": 6, "4": 5, "5": 1},
    }
    assert here["found"]["recursive"]["hits"] == {"2": 7, "3": 1, "4": 6}
    assert here["found"]["generator"]["calls"] == 2
    assert sum(each["open"] for each in here["found"].values()) == 0
