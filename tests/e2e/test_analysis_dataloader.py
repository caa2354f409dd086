"""Waiting for data against an oracle."""

from pathlib import Path

import pytest
from answers import Row, answer, short_name, tables, traces
from oracle.host import host_spans, is_loading, times
from oracle.intervals import intersect, total, union
from oracle.random_trace import random_trace
from oracle.trace import read_trace
from oracle.work import View, view_of, view_of_file
from program import Program


def check(found: dict[str, list[Row]], view: View) -> None:
    """Steps and summary of a run of one window."""
    fetches = [e for e in host_spans(view) if is_loading(e)]
    waiting = times(fetches)
    working = union(w.interval for w in view.work)
    rows = found["steps"]
    if not fetches:  # how long the loop waits is unknown
        unknown = ("fetches", "wait_ns", "wait_share", "gpu_busy_ns", "gpu_idle_ns")
        assert {row[name] for row in (*rows, *found["ranks"]) for name in unknown} <= {None}
        assert found["loaders"] == []
        return
    assert [row["step"] for row in rows] == [step.number for step in view.steps]
    for row, step in zip(rows, view.steps, strict=True):
        wait = total(intersect(waiting, [step.span]))
        busy = total(intersect(intersect(waiting, working), [step.span]))
        length = step.span[1] - step.span[0]
        assert (row["step_ns"], row["wait_ns"]) == (length, wait)
        assert row["wait_share"] == (pytest.approx(wait / length) if length else None)
        assert row["gpu_busy_ns"] == (busy if view.work else None)
        assert row["gpu_idle_ns"] == (wait - busy if view.work else None)
    [rank] = found["ranks"]
    assert rank["wait_ns"] == sum(row["wait_ns"] for row in rows)
    assert rank["max_wait_ns"] == max(row["wait_ns"] for row in rows)
    assert rank["fetches"] == sum(row["fetches"] for row in rows)
    outermost = [
        e
        for e in fetches
        if not any(
            o is not e and o.track == e.track and o.start <= e.start and e.end <= o.end
            and (o.duration > e.duration or o.ordinal < e.ordinal)
            for o in fetches
        )
    ]  # fmt: skip
    assert sum(row["fetches"] for row in found["loaders"]) == len(outermost)
    assert sum(row["sum_ns"] for row in found["loaders"]) == sum(e.duration for e in outermost)


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_every_trace(path: Path, program: Program) -> None:
    check(tables(program, "dataloader", path), view_of_file(path))


@pytest.mark.parametrize("seed", range(30))
def test_traces_of_everything_at_once(seed: int, program: Program, tmp_path: Path) -> None:
    data = random_trace(seed)
    path = tmp_path / "trace.json"
    path.write_bytes(data)
    check(tables(program, "dataloader", path), view_of(read_trace(data)))


def test_never_less_than_the_part_of_the_step(program: Program, samples: Path) -> None:
    path = samples / "gpt_bf16.json.gz"
    waits = tables(program, "dataloader", path)["steps"]
    parts = tables(program, "steps", path)["steps"]
    for wait, part in zip(waits, parts, strict=True):
        assert part["dataloader_ns"] <= wait["gpu_idle_ns"]


def test_workers_that_were_not_recorded_are_a_sentence(program: Program, samples: Path) -> None:
    said = answer(program, "dataloader", samples / "gpt_bf16.json.gz")
    assert said["tables"]["workers"] == []
    assert "workers are not in the trace" in " ".join(said["remarks"])
