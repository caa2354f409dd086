"""Lines of `logging` in a recording: beside what happened, and nothing changes for the program."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answers import answer
from program import Program
from recorded_program import Script, rank_folder

MakeScript = Callable[[str], Script]
Rows = list[dict[str, Any]]

PROGRAM = """
import logging, sys, threading
import stepscope as ss
from stepscope.ranges import LogHandler

logging.getLogger("silent").propagate = False
logging.getLogger("silent").addHandler(logging.NullHandler())
twice = logging.getLogger("twice")
twice.addHandler(LogHandler())
with ss.profile(sys.argv[1], trace=False{settings}) as prof:
    logging.getLogger("early").warning("before any set-up")
    logging.basicConfig(format="shown: %(message)s", level=logging.INFO)
    assert logging.getLogger().level == logging.INFO
    assert len(logging.getLogger().handlers) == 1
    for step in range(3):
        with ss.range("forward"):
            logging.getLogger("training").info("loss of %d", step)
        prof.step()
    logging.getLogger("silent").error("printed nowhere")
    thread = threading.Thread(target=lambda: logging.info("from a thread"), name="prefetcher")
    thread.start()
    thread.join()
    logging.getLogger("training").debug("below the level")
    twice.warning("two ways")
    try:
        raise ValueError("broken")
    except ValueError:
        logging.exception("caught")
    logging.info("%d", "no number")
    ss.log("a line of ours", level=logging.ERROR)
logging.info("after the end")
"""

ALL = [
    "before any set-up",
    "loss of 0",
    "loss of 1",
    "loss of 2",
    "printed nowhere",
    "from a thread",
    "two ways",
    "caught",
    "%d ('no number',)",
    "a line of ours",
]


def recorded(program: Program, run: Path) -> tuple[dict[str, Any], Rows, Rows]:
    """The header, the log lines and the ranges of rank 3."""
    file = rank_folder(run, rank=3) / "events.scope"
    done = program.run("export", "--to", "jsonl", "-o", "-", file)
    header, *rows = [json.loads(line) for line in done.stdout.splitlines()]
    logs = sorted((r for r in rows if r["cat"] == "log"), key=lambda row: row["start_ns"])
    return header["header"], logs, [r for r in rows if r["name"] == "forward"]


def test_lines_have_process_thread_rank_step_and_time(
    script: MakeScript, program: Program, tmp_path: Path
) -> None:
    done = script(PROGRAM.format(settings="")).run(str(tmp_path / "run"), RANK="3", WORLD_SIZE="8")
    assert done.returncode == 0, done.stderr
    header, logs, forwards = recorded(program, tmp_path / "run")
    assert [row["name"] for row in logs] == ALL
    assert {row["rank"] for row in logs} == {3}
    assert len({row["pid"] for row in logs}) == 1
    by_name = {row["name"]: row for row in logs}
    assert by_name["from a thread"]["tid"] != by_name["caught"]["tid"]
    lines = answer(program, "log", "--level", "debug", tmp_path / "run")["tables"]["lines"]
    threads = {line["text"]: line["thread"] for line in lines}
    assert threads["from a thread"] == "prefetcher" != threads["caught"]
    starts = sorted((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in forwards)
    steps = header["steps"]["list"]
    for number in range(3):
        at = by_name[f"loss of {number}"]["start_ns"]
        assert starts[number][0] <= at <= starts[number][1]
        assert steps[number][0] == number
        assert steps[number][1] <= at <= steps[number][2]


def test_what_the_program_prints_stays_as_it_is(script: MakeScript, tmp_path: Path) -> None:
    """Logging's last resort, a later basicConfig, levels and loggers that do not propagate."""
    program = script(PROGRAM.format(settings=""))
    with_logs = program.run(str(tmp_path / "a"))
    without = script(PROGRAM.format(settings=", logs=False")).run(str(tmp_path / "b"))
    assert with_logs.returncode == without.returncode == 0

    def shown(text: str) -> list[str]:
        return [line for line in text.splitlines() if not line.startswith(("  ", "    "))]

    assert shown(with_logs.stderr) == shown(without.stderr)
    assert with_logs.stderr.startswith("before any set-up\nshown: loss of 0\n")
    assert with_logs.stderr.endswith("shown: after the end\n")


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        (", logs=False", ["two ways", "a line of ours"]),  # by its own handler, and by log()
        (
            ", logs=logging.WARNING",
            ["before any set-up", "printed nowhere", "two ways", "caught", "a line of ours"],
        ),
    ],
)
def test_the_least_level_is_chosen(
    settings: str, names: list[str], script: MakeScript, program: Program, tmp_path: Path
) -> None:
    done = script(PROGRAM.format(settings=settings)).run(
        str(tmp_path / "run"), RANK="3", WORLD_SIZE="8"
    )
    assert done.returncode == 0, done.stderr
    assert [row["name"] for row in recorded(program, tmp_path / "run")[1]] == names


SPAWNING = """
import logging, multiprocessing, sys
import stepscope as ss

def work(how):
    ss.log(f"ours of {how}", level="error")
    logging.getLogger("child").warning(f"warned by {how}")
    logging.getLogger("child").error(f"failed by {how}")

if __name__ == "__main__":
    with ss.profile(sys.argv[1], trace=False, system=False, logs=LOGS) as prof:
        for how in ("fork", "spawn", "forkserver"):
            child = multiprocessing.get_context(how).Process(target=work, args=(how,))
            child.start()
            child.join()
        prof.step()
"""


@pytest.mark.parametrize(
    ("logs", "expected"),
    [
        ("True", {"ours of", "warned by", "failed by"}),
        ("'error'", {"ours of", "failed by"}),
        ("False", {"ours of"}),
    ],
)
def test_lines_of_children(
    script: MakeScript, program: Program, tmp_path: Path, logs: str, expected: set[str]
) -> None:
    """However they are started, they record what the recording was asked to."""
    done = script(SPAWNING.replace("LOGS", logs)).run(str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    shown = program.run("analyze", "log", "run", "--level", "debug", "-f", "json", cwd=tmp_path)
    found = {line["text"] for line in json.loads(shown.stdout)["tables"]["lines"]}
    starts = ("fork", "spawn", "forkserver")
    assert found == {f"{text} {how}" for text in expected for how in starts}


def test_lines_of_workers_have_the_step_that_the_training_is_in(
    script: MakeScript, program: Program, tmp_path: Path
) -> None:
    """However old the number is that a worker was forked with, and where it knows none."""
    worker_program = script(
        """
        import multiprocessing, sys
        import stepscope as ss

        def work(asked, done):
            for number in range(3):
                asked.acquire()
                ss.log(f"within {number}")
                done.release()

        if __name__ == "__main__":
            context = multiprocessing.get_context(sys.argv[2])
            asked, done = context.Semaphore(0), context.Semaphore(0)
            with ss.profile(sys.argv[1], trace=False, system=False, first_step=7) as prof:
                worker = context.Process(target=work, args=(asked, done))
                worker.start()
                for _ in range(3):
                    asked.release()
                    done.acquire()
                    prof.step()
                worker.join()
        """
    )
    for how in ("fork", "spawn"):
        done = worker_program.run(str(tmp_path / how), how)
        assert done.returncode == 0, done.stderr
        lines = answer(program, "log", "--level", "info", tmp_path / how)["tables"]["lines"]
        steps = {line["text"]: line["step"] for line in lines}
        assert steps == {"within 0": 7, "within 1": 8, "within 2": 9}
