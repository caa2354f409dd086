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


def rounds(
    count: int, *more: dict[str, object], others: int = 0, stream: int = 7
) -> list[dict[str, object]]:
    """Rounds of ten kernels every 100 us, each launched 5 us before, and what else is there."""
    events: list[dict[str, object]] = [*more]
    for i in range(count * 10):
        name = "first" if i % 10 == 0 else f"kernel {i % 10}"
        events.append(
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 10 * i + 1}
            | {"dur": 1, "pid": 1, "tid": 1, "args": {"correlation": i + 1}}
        )
        events.append(
            {"ph": "X", "cat": "kernel", "name": name, "ts": 10 * i + 6, "dur": 4, "pid": 0}
            | {"tid": stream, "args": {"device": 0, "stream": stream, "correlation": i + 1}}
        )
    events.extend(  # on streams of their own
        {"ph": "X", "cat": "kernel", "name": f"other {i}", "ts": 3 * i, "dur": 2, "pid": 0}
        | {"tid": 20 + i % 3, "args": {"device": 0, "stream": 20 + i % 3}}
        for i in range(others)
    )
    return events


def span(
    name: str, start: float, end: float, cat: str = "user_annotation", tid: int = 1
) -> dict[str, object]:
    return {"ph": "X", "cat": cat, "name": name, "ts": start, "dur": end - start, "pid": 1} | {
        "tid": tid
    }


def steps_in(program: Program, folder: Path, events: list[dict[str, object]]) -> Row:
    file = folder / "trace.json"
    file.write_text(json.dumps({"traceEvents": events}))
    steps: Row = json.loads(program.run("info", "--json", file).stdout)["steps"]
    return steps


def module(i: int) -> dict[str, object]:
    return span(f"nn.Module: Layer_{i}", 100 * i + 0.5, 100 * i + 99, "python_function", 2)


def backward(i: int, name: str = "MulBackward0") -> dict[str, object]:
    op = f"autograd::engine::evaluate_function: {name}"
    return span(op, 100 * i + 50, 100 * i + 60, "cpu_op", 3)


def optimizer(i: int) -> dict[str, object]:
    return span("Optimizer.step#Adam.step", 100 * i + 80, 100 * i + 90)


STAND = {
    "nothing said": [],
    "an epoch": [span("epoch 3", -10, 900)],
    "a loop": [span("training loop", -10, 900)],
    "a function that goes round": [span("train.py(3): main", -10, 900, "python_function")],
    "a range in each": [span("forward", 100 * i + 2, 100 * i + 40) for i in range(8)],
    "the same module in each": [
        span("nn.Module: Net_0", 100 * i + 2, 100 * i + 40, "python_function") for i in range(8)
    ],
    "a training": [part(i) for i in range(8) for part in (backward, optimizer)],
}
FALL = {
    "a range of one pass": [span("forward", -10, 900)],
    "a named step": [span("train_step", -10, 900)],
    "a request": [span("execute_context_1(888)_generation_0(0)", -10, 900)],
    "two of them": [span("decode", 100 * i - 5, 100 * i + 204) for i in range(0, 8, 2)],
    "a range of no known word": [span("thing", -10, 900)],
    "an operator": [span("Torch-Compiled Region: 0/0", -10, 900, "cpu_op")],
    "a module": [span("nn.Module: Net_0", -10, 900, "python_function")],
    "a pass in Python": [span("net.py(9): forward", -10, 900, "python_function")],
    "a module of its own in each": [module(i) for i in range(8)],
    "a backward pass after them": [backward(9)],
    "an optimizer after them": [optimizer(9)],
}


@pytest.mark.parametrize("case", STAND)
def test_a_guess_is_called_one(program: Program, tmp_path: Path, case: str) -> None:
    steps = steps_in(program, tmp_path, rounds(8, *STAND[case]))
    assert (steps["source"], steps["count"], steps["guessed"]) == ("repetition", 7, True)
    assert 0 <= steps["left_out_share"] < 0.4
    trace = tmp_path / "trace.json"
    assert "a guess: what repeats on the device" in program.run("info", trace).stdout.decode()
    remarks = " ".join(answer(program, "steps", trace)["remarks"])
    assert "a guess" in remarks and "% of the recording" in remarks
    advice = json.loads(program.run("advise", "--json", trace).stdout)
    assert advice["steps_guessed"] and advice["healthy"] is not True
    assert any("is a guess" in sentence for sentence in advice["verdict"])
    assert all(finding["confidence"] != "high" for finding in advice["findings"])


@pytest.mark.parametrize("case", FALL)
def test_what_contradicts_a_guess(program: Program, tmp_path: Path, case: str) -> None:
    steps = steps_in(program, tmp_path, rounds(8, *FALL[case]))
    assert (steps["source"], steps["guessed"]) == ("whole", False)


def test_one_stream_of_many_has_no_steps(program: Program, tmp_path: Path) -> None:
    assert steps_in(program, tmp_path, rounds(8, others=70))["source"] == "repetition"
    assert steps_in(program, tmp_path, rounds(8, others=90))["source"] == "whole"


def test_what_lies_outside_is_no_part_of_a_step(program: Program, tmp_path: Path) -> None:
    """Exposed communication before and after the steps is not divided by their number."""

    def talk(start: float) -> dict[str, object]:
        return {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "ts": start} | {
            "dur": 400,
            "pid": 0,
            "tid": 30,
            "args": {"device": 0, "stream": 30},
        }

    marks = [span(f"ProfilerStep#{i}", 100 * i, 100 * i + 100) for i in range(8)]
    file = tmp_path / "trace.json"
    for events in (rounds(8, *marks), rounds(8, *marks, talk(-2000), talk(3000))):
        file.write_text(json.dumps({"traceEvents": events}))
        kernels = answer(program, "kernels", file)["tables"]["kernels"]
        found = json.loads(program.run("advise", "--json", file).stdout)["findings"]
        assert not [one for one in found if one["cause"] == "communication"]
    assert any(row["class"] == "communication" for row in kernels)  # everything is counted there
