"""Step times and their parts against an oracle, and against what TensorBoard's plugin prints."""

import statistics
from pathlib import Path
from typing import Any

import pytest
from answers import Row, answer, short_name, tables, traces
from oracle.host import TENSORBOARD_COMMUNICATION, host_roles, share_out
from oracle.intervals import Interval, union
from oracle.random_trace import random_trace
from oracle.trace import read_trace
from oracle.work import View, view_of, view_of_file
from program import Program

PARTS = (
    "kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other",
)  # fmt: skip

# What the last version of TensorBoard's plugin says of these files once the device's copies of
# step marks are taken out: the average step and its parts in us, as above.
TENSORBOARD: dict[str, tuple[int, ...]] = {
    "gpt_bf16": (41498, 5340, 9, 47, 0, 3708, 83, 31991, 321),
    "resnet50_dataloader_bound": (166802, 31623, 6129, 60, 0, 2536, 114736, 11535, 183),
    "gpt_stack": (16091, 11709, 9, 28, 0, 469, 721, 3003, 153),
    "ddp_gloo_rank0": (251424, 1027, 1119, 14, 232578, 2034, 580, 13851, 221),
}
# Driver calls are calls too: time moves from cpu_exec to runtime and nothing else changes.
OUR_RUNTIME = {"gpt_bf16": 4896, "ddp_gloo_rank0": 2431, "gpt_stack": 485}


def sets_of(view: View) -> list[list[Interval]]:
    """When each part is on by our definition, in the order of PARTS."""

    def work(sort: str) -> list[Interval]:
        return union(w.interval for w in view.work if w.sort == sort)

    roles = host_roles(view)
    return [
        work("compute"),
        work("memcpy"),
        work("memset"),
        union(work("communication") + roles["communication"]),
        roles["runtime"],
        roles["dataloader"],
        roles["cpu_exec"],
    ]


def expected_steps(view: View) -> list[Row]:
    """The table `steps` of one window."""
    rows, sets = [], sets_of(view)
    for step in view.steps:
        host = step.host if view.has_steps else step.span
        row: Row = {"rank": view.rank, "window": 0, "step": step.number}
        row |= {"start_ns": step.span[0], "host_ns": host[1] - host[0]}
        row["step_ns"] = step.span[1] - step.span[0]
        lengths = share_out(sets, step.span)
        row |= {f"{name}_ns": length for name, length in zip(PARTS, lengths, strict=True)}
        rows.append(row)
    return rows


def median(values: list[int]) -> int:
    """Of an even number the middle between the two, rounded down."""
    return (statistics.median_low(values) + statistics.median_high(values)) // 2


def expected_outliers(rows: list[Row]) -> list[dict[str, Any]]:
    """Steps far above the median, by the rule of docs/metrics/steps.md."""
    if len(rows) < 6:
        return []
    lengths = [row["step_ns"] for row in rows]
    middle = median(lengths)
    deviation = median([abs(length - middle) for length in lengths])
    out = []
    for row in rows:
        excess = row["step_ns"] - middle
        if excess <= 5 * deviation or excess * 10 <= middle:
            continue
        growth = {p: row[f"{p}_ns"] - median([r[f"{p}_ns"] for r in rows]) for p in PARTS}
        grown = max(PARTS, key=lambda part: growth[part])
        out.append({"step": row["step"], "excess_ns": excess, "grown_part": grown})
    return sorted(out, key=lambda one: -one["excess_ns"])


def check(found: dict[str, list[Row]], view: View) -> None:
    """All four tables of a run of one window."""
    rows = expected_steps(view)
    said = [row | {"start_ns": int(row["start_ns"])} for row in found["steps"]]  # JSON's 2^53
    assert said == rows
    for row in found["steps"]:
        assert sum(row[f"{part}_ns"] for part in PARTS) == row["step_ns"]
        assert all(row[f"{part}_ns"] >= 0 for part in PARTS)

    whole = sum(row["step_ns"] for row in rows)
    for part, one in zip(PARTS, found["parts"], strict=True):
        sum_ns = sum(row[f"{part}_ns"] for row in rows)
        assert (one["part"], one["sum_ns"]) == (part, sum_ns)
        assert one["mean_ns"] == pytest.approx(sum_ns / len(rows))
        assert one["share"] == (pytest.approx(sum_ns / whole) if whole else None)

    lengths = sorted(row["step_ns"] for row in rows)
    [times] = found["times"]
    assert times["steps"] == len(rows)
    assert times["mean_ns"] == pytest.approx(whole / len(rows))
    assert times["median_ns"] == median(lengths)
    assert (times["min_ns"], times["max_ns"]) == (lengths[0], lengths[-1])
    deviation = statistics.stdev(lengths) if len(lengths) > 1 else 0
    assert times["sd_ns"] == pytest.approx(deviation, rel=1e-6, abs=1e-3)
    stretch = view.steps[-1].span[1] - view.steps[0].span[0]
    rate = pytest.approx(len(rows) * 1e9 / stretch) if stretch else None
    assert times["steps_per_second"] == rate
    slow = [{key: row[key] for key in ("step", "excess_ns", "grown_part")}
            for row in found["outliers"]]  # fmt: skip
    assert slow == expected_outliers(rows)


def check_tensorboard(found: dict[str, list[Row]], view: View) -> None:
    """Parts add up, and nothing communicates that the plugin does not know by name."""
    for row in found["steps"]:
        assert sum(row[f"{part}_ns"] for part in PARTS) == row["step_ns"]
    ranges = [e for e in view.trace.events if e.kind in ("cpu_op", "annotation")]
    if not any(TENSORBOARD_COMMUNICATION.fullmatch(e.name) for e in ranges):
        assert all(row["communication_ns"] == 0 for row in found["steps"])


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_every_trace(path: Path, program: Program) -> None:
    view = view_of_file(path)
    check(tables(program, "steps", path), view)
    check_tensorboard(tables(program, "steps", path, "--definition", "tensorboard"), view)


@pytest.mark.parametrize("seed", range(40))
def test_traces_of_everything_at_once(seed: int, program: Program, tmp_path: Path) -> None:
    data = random_trace(seed)
    path = tmp_path / "trace.json"
    path.write_bytes(data)
    check(tables(program, "steps", path), view_of(read_trace(data)))


def average(program: Program, path: Path, *more: str) -> tuple[float, ...]:
    """The average step and its parts in us."""
    found = tables(program, "steps", path, *more)
    means = [row["mean_ns"] / 1000 for row in found["parts"]]
    return (found["times"][0]["mean_ns"] / 1000, *means)


@pytest.mark.parametrize("name", TENSORBOARD)
def test_as_tensorboard_defines_it(name: str, program: Program, corpus: Path) -> None:
    path = corpus / "h200" / f"{name}.json.gz"
    found = average(program, path, "--definition", "tensorboard")
    assert found == pytest.approx(TENSORBOARD[name], abs=1)


@pytest.mark.parametrize("name", TENSORBOARD)
def test_only_driver_calls_are_counted_differently(
    name: str, program: Program, corpus: Path
) -> None:
    path = corpus / "h200" / f"{name}.json.gz"
    ours = average(program, path)
    theirs = average(program, path, "--definition", "tensorboard")
    runtime, executing = 1 + PARTS.index("runtime"), 1 + PARTS.index("cpu_exec")
    for i, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        if i not in (runtime, executing):
            assert our == their
    moved = ours[runtime] - theirs[runtime]
    assert moved > 0
    assert theirs[executing] - ours[executing] == pytest.approx(moved)
    if name in OUR_RUNTIME:
        assert ours[runtime] == pytest.approx(OUR_RUNTIME[name], abs=1)


def test_one_step_alone_is_as_among_all(program: Program, samples: Path) -> None:
    path = samples / "gpt_bf16.json.gz"
    every = tables(program, "steps", path)["steps"]
    for row in every:
        alone = tables(program, "steps", "--step", str(row["step"]), path)["steps"]
        assert alone == [row]


def test_work_after_the_host_has_left_the_step_belongs_to_it(
    program: Program, corpus: Path
) -> None:
    path = corpus / "planted" / "gpt__fp32_no_tensor_cores.json.gz"
    rows = tables(program, "steps", path)["steps"]
    host = sum(row["host_ns"] for row in rows)
    kernels = sum(row["kernel_ns"] for row in rows)
    assert kernels <= sum(row["step_ns"] for row in rows)
    assert sum(row["step_ns"] for row in rows) > host


def test_ranks_in_any_order_give_the_same(program: Program, samples: Path) -> None:
    ranks = sorted((samples / "ddp").glob("*.json.gz"))
    assert answer(program, "steps", *ranks) == answer(program, "steps", *reversed(ranks))
