"""`stepscope.open` of a run folder: everything in it is one run, whatever kind of file it is."""

import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from program import ROOT
from recorded_program import Script, rank_folder

import stepscope

MakeScript = Callable[[str], Script]

TRAIN = """
import logging, sys, time
import stepscope as ss

logging.getLogger().setLevel(logging.INFO)
with ss.profile(sys.argv[1], trace=False) as prof:
    for step in prof.watch(range(6)):
        with ss.range("forward"):
            time.sleep(0.002)
            with ss.range("attention"):
                time.sleep(0.001)
        logging.info("step %d", step)
        prof.step()
    logging.error("loss is nan")
"""


@pytest.fixture
def folder(script: MakeScript, tmp_path: Path) -> Path:
    """A run with a trace and a snapshot of a real GPU put beside what was recorded."""
    run = tmp_path / "run"
    done = script(TRAIN).run(str(run))
    assert done.returncode == 0, done.stderr
    data = ROOT / "examples" / "data"
    shutil.copy(data / "snap_oracle.pickle.gz", rank_folder(run) / "memory-0.pickle.gz")
    shutil.copy(data / "gpt_bf16.json.gz", rank_folder(run) / "trace-0.json.gz")
    return run


def test_ranges_steps_and_lines(folder: Path) -> None:
    run = stepscope.open(folder)
    assert run.ranks == [0]
    ranges = {row["range"]: row for row in run.time()["ranges"].rows()}
    assert ranges["forward"]["calls"] == ranges["attention"]["calls"] == 6
    assert ranges["forward"]["total_ns"] >= 6 * 3_000_000
    assert ranges["attention"]["total_ns"] < ranges["forward"]["total_ns"]
    assert [row["step"] for row in run.time()["steps"].rows()] == list(range(6))
    lines = list(run.log(level="info")["lines"].rows())
    assert [row["text"] for row in lines] == [*(f"step {n}" for n in range(6)), "loss is nan"]
    assert lines[-1]["level"] == "error"


def test_the_trace_answers_as_it_does_alone(folder: Path) -> None:
    run = stepscope.open(folder)
    alone = stepscope.open(rank_folder(folder) / "trace-0.json.gz")
    asked = run.kernels().table
    assert list(asked.rows()) == list(alone.kernels().table.rows())
    assert run.info["run"]["device_work"] == alone.info["run"]["device_work"] > 0


def test_the_snapshot_answers_as_it_does_alone(folder: Path) -> None:
    run = stepscope.open(folder)
    alone = stepscope.open_memory(rank_folder(folder) / "memory-0.pickle.gz")
    for name in ("memory_summary", "memory_peak"):
        here, there = getattr(run, name)(), getattr(alone, name)()
        assert {k: list(t.rows()) for k, t in here.tables.items()} == {
            k: list(t.rows()) for k, t in there.tables.items()
        }


def test_findings_and_report(folder: Path) -> None:
    run = stepscope.open(folder)
    rules = {finding.rule for finding in run.findings()}
    assert rules & {"launch-bound", "gpu-idle", "host-sync", "precision", "unfused-optimizer"}
    page = io.StringIO()
    run.report(file=page)
    for said in ("forward", "attention", "loss is nan"):
        assert said in page.getvalue()
    assert "loss is nan" in run.to_html()


def test_info_says_how_it_was_recorded(folder: Path) -> None:
    info = stepscope.open(folder).info
    (record,) = info["rank_records"]
    assert (record["finished"], record["steps"], record["warnings"]) == ("stop", 6, [])
    (recording,) = info["recordings"]
    assert recording["finished"] is True
    assert recording["writer_cpu_ns"] > 0
