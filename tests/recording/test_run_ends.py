"""However a program ends, `stepscope run` ends like it, and what was recorded is whole."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from launched_program import TRAINING, Runner, said, windows
from program import ROOT
from recorded_program import environment, rank_facts

import stepscope


def test_a_crash(trainer: Runner, tmp_path: Path) -> None:
    trainer.script(TRAINING + "loop(1)\nraise RuntimeError('theirs')\n")
    plain = subprocess.run(
        [trainer.python, "train.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=False,
    )
    done = trainer.run("--no-report", "--out", "run", "--", trainer.python, "train.py")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(plain.stderr)
    assert said(done) == [
        "the run is in run; `stepscope report run` shows it",
        "the program ended with status 1 (RuntimeError: theirs)",
    ]
    facts = rank_facts(tmp_path / "run")
    assert (facts["finished"], facts["error"]["text"]) == ("exception", "theirs")
    assert facts["program"]["status"] == 1
    assert "signal" not in facts["program"]


HANGS = "import atexit, time\natexit.register(time.sleep, 60)\n"
READY = "print('hangs', flush=True)\n"


@pytest.mark.parametrize(
    ("text", "number", "finished"),
    [
        # The recorder writes a few times a second: what is killed later has written all steps.
        (TRAINING + "loop(1)\ntime.sleep(1)\nos.kill(os.getpid(), 9)\n", signal.SIGKILL, None),
        # What is registered last runs first: before our end, and after it.
        (TRAINING + "loop(1)\n" + HANGS + READY, signal.SIGTERM, "SIGTERM"),
        (HANGS + TRAINING + "loop(1)\n" + READY, signal.SIGTERM, "exit"),
    ],
    ids=["killed", "hangs before the end", "hangs after it"],
)
def test_the_program_dies_of_a_signal(
    trainer: Runner, tmp_path: Path, text: str, number: signal.Signals, finished: str | None
) -> None:
    """SIGKILL comes from within; SIGTERM is sent to the command, to a program that is leaving."""
    trainer.script(text)
    process = trainer.start("--out", "run", "--", trainer.python, "train.py")
    if number == signal.SIGTERM:
        assert process.stdout is not None
        assert process.stdout.readline() == b"hangs\n"
        wait_until_finished(tmp_path / "run", finished)
        process.send_signal(number)
    _, err = process.communicate(timeout=600)
    assert process.returncode == -number, err
    assert re.search(rb"\n  Steps +10 ", err), err
    last = err.decode().splitlines()[-1]
    assert last.startswith(f"stepscope: the program was killed by signal {number.value} ("), last
    facts = rank_facts(tmp_path / "run")
    assert facts.get("finished") == finished
    assert (facts["program"]["status"], facts["program"]["signal"]) == (128 + number, number.name)
    assert stepscope.open(tmp_path / "run").step_numbers
    # A later look shows it, too.
    report = subprocess.run(
        [trainer.program, "info", "run"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    ended = {
        None: "killed by SIGKILL (often: out of memory)",
        "SIGTERM": "by SIGTERM",
        "exit": "by SIGTERM",
    }
    assert f"Ended     {ended[finished]}\n" in report.stdout, report.stdout


KILLED = "import os\nos.kill(os.getpid(), 9)\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (KILLED, "before it imported torch"),
        ("import torch.optim, torch.utils.data\n" + KILLED, "before its training began"),
    ],
    ids=["before torch", "before the training"],
)
def test_killed_before_the_training(trainer: Runner, tmp_path: Path, text: str, why: str) -> None:
    """What the program would have done is unknown: it is not said to have no training loop."""
    trainer.script(text)
    done = trainer.run("--no-report", "--out", "run", "--", trainer.python, "train.py")
    assert done.returncode == -signal.SIGKILL
    _, nothing, _, end = said(done)
    assert nothing == f"no training was recorded: the program was killed by signal 9 {why}"
    assert end.startswith("the program was killed by signal 9 (SIGKILL, often: out of memory; ")
    assert rank_facts(tmp_path / "run")["program"]["signal"] == "SIGKILL"


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        # One that started Pythons that failed long before, or failed for them.
        (["sh", "-c", "PYTHON train.py; exit 5"], 5, " (ValueError: theirs)"),
        (["PYTHON", "train.py"], 1, " (ValueError: theirs)"),
        (["PYTHON", "-c", "import sys; sys.exit(4)"], 4, ""),
        (["sh", "-c", "exit 5"], 5, ""),
        (["sh", "-c", "exit 137"], 137, " (128 and 9: as after SIGKILL, often: out of memory; "),
        (
            ["PYTHON", "-c", "import os; os.abort()"],
            134,
            " (SIGABRT, a fault in compiled code; `python -X faulthandler` shows where)",
        ),
    ],
    ids=["of a shell", "of Python", "exit", "not Python", "status of a shell", "abort"],
)
def test_the_last_line_says_how_it_ended(
    runner: Runner, words: list[str], status: int, reason: str
) -> None:
    """Also with -q, which leaves out everything else."""
    runner.script("raise ValueError('theirs\\nand more')\n")
    words = [word.replace("PYTHON", runner.python) for word in words]
    done = runner.run("-q", "--out", "run", "--", *words)
    ended = "was killed by signal 6" if status == 134 else f"ended with status {status}"
    assert done.returncode == (-signal.SIGABRT if status == 134 else status)
    assert said(done)[-1].startswith(f"the program {ended}{reason}")
    if not reason:
        assert said(done)[-1] == f"the program {ended}"


def test_nothing_is_said_of_a_good_end(runner: Runner) -> None:
    done = runner.run("--no-report", "--out", "run", "--", "true")
    assert not [line for line in said(done) if line.startswith("the program ended")]


def wait_until_finished(run: Path, finished: str | None) -> None:
    """Or for as long as it takes until a program hangs whose recording does not end before that."""
    if finished != "exit":
        time.sleep(0.3)
        return
    deadline = time.monotonic() + 60
    while rank_facts(run).get("finished") is None and time.monotonic() < deadline:
        time.sleep(0.05)


def test_programs_that_cannot_be_started(runner: Runner) -> None:
    done = runner.run("--", "./nothing-there")
    assert (done.returncode, said(done)) == (127, ["./nothing-there: No such file or directory"])
    runner.script("")
    done = runner.run("./train.py")
    assert (done.returncode, said(done)) == (126, ["./train.py: Permission denied"])


@pytest.mark.parametrize("by_package", [False, True])
def test_signals_are_as_they_were(runner: Runner, by_package: bool) -> None:
    """Blocked and ignored ones of the program; by the program, and by the package's command."""
    # Without SigQ, which counts what waits for all processes of the user.
    show = ["grep", "^Sig[PBIC]", "/proc/self/status"]
    plain = subprocess.run(show, capture_output=True, check=True).stdout
    if by_package:
        command = [sys.executable, "-m", "stepscope", "run", "--", *show]
        done = subprocess.run(
            command,
            cwd=runner.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            capture_output=True,
            check=True,
        )
    else:
        done = runner.run("--", *show)
    assert done.stdout == plain


def test_ctrl_c_comes_once(runner: Runner) -> None:
    """The terminal sends it to the whole group: the command must not send it again."""
    runner.script(
        """
import signal, sys, time
count = 0
def came(*_):
    global count
    count += 1
signal.signal(signal.SIGINT, came)
signal.signal(signal.SIGUSR1, came)
print("ready", flush=True)
deadline = time.monotonic() + 30
while not count and time.monotonic() < deadline:
    time.sleep(0.01)
time.sleep(0.5)
print("came", count, flush=True)
sys.exit(3)
"""
    )
    import pty

    main, end = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "-c", "-w", runner.program, "run", "-q", "--", runner.python, "train.py"],
        stdin=end,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=runner.folder,
    )
    os.close(end)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    os.write(main, b"\x03")
    out, _ = process.communicate(timeout=600)
    os.close(main)
    assert (process.returncode, out) == (3, b"came 1\n")
    alone = runner.start("-q", "--", runner.python, "train.py")
    assert alone.stdout is not None
    assert alone.stdout.readline() == b"ready\n"
    alone.send_signal(signal.SIGUSR1)
    assert alone.communicate(timeout=600)[0] == b"came 1\n"
    assert alone.returncode == 3


FORKED = """
loop(3)
child = os.fork()
if child == 0:
    import atexit, ctypes
    atexit.register(print, "its own last words")
    loop(1)
    ctypes.CDLL(None).puts(b"words of C")
    sys.exit(3)
until = time.monotonic() + 120
while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < until:
    time.sleep(0.05)
if not ended[0]:
    os.kill(child, 9)
    ended = os.waitpid(child, 0)
print("child", os.waitstatus_to_exitcode(ended[1]))
"""


def test_a_forked_child_leaves_after_steps_were_traced(trainer: Runner, tmp_path: Path) -> None:
    """Torch's profiler has a thread that the child lacks, and would wait for it at the end."""
    trainer.script(TRAINING + FORKED)
    done = trainer.run("--no-report", "--out", "run", "--", trainer.python, "train.py")
    assert done.returncode == 0, done.stderr
    *words, end = done.stdout.decode().splitlines()
    assert (sorted(words), end) == (["its own last words", "words of C"], "child 3")
    assert windows(tmp_path / "run") == [(11, 3, "complete")]


def test_a_run_that_was_removed_is_not_shown(trainer: Runner, tmp_path: Path) -> None:
    more = "import shutil\nloop(1, lambda epoch: shutil.rmtree('gone'))\n"
    script = trainer.script(TRAINING + more)
    done = trainer.run("--out", "gone", "--", trainer.python, script)
    assert done.returncode == 0, done.stderr
    lines = said(done)
    assert not any("shows all of it" in line for line in lines), lines
    if not (tmp_path / "gone").exists():
        removed = "gone is not there any more: it was removed while the program ran"
        assert any(line.startswith(removed) for line in lines), lines


def test_each_of_two_programs_in_one_folder_reads_of_its_own(
    trainer: Runner, tmp_path: Path
) -> None:
    """The first to start ends when the second has long begun, and is not the last attempt."""
    trainer.script(
        TRAINING
        + "loop(1)\n"
        + "name, end = sys.argv[1], time.monotonic() + 120\n"
        + "open(name, 'w').close()\n"
        + "while name == 'one' and not os.path.exists('two') and time.monotonic() < end:\n"
        + "    time.sleep(0.05)\n"
    )
    words = ("--no-report", "--out", "run", "--", trainer.python, "train.py")
    first = trainer.start(*words, "one")
    while not (tmp_path / "one").exists():
        assert first.poll() is None
        time.sleep(0.05)
    second = trainer.run(*words, "two")
    done = trainer.end_of(first)
    assert said(done)[:2] == [
        "another program was started into run meanwhile: what it recorded is run/attempt-1, and "
        "this is run/attempt-0",
        "the run is in run/attempt-0; `stepscope report run/attempt-0` shows it",
    ]
    assert "the run is in run; `stepscope report run` shows it" in said(second)
