"""How the program behaves on a terminal: colour, progress, what is said there and what is not."""

import gzip
import json
import os
import pty
import subprocess
import time
from pathlib import Path

import pytest
from program import ROOT, Program

TRACE = (
    '{"schemaVersion":1,"deviceProperties":[],"traceEvents":['
    '{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":5},'
    '{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":2,"dur":3,"args":{"stream":7}}]}'
)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    path.write_text(TRACE)
    return path


def settings() -> dict[str, str]:
    """The environment of a user without settings of ours."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("STEPSCOPE_", "NO_COLOR"))}
    return {**kept, "LC_ALL": "C.UTF-8", "TERM": "xterm"}


def on_terminal(
    program: Program,
    *arguments: str | Path,
    env: dict[str, str] | None = None,
    stdin: bytes = b"",
    pause: float = 0,
) -> str:
    """Runs a command whose output and errors are a terminal; stdin comes in two halves."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [program.path, *arguments],
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
        env={**settings(), **(env or {})},
    )
    os.close(theirs)
    assert process.stdin
    process.stdin.write(stdin[: len(stdin) // 2])
    process.stdin.flush()
    time.sleep(pause)
    process.stdin.write(stdin[len(stdin) // 2 :])
    process.stdin.close()
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side is gone
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    process.wait(timeout=60)
    return shown.decode()


def test_colour_is_for_terminals(program: Program, trace: Path) -> None:
    assert "\x1b[" in on_terminal(program, "info", trace)
    assert "\x1b[" not in on_terminal(program, "info", trace, env={"NO_COLOR": "1"})
    assert "\x1b[" not in on_terminal(program, "info", trace, env={"TERM": "dumb"})
    assert "\x1b[" not in on_terminal(program, "info", "--color=never", trace)
    assert b"\x1b[" not in program.run("info", trace).stdout
    assert b"\x1b[" in program.run("info", "--color=always", trace).stdout


def test_what_was_lost_is_said_once_on_a_terminal(program: Program, tmp_path: Path) -> None:
    whole = gzip.decompress((ROOT / "examples/data/snap_oracle.pickle.gz").read_bytes())
    snapshot = tmp_path / "cut.pickle"
    snapshot.write_bytes(whole[: len(whole) // 2])
    trace = tmp_path / "cut.json"
    trace.write_text(TRACE[: TRACE.rindex(",")])
    for command, path in (("memory", snapshot), ("report", trace), ("info", snapshot)):
        shown = on_terminal(program, command, path)
        assert shown.count("Data was lost") == 1, command
        assert "data was lost" not in shown, command
    for command, path in (("memory", snapshot), ("report", trace)):
        # The page went to a file: the terminal has to hear of it.
        page = tmp_path / f"{command}.html"
        shown = on_terminal(program, command, "--html", page, path)
        assert "data was lost: truncated (1); `stepscope info` says more" in shown, command
        assert "Data was lost while reading" in page.read_text()
    found = json.loads(program.run("memory", "--json", snapshot).stdout)["info"]
    assert found["run"]["lost_data"]
    assert [note["id"] for note in found["notes"]] == ["truncated"]


def test_binary_output_is_not_for_terminals(program: Program, trace: Path) -> None:
    shown = on_terminal(program, "export", "--to", "perfetto", trace)
    assert "perfetto is a binary format and this is a terminal" in shown


def test_progress_is_drawn_after_a_second_and_erased(program: Program) -> None:
    shown = on_terminal(program, "info", "-", stdin=TRACE.encode(), pause=1.6)
    assert "reading" in shown
    assert shown.rindex("reading") < shown.rindex("\r\x1b[K") < shown.index("standard input")
    for flag in ("--no-progress", "-q"):
        assert "reading" not in on_terminal(
            program, "info", flag, "-", stdin=TRACE.encode(), pause=1.3
        )
    assert "reading" not in on_terminal(program, "info", "-", stdin=TRACE.encode())
