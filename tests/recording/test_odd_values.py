"""What a program may give to a recording, and a disk that fails for a while: nothing stops."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded_program import Script, ranges_of, rank_facts, rank_folder

import stepscope
from stepscope.launched import waiting

MakeScript = Callable[[str], Script]


def test_a_disk_that_is_full_for_a_while_costs_nothing(script: MakeScript, tmp_path: Path) -> None:
    """What the system refused is written when it takes it again; no step is made longer."""
    program = script(
        """
        import resource, sys, time
        import stepscope as ss
        with ss.profile(sys.argv[1], trace=False, system=False) as prof:
            for step in range(60):
                size = 1500 if 10 <= step < 40 else resource.RLIM_INFINITY
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
                for part in range(20):
                    with ss.range(f"forward {part}"):
                        pass
                time.sleep(0.02)
                prof.step()
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stderr) == (0, "")
    run = stepscope.open(rank_folder(tmp_path / "run") / "events.scope")
    assert (run.step_numbers, run.notes) == (list(range(60)), [])
    assert rank_facts(tmp_path / "run")["cost"]["lost_bytes"] == 0


def test_texts_that_cannot_be_written_as_they_are(script: MakeScript, tmp_path: Path) -> None:
    """A name of a file that is no UTF-8, a NUL, a counter without a number: nothing stops."""
    program = script(
        r"""
        import logging, os, sys, warnings
        import stepscope as ss
        warnings.simplefilter("error")
        odd = os.fsdecode(b"/data/caf\xe9.png")
        logging.basicConfig(level=logging.INFO, stream=open(os.devnull, "w", errors="replace"))
        with ss.profile(sys.argv[1], trace=False) as prof:
            for name in (odd, "a\0b"):
                logging.info("reading %s", name)
                logging.getLogger(name).info("by a logger of that name")
                ss.log(name)
                with ss.range(name):
                    ss.counter(name, 1)
                ss.instant(name)
            for value in (None, "none"):
                ss.counter("loss", value)
            with ss.range(7):
                ss.instant(b"no text")
            ss.counter("loss", 10**400)
            ss.log("loss %.1f of %s", 0.25, "epoch 1")
            ss.log("loss %d", "none", level="warning")
            ss.log("loss", 0.7, level=10**30)
            ss.log("%d", float("inf"))
            ss.log("%s", type("Odd", (), {"__repr__": lambda self: 1 // 0})())
            prof.step()
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stderr) == (0, "")
    warnings = [warning["text"] for warning in rank_facts(tmp_path / "run")["warnings"]]
    assert warnings == [
        "no number for the counter loss: None",
        "the name of a range is a text, not int; it is recorded as '7'",
        """the name of an instant is a text, not bytes; it is recorded as "b'no text'\"""",
    ]
    file = rank_folder(tmp_path / "run") / "events.scope"
    assert {r"/data/caf\udce9.png", r"a\x00b"} <= set(ranges_of(file))
    lines = list(stepscope.open(file).log(level="debug")["lines"].rows())
    texts = {line["text"]: line["level"] for line in lines}
    assert r"reading /data/caf\udce9.png" in texts
    assert r"reading a\x00b" in texts
    assert texts["loss 0.2 of epoch 1"] == "info"
    assert texts["loss %d ('none',)"] == "warning"
    assert texts["loss (0.7,)"] == texts["%d (inf,)"] == "info"
    assert "(a line whose values cannot be shown)" in texts


def test_bytes_that_are_no_text_wherever_a_run_is_described(
    script: MakeScript, tmp_path: Path
) -> None:
    """In arguments, the working folder, the run's own, tags, settings, its name and a branch."""
    program = script(
        r"""
        import multiprocessing, os, subprocess, sys, warnings
        import stepscope as ss

        def work():
            with ss.range("work"):
                pass

        if __name__ == "__main__":
            warnings.simplefilter("error")
            odd = os.fsdecode(b"caf\xe9")
            git = ["git", "-c", "user.name=a", "-c", "user.email=a"]
            subprocess.run([*git, "init", "-q", "-b", odd], check=True)
            subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "a"], check=True)
            os.mkdir(odd)
            os.chdir(odd)
            given = {"trace": False, "tags": odd, "config": {odd: [odd]}}
            for folder, more in (("run", {}), ("run", {}), ("named", {"run_id": odd})):
                with ss.profile(folder, **given, **more) as prof:
                    for way in ("fork", "spawn"):
                        worker = multiprocessing.get_context(way).Process(target=work)
                        worker.start()
                        worker.join()
                    prof.step()
        """
    )
    odd = os.fsdecode(b"caf\xe9")
    done = program.run(odd)
    assert (done.returncode, done.stderr) == (0, "")
    run = tmp_path / odd / "run"
    about = json.loads((run / "run.json").read_text("utf-8"))
    assert about["command"][1:] == about["tags"] == about["config"][odd] == [odd]
    assert (about["directory"], about["git"]["branch"]) == (str(tmp_path / odd), odd)
    assert json.loads((tmp_path / odd / "named" / "run.json").read_text("utf-8"))["id"] == odd
    # The same run is known again; all of it is there, by any name that is text.
    (tmp_path / "text").symlink_to(run)
    again = rank_folder(tmp_path / "text", attempt=1)
    assert stepscope.open(again / "events.scope").step_numbers == [0]
    assert [ranges_of(file) for file in again.glob("worker-*.scope")] == [{"work": 1}] * 2
    assert list(run.glob("attempt-1/node-*/system.scope"))


def test_settings_that_are_no_json_and_a_working_folder_that_is_gone(
    script: MakeScript, tmp_path: Path
) -> None:
    program = script(
        """
        import os, sys
        import stepscope as ss
        loop = []
        loop.append(loop)
        config = {
            (1, 2): 3, "loop": loop, "limit": float("nan"), "lr": 0.1, "keys": {(1,): 2},
            "odd": type("Odd", (), {"__str__": lambda self: 1 // 0})(), "class": int,
        }
        os.mkdir("gone")
        os.chdir("gone")
        os.rmdir("../gone")
        with ss.profile(sys.argv[1], trace=False, system=False, config=config) as prof:
            prof.step()
        try:
            ss.profile("here").start()
        except ss.RecordingError as error:
            print(error)
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "here: a run cannot be recorded there: No such file or directory\n"
    config = json.loads((tmp_path / "run" / "run.json").read_text())["config"]
    assert config == {
        "(1, 2)": 3,
        "loop": "[[...]]",
        "limit": "nan",
        "lr": 0.1,
        "keys": "{(1,): 2}",
        "odd": "(a Odd that cannot be shown)",
        "class": "<class 'int'>",
    }


def test_a_generators_time_is_its_own(script: MakeScript, tmp_path: Path) -> None:
    """What is done with its items, and the ranges of that, are not within it."""
    program = script(
        """
        import asyncio, sys, time
        import stepscope as ss
        @ss.range
        def items(count):
            for number in range(count):
                time.sleep(0.01)
                answer = yield number
            return answer
        @ss.range
        async def later(count):
            for number in range(count):
                await asyncio.sleep(0.01)
                yield number
        async def loop():
            async for number in later(3):
                await asyncio.sleep(0.05)
        with ss.profile(sys.argv[1], trace=False) as prof:
            for number in items(3):
                with ss.range("body"):
                    time.sleep(0.05)
            asyncio.run(loop())
            made = items(2)
            print(next(made), made.send("a"))
            try:
                made.send("b")
            except StopIteration as end:
                print(end.value)
            begun = items(1)
            next(begun)
            begun.close()
            @ss.range
            def served():
                try:
                    yield 1
                finally:
                    time.sleep(0.02)  # workers are shut down, say
            for number in served():
                break
            prof.step()
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stdout) == (0, "0 1\nb\n"), done.stderr
    rows = stepscope.open(tmp_path / "run").time()["ranges"].rows()
    found = {row["range"]: row for row in rows}
    assert found["items"]["calls"] == 4 + 3 + 2  # closing is a run of it, too
    (closed,) = [row for name, row in found.items() if name.endswith("served")]
    assert (closed["calls"], closed["total_ns"] > 0.02e9) == (2, True)
    assert found["later"]["calls"] == 4  # three items and the end
    assert found["items"]["total_ns"] < 0.1e9 < found["body"]["total_ns"]
    assert found["later"]["total_ns"] < 0.1e9
    assert found["body"]["depth"] == found["items"]["depth"]


def test_an_error_that_cannot_be_shown(script: MakeScript, tmp_path: Path) -> None:
    """It is the user's that is seen, and the recording is whole."""
    program = script(
        """
        import sys
        import stepscope as ss
        class Odd(Exception):
            def __str__(self):
                raise RuntimeError("not now")
        try:
            with ss.profile(sys.argv[1], trace=False) as prof:
                prof.step()
                raise Odd
        except Odd:
            print("seen")
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "seen\n", "")
    facts = rank_facts(tmp_path / "run")
    assert (facts["finished"], facts["error"]["type"]) == ("exception", "Odd")


def test_half_of_a_character_in_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(waiting.NOTES, str(tmp_path))
    waiting.note("error", "cut inside \ud83d")
    waiting.note("error", os.fsdecode(b"caf\xe9"))
    (file,) = tmp_path.iterdir()
    assert file.read_bytes() == b"error\tcut inside \\ud83d\nerror\tcaf\xe9\n"
