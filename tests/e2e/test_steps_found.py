"""Steps that nothing marks: found by what repeats, they are those that marks would give."""

import gzip
import json
from pathlib import Path

import pytest
from answers import Row, answer
from program import ROOT, Program

FAULTS = ROOT / "tests" / "fixtures" / "faults"
SAMPLES = ("images_192", "no_tensor_cores", "recompute", "small_batch")


def without_marks(trace: Path, folder: Path) -> Path:
    content = json.loads(gzip.decompress(trace.read_bytes()))
    content["traceEvents"] = [
        event
        for event in content["traceEvents"]
        if not str(event.get("name", "")).startswith("ProfilerStep")
    ]
    file = folder / "unmarked.json"
    file.write_text(json.dumps(content))
    return file


def steps_of(program: Program, trace: Path) -> tuple[list[Row], str]:
    said = answer(program, "mfu", trace)
    steps = [row for row in said["tables"]["steps"] if row["step"] is not None]
    return steps, " ".join(said["remarks"])


@pytest.mark.parametrize("name", SAMPLES)
def test_they_are_those_that_were_marked(program: Program, tmp_path: Path, name: str) -> None:
    """Also where the device lags the host by more than a step."""
    trace = FAULTS / f"{name}.json.gz"
    marked, said = steps_of(program, trace)
    found, remarks = steps_of(program, without_marks(trace, tmp_path))
    assert "repeats on the device" not in said
    assert "repeats on the device" in remarks
    assert len(marked) - 1 <= len(found) <= len(marked)  # the last round has no next one to end it
    assert {row["model_flops"] for row in found} == {row["model_flops"] for row in marked}
    whole = sum(row["step_ns"] for row in marked) / len(marked)
    assert sum(row["step_ns"] for row in found) / len(found) == pytest.approx(whole, rel=0.1)


def test_a_little_that_repeats_is_no_rhythm(program: Program, tmp_path: Path) -> None:
    names = [f"kernel {i}" for i in range(40)] + ["tail"] * 3
    events = [
        {"ph": "X", "cat": "kernel", "name": name, "ts": 10 * i, "dur": 5, "pid": 0, "tid": 7}
        | {"args": {"device": 0, "stream": 7}}
        for i, name in enumerate(names)
    ]
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"traceEvents": events}))
    facts = json.loads(program.run("info", "--json", file).stdout)
    assert facts["steps"]["source"] == "whole"
