"""What a process records of itself comes back: nested, by task, through forks, kills and errors."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope import _capture, ranges


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Path]:
    _capture.start(str(tmp_path), "events.scope", {"rank": "2"})
    yield tmp_path
    _capture.stop()


def annotations(folder: Path) -> list[dict[str, Any]]:
    """The annotations of the recording, which must be whole."""
    _capture.stop()
    run = stepscope.open(folder / "events.scope")
    return list(run.annotations().table.rows())


def by_name(folder: Path) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in annotations(folder)}


def test_ranges_nest(recording: Path) -> None:
    for _ in range(3):
        with ranges.range("step"), ranges.range("forward"):
            pass
    found = by_name(recording)
    assert found["step"]["count"] == 3
    assert found["forward"]["count"] == 3


def test_functions_keep_what_they_are(recording: Path) -> None:
    @ranges.range
    def plain(x: int) -> int:
        """Doubles."""
        return 2 * x

    @ranges.range("produced")
    def generator() -> Iterator[int]:
        yield 1
        yield 2

    @ranges.range
    async def coroutine() -> int:
        await asyncio.sleep(0)
        return 3

    assert plain(4) == 8
    assert (plain.__name__, plain.__doc__) == ("plain", "Doubles.")
    assert list(generator()) == [1, 2]
    assert asyncio.run(coroutine()) == 3
    names = by_name(recording)
    assert "produced" in names
    assert any(name.endswith("plain") for name in names)
    assert any(name.endswith("coroutine") for name in names)


def test_errors_pass_through(recording: Path) -> None:
    with pytest.raises(ValueError, match="from within"), ranges.range("fails"):
        raise ValueError("from within")
    assert by_name(recording)["fails"]["count"] == 1


def test_tasks_nest_in_themselves(recording: Path) -> None:
    async def task(number: int) -> None:
        with ranges.range("outer"):
            await asyncio.sleep(0.002 * (5 - number))
            with ranges.range("inner"):
                await asyncio.sleep(0.002)

    async def main() -> None:
        await asyncio.gather(*(task(number) for number in range(5)))

    asyncio.run(main())
    found = by_name(recording)
    assert found["outer"]["count"] == found["inner"]["count"] == 5
    # Were they on one track, they would overlap without nesting.
    notes = {note["id"] for note in stepscope.open(recording / "events.scope").notes}
    assert "overlapping_spans" not in notes


def test_threads_and_logs(recording: Path) -> None:
    logger = logging.getLogger("training")
    handler = ranges.LogHandler()
    logger.addHandler(handler)

    def work() -> None:
        with ranges.range("in a thread"):
            logger.warning("loss is %s", "nan")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    logger.removeHandler(handler)
    assert by_name(recording)["in a thread"]["count"] == 4
    assert _capture.cost()["log_lines"] == 4


def test_above_methods_of_a_class(recording: Path) -> None:
    class Model:
        @ranges.range
        @classmethod
        def made(cls) -> str:
            return cls.__name__

        @ranges.range("named")
        @staticmethod
        def still() -> int:
            return 3

    assert (Model.made(), Model.still()) == ("Model", 3)
    with ranges.range(""):
        pass
    found = by_name(recording)
    assert found["named"]["count"] == found["(no name)"]["count"] == 1
    assert [name for name in found if name.endswith("Model.made")]


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="counter takes name, value"):
        ranges.counter("loss")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="counter takes name, value"):
        ranges.counter("loss", name=3)  # type: ignore[call-arg,misc,arg-type]
    with pytest.raises(TypeError, match="instant takes name"):
        ranges.instant(title="checkpoint")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="a range stands above a function: below property"):
        ranges.range(property(lambda self: 1))  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="a range stands above a function, not above 3"):
        ranges.range("named")(3)  # type: ignore[type-var]


def test_arguments_have_names(recording: Path) -> None:
    with ranges.range(name="forward"):
        ranges.instant(name="checkpoint")
        ranges.counter("loss", value=0.5)
        ranges.counter(value=0.5, name="loss")
    assert "forward" in by_name(recording)
    assert _capture.cost()["records"] == 2 + 1 + 2 * 2


def test_names_that_are_no_texts_are_taken_as_they_show_themselves(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stepscope.recording.profile._warned", set())

    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("not now")

    class Hashless(str):
        __hash__ = None  # type: ignore[assignment]

    with pytest.warns(stepscope.RecordingWarning) as warnings:
        for name in (3, None, ("a", 1), Odd(), Hashless("no hash"), 4):
            with ranges.range(name):  # type: ignore[arg-type]
                ranges.instant(name)  # type: ignore[arg-type]
                ranges.counter(name, 1)  # type: ignore[arg-type]
    names = set(by_name(recording))
    assert {"3", "None", "('a', 1)", "(a Odd that cannot be shown)", "no hash", "4"} <= names
    assert sorted(str(one.message) for one in warnings) == [
        f"the name of {what} is a text, not int; it is recorded as '3'"
        for what in ("a counter", "a range", "an instant")
    ]


def test_too_many_names_take_no_more_memory(tmp_path: Path) -> None:
    """One per step is a usual mistake; ranges go on, and what was known stays known."""
    done = run_script(
        tmp_path,
        """
        def held():
            pages = int(open("/proc/self/statm").read().split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE")
        for number in range(1 << 17):
            with ranges.range(f"step {number}"): pass
        before = held()
        for number in range(1 << 17, 1 << 19):
            with ranges.range(f"step {number}"): pass
        with ranges.range("step 1"): pass
        print(held() - before)
        """,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 16 << 20
    assert done.stderr.count("so many names were given to ranges") == 1
    run = stepscope.open(tmp_path / "events.scope")
    rows = run.annotations(top=0).table.rows()
    found = {row["name"]: row["count"] for row in rows}
    assert found["step 1"] == 2
    lost = run.info["recordings"][0]["dropped_records"]
    assert 3 * (1 << 17) - lost <= found["(further names)"] <= 3 * (1 << 17) + 100


def test_one_recording_at_a_time(recording: Path) -> None:
    with pytest.raises(OSError, match="recording already"):
        _capture.start(str(recording), "other.scope", {})
    _capture.stop()
    with pytest.raises(OSError, match="exists already"):
        _capture.start(str(recording), "events.scope", {})


def run_script(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """A program of its own, because it forks or dies."""
    head = "import os, signal, sys, time\nfrom stepscope import _capture, ranges\n"
    head += f"_capture.start({str(folder)!r}, 'events.scope', {{}})\n"
    return subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_a_killed_process_leaves_what_it_did(tmp_path: Path) -> None:
    done = run_script(
        tmp_path,
        """
        for _ in range(100):
            with ranges.range("work"):
                pass
        with ranges.range("epoch"):
            time.sleep(0.6)
            os.kill(os.getpid(), signal.SIGKILL)
        """,
    )
    assert done.returncode == -signal.SIGKILL
    run = stepscope.open(tmp_path / "events.scope")
    found = {row["name"]: row for row in run.annotations().table.rows()}
    assert found["work"]["count"] == 100
    assert found["epoch"]["count"] == 1  # open when it died: known all the same
    assert {note["id"] for note in run.notes} >= {"not_finished", "unclosed_begin"}


def test_a_forked_child_writes_its_own(tmp_path: Path) -> None:
    done = run_script(
        tmp_path,
        """
        with ranges.range("parent"):
            child = os.fork()
            if child == 0:
                with ranges.range("child"):
                    pass
                _capture.stop()
                os._exit(0)
            os.waitpid(child, 0)
        """,
    )
    assert done.returncode == 0, done.stderr
    (worker,) = tmp_path.glob("worker-*.scope")
    names = [row["name"] for row in stepscope.open(worker).annotations().table.rows()]
    assert names == ["child"]


def test_finished_at_exit(tmp_path: Path) -> None:
    done = run_script(tmp_path, "ranges.range('at the end').__enter__()\n")
    assert done.returncode == 0, done.stderr
    notes = {note["id"] for note in stepscope.open(tmp_path / "events.scope").notes}
    assert "not_finished" not in notes
