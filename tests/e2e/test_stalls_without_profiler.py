"""Waits of a GPU as they would be without the profiler: traces of which the answer is known.

Recording an operator takes 2 µs here, by 24 operators that do nothing but call another; at most
half as much again is taken off, 2.4 times as much for a launch.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from answers import tables
from program import Program

RECORDED, LAUNCH = 3.0, 7.2  # µs, at most
DELAY = 10.0  # from a launch to its kernel

Event = dict[str, Any]


class Recording:
    """One step; the host is at `now`, in µs."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.now = 0.0
        self.launched = 0

    def host(self, kind: str, name: str, length: float, at: float, **arguments: int) -> None:
        thread = {"pid": 1, "tid": 1, "args": arguments}
        self.events.append(
            {"ph": "X", "cat": kind, "name": name, "ts": at, "dur": length, **thread}
        )

    def operators(self, count: int, apart: float = 5) -> None:
        for _ in range(count):
            self.host("cpu_op", "aten::add", 1, self.now)
            self.now += apart

    def add_wrappers(self, count: int = 24, kind: str = "cpu_op", callees: int = 1) -> None:
        for _ in range(count):
            self.host("cpu_op", "aten::t", 2 + 4 * callees, self.now)
            for i in range(callees):
                self.host(kind, "aten::transpose", 4, self.now + 1 + 4 * i)
            self.now += 20

    def kernel(self, length: float, call: float = 3) -> float:
        """Launches a kernel and tells when it ends."""
        self.launched += 1
        at = self.now + DELAY
        self.host("cuda_runtime", "cudaLaunchKernel", call, self.now, correlation=self.launched)
        arguments = {"correlation": self.launched, "device": 0, "stream": 7}
        self.events.append(
            {"ph": "X", "cat": "kernel", "name": "k", "ts": at, "dur": length}
            | {"pid": 0, "tid": 7, "args": arguments}
        )
        self.now += max(5, call)
        return at + length

    def wait(self, until: float) -> None:
        self.host("cuda_runtime", "cudaStreamSynchronize", until + 2 - self.now, self.now)
        self.now = until + 3

    def stalls(self, program: Program, folder: Path) -> dict[str, list[dict[str, Any]]]:
        self.host("user_annotation", "ProfilerStep#1", self.now + 50, 0)
        path = folder / "trace.json"
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": self.events}))
        return tables(program, "stalls", path)


def row_of(found: dict[str, list[dict[str, Any]]], stall: str) -> dict[str, Any]:
    return next(row for row in found["kinds"] if row["stall"] == stall)


@pytest.mark.parametrize("operators", [0, 1, 20])
def test_a_wait_is_shorter_by_what_was_recorded_in_it(
    program: Program, tmp_path: Path, operators: int
) -> None:
    """What was recorded before the host waited for the GPU is no part of it: both had to wait."""
    recording = Recording()
    recording.add_wrappers()
    recording.wait(recording.kernel(50))
    recording.operators(operators)
    recording.now += 100
    recording.kernel(50)
    found = recording.stalls(program, tmp_path)
    sync = row_of(found, "sync")
    overhead = operators * RECORDED + LAUNCH
    assert sync["without_profiler_ns"] == pytest.approx(sync["idle_ns"] - overhead * 1000, abs=2)
    # usually, recording takes less
    assert sync["usual_ns"] == pytest.approx(sync["idle_ns"] - overhead / 1.5 * 1000, abs=2)
    (row,) = found["profiler-overhead"]
    assert (row["wrapper_operators"], row["wrapper_ns"]) == (24, 2000)
    assert row["operators"] == 2 * 24 + operators
    assert (row["calls"], row["launches"], row["functions"]) == (1, 2, 0)


@pytest.mark.parametrize("operators", [0, 100])
def test_a_host_that_is_further_ahead_hides_more_of_a_pause(
    program: Program, tmp_path: Path, operators: int
) -> None:
    """A pause is as long without a profiler, but the GPU has work for more of it."""
    recording = Recording()
    recording.add_wrappers()
    recording.wait(recording.kernel(50))
    recording.kernel(2000)
    recording.operators(operators)
    recording.now += 5000
    recording.kernel(50)
    pause = row_of(recording.stalls(program, tmp_path), "pause")
    overhead = operators * RECORDED + LAUNCH  # the first launch is earlier, and its kernel with it
    assert pause["without_profiler_ns"] == pytest.approx(pause["idle_ns"] - overhead * 1000, abs=2)


def test_a_call_that_waits_takes_the_lead(program: Program, tmp_path: Path) -> None:
    """A cudaFree waits for the GPU, also where it had nothing to wait for in the recording."""

    def recorded(call: str) -> dict[str, Any]:
        recording = Recording()
        recording.add_wrappers()
        recording.wait(recording.kernel(50))
        end = recording.kernel(600)
        recording.operators(100)
        recording.now = end + 10
        recording.host("cuda_runtime", call, 400, recording.now)
        recording.now += 405
        recording.kernel(50)
        return row_of(recording.stalls(program, tmp_path), "allocator")

    free, malloc = recorded("cudaFree"), recorded("cudaMalloc")
    assert free["idle_ns"] == malloc["idle_ns"]
    assert free["without_profiler_ns"] >= 400_000  # all of the call
    assert malloc["without_profiler_ns"] < 200_000  # beside the GPU's work


def test_python_functions_cost_less(program: Program, tmp_path: Path) -> None:
    recording = Recording()
    recording.add_wrappers()
    recording.wait(recording.kernel(50))
    for _ in range(10):
        recording.host("python_function", "train.py(3): f", 1, recording.now)
        recording.now += 5
    recording.kernel(50)
    found = recording.stalls(program, tmp_path)
    sync = row_of(found, "sync")
    overhead = 10 * 0.3 * RECORDED + LAUNCH
    assert sync["without_profiler_ns"] == pytest.approx(sync["idle_ns"] - overhead * 1000, abs=2)
    assert found["profiler-overhead"][0]["functions"] == 10


@pytest.mark.parametrize(
    "wrapper_operators",
    [{"count": 19}, {"callees": 2}, {"kind": "cuda_runtime"}],
    ids=["too few", "call two", "call the runtime"],
)
def test_without_operators_that_only_call_another_nothing_tells(
    program: Program, tmp_path: Path, wrapper_operators: dict[str, Any]
) -> None:
    recording = Recording()
    recording.add_wrappers(**wrapper_operators)
    recording.wait(recording.kernel(50))
    recording.now += 100
    recording.kernel(50)
    found = recording.stalls(program, tmp_path)
    assert row_of(found, "sync")["without_profiler_ns"] is None
    assert found["profiler-overhead"][0]["wrapper_ns"] is None
    assert found["profiler-overhead"][0]["wrapper_operators"] == (
        19 if "count" in wrapper_operators else 0
    )


@pytest.mark.parametrize(
    ("kind", "times", "column"),
    [("user_annotation", 1, "ranges"), ("cpu_instant_event", 1.5, "allocations")],
)
def test_ranges_and_allocations_cost_too(
    program: Program, tmp_path: Path, kind: str, times: float, column: str
) -> None:
    recording = Recording()
    recording.add_wrappers()
    recording.wait(recording.kernel(50))
    for _ in range(10):
        if kind == "cpu_instant_event":
            place = {"pid": 1, "tid": 1, "args": {"Bytes": 512, "Device Type": 1, "Device Id": 0}}
            event = {"ph": "i", "cat": kind, "name": "[memory]", "ts": recording.now}
            recording.events.append(event | place)
        else:
            recording.host(kind, "forward", 1, recording.now)
        recording.now += 5
    recording.now += 50
    recording.kernel(50)
    found = recording.stalls(program, tmp_path)
    sync = row_of(found, "sync")
    overhead = 10 * times * RECORDED + LAUNCH
    assert sync["without_profiler_ns"] == pytest.approx(sync["idle_ns"] - overhead * 1000, abs=2)
    assert found["profiler-overhead"][0][column] == 10


def test_launches_tell_where_few_operators_do(program: Program, tmp_path: Path) -> None:
    """As in compiled code: they take 7 µs, 2.2 of them without a profiler."""
    recording = Recording()
    for _ in range(24):
        recording.wait(recording.kernel(50, call=7))
    recording.now += 100
    recording.kernel(50, call=7)
    found = recording.stalls(program, tmp_path)
    (row,) = found["profiler-overhead"]
    assert (row["wrapper_ns"], row["launch_ns"]) == (None, 7000)
    assert row["cost_ns"] == pytest.approx((25 * 2.4 + 24 * 1.2) * 2000, rel=0.001)
    assert row_of(found, "sync")["without_profiler_ns"] < row_of(found, "sync")["idle_ns"]


def test_every_kernel_of_a_graph_costs(program: Program, tmp_path: Path) -> None:
    recording = Recording()
    recording.add_wrappers()
    recording.wait(recording.kernel(50))
    recording.now += 200
    begin = recording.now
    recording.kernel(2)
    for i in range(1, 40):
        arguments = {"correlation": recording.launched, "device": 0, "stream": 7}
        recording.events.append(
            {"ph": "X", "cat": "kernel", "name": "k", "ts": begin + DELAY + 3 * i, "dur": 2}
            | {"pid": 0, "tid": 7, "args": arguments}
        )
    found = recording.stalls(program, tmp_path)
    (row,) = found["profiler-overhead"]
    assert (row["launches"], row["graph_nodes"]) == (2, 39)
    taken = row_of(found, "sync")["idle_ns"] - row_of(found, "sync")["usual_ns"]
    assert taken == pytest.approx((39 * 0.6 + 2.4) * 2000, abs=200)


def test_no_wait_becomes_longer(program: Program, samples: Path) -> None:
    for name in ("gpt_bf16.json.gz", "gpt_stack.json.gz", "ddp"):
        for row in tables(program, "stalls", samples / name)["kinds"]:
            if row["without_profiler_ns"] is not None:
                assert 0 <= row["without_profiler_ns"] <= row["usual_ns"] <= row["idle_ns"]
