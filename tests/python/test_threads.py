"""Python's lock is free while the core works."""

import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import stepscope

pytestmark = pytest.mark.timing_sensitive(reason="another thread must get its turn in time")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace that takes many milliseconds to read."""
    path = tmp_path_factory.mktemp("large") / "large.json"
    event = '{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":%d,"dur":1},\n'
    with path.open("w") as file:
        file.write('{"traceEvents":[\n')
        file.writelines(event % (2 * i) for i in range(1_500_000))
        file.write('{"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}}]}')
    return path


@pytest.fixture
def beats() -> Iterator[Callable[[], int]]:
    """Counts what another Python thread does.

    No thread is made to hand over the lock: the count moves between two looks only if the thread
    that looks gave it away by itself.
    """
    count, done = itertools.count(), threading.Event()
    last = [0]

    def beat() -> None:
        while not done.is_set():
            last[0] = next(count)
            time.sleep(0)

    before = sys.getswitchinterval()
    heart = threading.Thread(target=beat)
    heart.start()
    sys.setswitchinterval(60)
    yield lambda: last[0]
    sys.setswitchinterval(before)
    done.set()
    heart.join()


def test_without_the_core_nothing_moves(beats: Callable[[], int]) -> None:
    """That the heart can be stopped at all: Python alone keeps the lock."""
    before = beats()
    sum(range(2_000_000))
    assert beats() == before


def test_python_runs_while_a_file_is_read(large: Path, beats: Callable[[], int]) -> None:
    before = beats()
    stepscope.open(large, jobs=1)
    assert beats() > before


def test_python_runs_while_a_question_is_answered(large: Path, beats: Callable[[], int]) -> None:
    run = stepscope.open(large, jobs=1)
    for _ in range(20):  # the other thread must also be given a processor meanwhile
        before = beats()
        run.operators()
        if beats() > before:
            return
    pytest.fail("the lock was never free")


def test_two_loads_are_under_way_at_once(large: Path) -> None:
    """Each load waits, at its first sign of progress, for that of the other."""
    meeting = threading.Barrier(2)
    met: list[int] = []

    def load() -> None:
        waited: list[int] = []

        def wait_once(_done: int, _total: int) -> None:
            if not waited:
                waited.append(meeting.wait(60))

        stepscope.open(large, jobs=1, progress=wait_once)
        met.extend(waited)

    loads = [threading.Thread(target=load) for _ in "ab"]
    for thread in loads:
        thread.start()
    for thread in loads:
        thread.join()
    assert sorted(met) == [0, 1]


@pytest.fixture
def _hears_ctrl_c() -> Iterator[None]:
    """As in a fresh interpreter: a notebook run in this process left it deaf to the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_hears_ctrl_c")
@pytest.mark.parametrize("text", ['{"traceEvents":[', ""], ids=["silent", "unopened"])
def test_ctrl_c_ends_waiting_for_a_pipe(tmp_path: Path, text: str) -> None:
    """No more text ever comes: only the signal can end the reading."""
    pipe = tmp_path / "trace.json"
    os.mkfifo(pipe)
    ended = threading.Event()
    in_time: list[bool] = []

    def press() -> None:
        if not text:
            time.sleep(0.2)  # nothing shows when the reader has begun to wait for a writer
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        in_time.append(ended.wait(30))

    def feed() -> None:
        if not text:
            press()
            return
        with pipe.open("w") as file:  # opens when the reader does
            file.write(text)
            file.flush()
            press()

    feeding = threading.Thread(target=feed)
    feeding.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            stepscope.open(pipe)
    finally:
        ended.set()
        feeding.join()
    assert in_time == [True]


def test_a_mistake_in_progress_ends_reading_and_is_shown(large: Path) -> None:
    def mistake(_done: int, _total: int) -> None:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        stepscope.open(large, jobs=1, progress=mistake)
    assert stepscope.open(large).ranks == [0]
