"""The live rate of a loop, drawn by the real tqdm and the real rich, and by nobody."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
from collections.abc import Callable

import pytest
from recorded_program import Script, environment

MakeScript = Callable[[str], Script]

LOOP = """
    import sys, time
    for name in sys.argv[1].split(","):
        sys.modules[name] = None  # as if it were not installed
    import stepscope
    with stepscope.profile("run", trace=False) as prof:
        for _ in prof.watch([[1, 2, 3]] * 8, progress=True, phase="validation"):
            time.sleep(0.12)
        print("behind the loop", file=sys.stderr)
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


def test_nothing_is_drawn_without_a_terminal(script: MakeScript) -> None:
    done = script(LOOP).run("nothing")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "behind the loop\n")


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
    for name in wanted:
        found = subprocess.run([program.python, "-c", f"import {name}"], check=False)
        if found.returncode != 0:
            pytest.skip(f"{name} is not in {program.python}; tools/training_env puts it there")
    text = on_a_terminal(program, hidden)
    assert drawn in text
    assert "validation" in text
    assert "it/s" in text
    assert "samples/s" in text
    # The bar is gone, and the line is free for what comes next.
    assert text.endswith("behind the loop\r\n")
    last = text.removesuffix("behind the loop\r\n")
    assert last.endswith(("\r", "\x1b[2K")), last[-40:]
