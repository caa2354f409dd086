"""The live rate of a loop, drawn by the real tqdm and the real rich, and without either."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable

import pytest
from framework_page import need
from recorded_program import Script, environment

from stepscope.recording.loading import live

MakeScript = Callable[[str], Script]

LOOP = """
    import sys, time
    for name in sys.argv[1].split(","):
        sys.modules[name] = None  # as if it were not installed
    import stepscope
    with stepscope.profile("run", trace=False) as prof:
        for _ in prof.watch([[1, 2, 3]] * 8, progress=True, phase="validation"):
            time.sleep(0.12)
        print("after the loop", file=sys.stderr)
"""


def on_a_terminal(program: Script, *words: str) -> str:
    """What a terminal of 100 columns is sent."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    pieces: list[bytes] = []

    def read() -> None:
        while True:
            try:
                piece = os.read(leader, 1 << 16)
            except OSError:  # the other end is closed
                return
            if not piece:
                return
            pieces.append(piece)

    reader = threading.Thread(target=read)
    reader.start()
    done = subprocess.run(
        [program.python, str(program.file), *words],
        stdout=subprocess.PIPE,
        stderr=follower,
        cwd=program.file.parent,
        env=environment(TERM="xterm"),
        check=False,
        timeout=120,
    )
    os.close(follower)
    reader.join()
    os.close(leader)
    text = b"".join(pieces).decode()
    assert done.returncode == 0, text
    return text


class Shown:
    """A bar that is not seen."""

    def __init__(self) -> None:
        self.rates: list[str] = []

    def show(self, done: int, rate: str) -> None:
        self.rates.append(rate)

    def end(self) -> None:
        pass


def test_the_first_stretch_is_not_in_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers start for 5 s, the first step compiles for 8 s, then a step takes 10 ms."""
    now = 100.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    bar = Shown()
    rate = live.LiveRate(bar)
    now += 5
    rate.advance(32)
    assert bar.rates == [""]  # nothing is known yet
    now += 8
    rate.advance(32)
    for _ in range(100):
        now += 0.01
        rate.advance(32)
    assert bar.rates[1] == "0.125 it/s, 4 samples/s"
    assert set(bar.rates[2:]) == {"100 it/s, 3,200 samples/s"}


def test_nothing_is_drawn_without_a_terminal(script: MakeScript) -> None:
    done = script(LOOP).run("nothing")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "after the loop\n")


@pytest.mark.parametrize(
    ("hidden", "drawn"),
    [
        ("tqdm,rich", "validation: 8/8 ["),
        ("rich", "validation: 100%|█"),  # tqdm's
        ("tqdm", "━"),  # rich's
    ],
)
def test_a_terminal_shows_the_live_rate(training: MakeScript, hidden: str, drawn: str) -> None:
    program = training(LOOP)
    wanted = {"tqdm", "rich"} - set(hidden.split(","))
    need(program.python, *sorted(wanted))
    text = on_a_terminal(program, hidden)
    assert drawn in text
    assert "validation" in text
    assert "it/s" in text
    assert "samples/s" in text
    # The bar is gone, and the line is free for what comes next.
    assert text.endswith("after the loop\r\n")
    last = text.removesuffix("after the loop\r\n")
    assert last.endswith(("\r", "\x1b[2K")), last[-40:]
