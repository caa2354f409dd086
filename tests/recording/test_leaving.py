"""However a process ends, what it did is there; and it ends as it would have otherwise."""

import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded_program import Script, ranges_of, rank_facts, rank_folder

import stepscope

MakeScript = Callable[[str], Script]

# Says when it is in its loop, and goes on until it is ended.
LOOP = """
import atexit, os, signal, sys, threading, time
import stepscope as ss

{before}
prof = ss.profile(sys.argv[1], trace=False).start()
{after}
print("ready", flush=True)
for step in range(3000):
    with ss.range("forward"):
        time.sleep(0.001)
    prof.step()
    {in_the_loop}
"""


def loop(
    script: MakeScript, before: str = "", after: str = "", in_the_loop: str = "pass"
) -> Script:
    return script(LOOP.format(before=before, after=after, in_the_loop=in_the_loop))


def started(program: Script, run: Path) -> subprocess.Popen[str]:
    """Running, in its loop."""
    process = program.start(str(run))
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def notes_of(run: Path) -> set[str]:
    return {note["id"] for note in stepscope.open(rank_folder(run) / "events.scope").notes}


def steps_of(run: Path) -> int:
    return ranges_of(rank_folder(run) / "events.scope")["forward"]


def lines_of(run: Path) -> list[str]:
    answer = stepscope.open(rank_folder(run) / "events.scope").log(level="debug", top=0)
    return [row["text"] for row in answer["lines"].rows()]


def test_sigterm_finishes_the_run_and_kills_as_ever(script: MakeScript, tmp_path: Path) -> None:
    process = started(loop(script), tmp_path / "run")
    time.sleep(0.2)
    process.terminate()
    _, err = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGTERM
    assert err == ""
    facts = rank_facts(tmp_path / "run")
    assert facts["finished"] == "SIGTERM"
    assert steps_of(tmp_path / "run") >= facts["steps"] > 0
    assert "not_finished" not in notes_of(tmp_path / "run")


@pytest.mark.parametrize("library", ["CDLL", "PyDLL"])  # without and with Python's lock held
def test_sigterm_ends_a_process_that_hangs_in_c(
    script: MakeScript, tmp_path: Path, library: str
) -> None:
    hang = f"""
        import ctypes
        c, mutex = ctypes.{library}(None), ctypes.create_string_buffer(64)
        c.pthread_mutex_lock(mutex)
        print("hangs", flush=True)
        c.pthread_mutex_lock(mutex)
    """
    process = script(
        f"""
        import sys, textwrap
        import stepscope as ss
        prof = ss.profile(sys.argv[1], trace=False).start()
        for _ in range(3):
            with ss.range("forward"):
                pass
            prof.step()
        exec(textwrap.dedent({hang!r}))
        """
    ).start(str(tmp_path / "run"))
    assert process.stdout is not None
    assert process.stdout.readline() == "hangs\n"
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (-signal.SIGTERM, "")
    assert steps_of(tmp_path / "run") == 3
    assert "not_finished" not in notes_of(tmp_path / "run")


def test_a_handler_of_ones_own_decides(script: MakeScript, tmp_path: Path) -> None:
    own = """
        asked = []
        signal.signal(signal.SIGTERM, lambda number, frame: asked.append(number))
    """
    leave = "if asked: print('leaving by itself'); sys.exit(3)"
    before = "\n".join(line.strip() for line in own.splitlines())
    process = started(loop(script, before=before, in_the_loop=leave), tmp_path / "run")
    process.terminate()
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (3, "leaving by itself\n", "")
    assert rank_facts(tmp_path / "run")["finished"] == "status 3"
    assert "not_finished" not in notes_of(tmp_path / "run")


def test_a_handler_that_comes_later_is_left_alone(script: MakeScript, tmp_path: Path) -> None:
    after = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))"
    process = started(loop(script, after=after), tmp_path / "run")
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 4
    assert rank_facts(tmp_path / "run")["finished"] == "status 4"


def test_ignored_signals_stay_ignored(script: MakeScript, tmp_path: Path) -> None:
    before = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    leave = "if step == 100: break"
    process = started(loop(script, before=before, in_the_loop=leave), tmp_path / "run")
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert rank_facts(tmp_path / "run")["steps"] == 101


@pytest.mark.parametrize("seed", range(8))
def test_killed_at_any_moment_all_but_the_last_half_second_is_there(
    script: MakeScript, tmp_path: Path, seed: int
) -> None:
    """Three processes at a time, each killed at a moment of its own: 24 moments in all."""
    tell = "ss.log(step); os.write(1, f'{time.monotonic()} {step}\\n'.encode())"
    program = loop(script, in_the_loop=tell)
    moments = random.Random(seed)
    runs = [tmp_path / str(number) for number in range(3)]
    processes = [started(program, run) for run in runs]
    begun = time.monotonic()
    waits = sorted((moments.uniform(0.02, 1.5), number) for number in range(3))
    killed = [0.0] * 3
    for wait, number in waits:
        time.sleep(max(0.0, begun + wait - time.monotonic()))
        processes[number].kill()
        killed[number] = time.monotonic()
    for process, run, moment in zip(processes, runs, killed, strict=True):
        out, _ = process.communicate(timeout=30)
        assert process.returncode == -signal.SIGKILL
        printed = [line.split() for line in out.splitlines() if len(line.split()) == 2]
        done = max((int(step) + 1 for at, step in printed if float(at) < moment - 0.5), default=0)
        if done > 0:
            assert steps_of(run) >= done
            assert lines_of(run)[:done] == [str(step) for step in range(done)]
        assert "finished" not in rank_facts(run)
        notes = notes_of(run)
        assert "not_finished" in notes
        assert not notes & {"damaged_block", "bad_checksum"}


# With and without a `with`; what is printed, what the process returns, how the run ended.
@pytest.mark.parametrize(
    ("leave", "printed", "status", "finished"),
    [
        ("sys.exit()", "", 0, ("exit", "stop")),
        ("sys.exit(0)", "", 0, ("exit", "stop")),
        ("sys.exit(3)", "", 3, ("status 3", "status 3")),
        ("sys.exit(-1)", "", 255, ("status 255", "status 255")),
        ("sys.exit('no data')", "no data\n", 1, ("status 1", "status 1")),
        ("caught(sys.exit)", "", 0, ("exit", "stop")),
    ],
)
def test_the_status_of_sys_exit_is_that_of_the_run(
    script: MakeScript, tmp_path: Path, leave: str, printed: str, status: int, finished: list[str]
) -> None:
    program = script(
        """
        import sys
        import stepscope as ss

        def caught(leave):
            try:
                leave(5)
            except SystemExit:
                pass

        run, is_with, leave = sys.argv[1:]
        if is_with:
            with ss.profile(run, trace=False, system=False) as prof:
                prof.step()
                eval(leave)
        else:
            prof = ss.profile(run, trace=False, system=False).start()
            prof.step()
            eval(leave)
        """
    )
    for is_with, how in enumerate(finished):
        run = tmp_path / str(is_with)
        done = program.run(str(run), "with" if is_with else "", leave)
        assert (done.returncode, done.stderr) == (status, printed)
        assert rank_facts(run)["finished"] == how


@pytest.mark.parametrize("where", ["main", "thread", "child"])
def test_leaving_at_once_loses_nothing(script: MakeScript, tmp_path: Path, where: str) -> None:
    """os._exit() runs no handlers; what the writer has not come to yet is written all the same."""
    program = script(
        """
        import os, sys, threading
        import stepscope as ss
        ss.profile(sys.argv[1], trace=False, system=False).start()
        for _ in range(50):
            with ss.range("forward"):
                pass
        if sys.argv[2] == "thread":
            threading.Thread(target=os._exit, args=[3]).start()
            threading.Event().wait()
        if sys.argv[2] == "child":
            child = os.fork() or os._exit(4)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
        os._exit(status=3)
        """
    )
    done = program.run(str(tmp_path / "run"), where)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")
    assert steps_of(tmp_path / "run") == 50
    assert "finished" not in rank_facts(tmp_path / "run")


def test_a_forked_child_that_leaves_at_once_loses_nothing(
    script: MakeScript, tmp_path: Path
) -> None:
    program = script(
        """
        import os, sys
        import stepscope as ss
        with ss.profile(sys.argv[1], trace=False, system=False) as prof:
            for _ in range(5):
                child = os.fork()
                if child == 0:
                    for _ in range(10):
                        with ss.range("child"):
                            pass
                    os._exit(4)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
                prof.step()
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    rows = stepscope.open(tmp_path / "run").time()["ranges"].rows()
    assert [row["calls"] for row in rows if row["range"] == "child"] == [50]
    assert "not_finished" not in notes_of(tmp_path / "run")


def test_an_error_is_recorded_and_passed_on(script: MakeScript, tmp_path: Path) -> None:
    program = script(
        """
        import sys
        import stepscope as ss
        with ss.profile(sys.argv[1], trace=False) as prof:
            prof.step()
            with ss.range("forward"):
                raise ValueError("loss is nan")
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("ValueError: loss is nan")
    assert done.stderr.count("Traceback") == 1
    facts = rank_facts(tmp_path / "run")
    assert facts["finished"] == "exception"
    assert facts["error"] == {"type": "ValueError", "text": "loss is nan", "step": 1}
    assert "not_finished" not in notes_of(tmp_path / "run")


def test_hooks_of_others_are_called(script: MakeScript, tmp_path: Path) -> None:
    program = script(
        """
        import sys
        import stepscope as ss
        sys.excepthook = lambda kind, error, trace: print("mine:", error)
        prof = ss.profile(sys.argv[1], trace=False).start()
        prof.step()
        raise RuntimeError("boom")
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stdout, done.stderr) == (1, "mine: boom\n", "")
    assert rank_facts(tmp_path / "run")["error"]["text"] == "boom"


def test_afterwards_everything_is_as_it_was(script: MakeScript, tmp_path: Path) -> None:
    program = script(
        """
        import os, signal, sys
        import stepscope as ss
        mine = lambda *_: None
        signal.signal(signal.SIGTERM, mine)
        ends = (sys.exit, os._exit)
        before = (sys.excepthook, signal.getsignal(signal.SIGTERM), dict(os.environ))
        with ss.profile(sys.argv[1], trace=False) as prof:
            assert signal.getsignal(signal.SIGTERM) is not mine
            prof.step()
        assert before == (sys.excepthook, signal.getsignal(signal.SIGTERM), dict(os.environ))
        assert ends == (sys.exit, os._exit)
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stderr) == (0, "")


def test_sigterm_while_a_thread_trains(script: MakeScript, tmp_path: Path) -> None:
    program = script(
        """
        import sys, threading, time
        import stepscope as ss
        prof = ss.profile(sys.argv[1], schedule=ss.schedule(active=10**6)).start()
        def train():
            while True:
                with ss.range("forward"):
                    pass
                prof.step()  # its windows make signals wait
        threading.Thread(target=train, daemon=True).start()
        print("ready", flush=True)
        time.sleep(60)
        """
    )
    for number in range(3):
        run = tmp_path / str(number)
        process = started(program, run)
        time.sleep(0.1)
        process.terminate()
        _, err = process.communicate(timeout=30)
        assert process.returncode == -signal.SIGTERM
        assert "Traceback" not in err
        assert rank_facts(run)["finished"] == "SIGTERM"


def test_stopped_in_a_thread(script: MakeScript, tmp_path: Path) -> None:
    """Only the main thread may have handlers: the others do without."""
    program = script(
        """
        import sys, threading
        import stepscope as ss
        def train():
            with ss.profile(sys.argv[1], trace=False) as prof:
                prof.step()
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stderr) == (0, "")
    assert rank_facts(tmp_path / "run")["steps"] == 1


@pytest.mark.parametrize("handler", ["SIG_DFL", "own"])
def test_a_process_that_a_signal_ends_can_be_finished_first(
    script: MakeScript, tmp_path: Path, handler: str
) -> None:
    """As workers are: the signal then does what it would have done."""
    program = script(
        """
        import os, signal, sys, time
        from stepscope import _capture
        if sys.argv[2] == "own":
            signal.signal(signal.SIGTERM, lambda *_: os._exit(5))
        _capture.start(sys.argv[1], "events.scope", {})
        _capture.finish_on_sigterm()
        _capture.finish_on_sigterm()
        ready, started = os.pipe()
        child = os.fork()
        if child == 0:  # has no recording of its own: its end waits for nothing
            os.write(started, b".")
            while True: time.sleep(0.01)
        os.read(ready, 1)
        begun = time.monotonic()
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
        print(time.monotonic() - begun < 0.25)
        sys.stdout.flush()
        _capture.instant("last")
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
        """
    )
    folder = tmp_path / "run"
    folder.mkdir()
    done = program.run(str(folder), handler)
    assert (done.returncode, done.stdout) == (5 if handler == "own" else -signal.SIGTERM, "True\n")
    opened = stepscope.open(folder / "events.scope")
    assert "not_finished" not in {note["id"] for note in opened.notes}
    assert b"last" in (folder / "events.scope").read_bytes()


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_workers_that_are_terminated_write_their_last(
    script: MakeScript, tmp_path: Path, how: str
) -> None:
    """As the end of a pool's `with` does, and at once."""
    program = script(
        """
        import multiprocessing, sys, time
        import stepscope as ss

        def work(ready):
            with ss.range("the last"):
                pass
            ready.set()
            time.sleep(30)

        if __name__ == "__main__":
            with ss.profile(sys.argv[1], trace=False, system=False) as prof:
                context = multiprocessing.get_context(sys.argv[2])
                for number in range(3):
                    ready = context.Event()
                    worker = context.Process(target=work, args=(ready,))
                    worker.start()
                    ready.wait()
                    worker.terminate()
                    worker.join()
                    print(worker.exitcode)
                prof.step()
        """
    )
    done = program.run(str(tmp_path / "run"), how)
    assert (done.returncode, done.stdout) == (0, "-15\n" * 3), done.stderr
    files = list(rank_folder(tmp_path / "run").glob("worker-*.scope"))
    assert len(files) == 3
    for file in files:
        assert ranges_of(file) == {"the last": 1}
        assert "not_finished" not in {note["id"] for note in stepscope.open(file).notes}


def test_a_signal_that_is_ignored_does_not_end_a_recording(
    script: MakeScript, tmp_path: Path
) -> None:
    program = script(
        """
        import os, signal, sys, time
        from stepscope import _capture
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _capture.start(sys.argv[1], "events.scope", {})
        _capture.finish_on_sigterm()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.3)
        print(_capture.is_recording())
        """
    )
    folder = tmp_path / "run"
    folder.mkdir()
    done = program.run(str(folder))
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_ctrl_c_while_it_ends_is_not_shown_as_ours(script: MakeScript, tmp_path: Path) -> None:
    """`timeout -s INT` sends two: the second comes while the recording is finished."""
    program = script(
        """
import os, signal, sys
import stepscope as ss

class Mine(Exception):
    def __str__(self):
        os.kill(os.getpid(), signal.SIGINT)
        return "mine"

prof = ss.profile(sys.argv[1], trace=False).start()
with ss.range("forward"):
    pass
prof.step()
raise Mine()
"""
    )
    done = program.run(str(tmp_path / "run"))
    assert done.returncode != 0
    assert "sys.excepthook" not in done.stderr and "stepscope/recording" not in done.stderr
    facts = rank_facts(tmp_path / "run")
    assert (facts["finished"], facts["error"]["text"]) == ("exception", "mine")
