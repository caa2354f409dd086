"""Chains of passes over memory: found anew in the events of recorded traces, and in small ones."""

import gzip
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from answers import tables
from program import Program

RECORDED = Path(__file__).parents[1] / "fixtures" / "faults"
MOST_BETWEEN = 16
Event = dict[str, Any]


@dataclass
class Kernel:
    start: int
    length: int
    step: int
    reduces: bool
    numbers: int  # 0: not known
    reads: int
    threads: int
    launched: int
    between: bool = False

    def as_much_as(self, other: "Kernel") -> bool:
        if self.numbers and other.numbers:
            return self.numbers == other.numbers
        if self.reduces or other.reduces:
            return False
        return self.threads <= 4 * other.threads and other.threads <= 4 * self.threads

    def less_than(self, other: "Kernel") -> bool:
        if self.numbers and other.numbers:
            return 4 * self.numbers < other.numbers
        return 4 * self.threads < other.threads


def ns(microseconds: float) -> int:
    return round(microseconds * 1000)


def tensors_of(op: Event | None) -> tuple[int, int]:
    """The numbers of the largest tensor, and how many of that size are read."""
    if op is None or "Input Dims" not in op["args"]:
        return 0, 0
    sizes: list[int] = []
    for dims, kind in zip(op["args"]["Input Dims"], op["args"]["Input type"], strict=True):
        if kind in ("Scalar", "ScalarList", ""):
            continue
        many = bool(dims) and isinstance(dims[0], list)
        sizes += [math.prod(one) for one in (dims if many else [dims])]
    largest = max(sizes, default=0)
    if op["name"] in ("aten::copy_", "aten::fill_", "aten::zero_"):
        sizes = sizes[1:]
    return largest, sum(4 * size >= largest for size in sizes)


def kernels_of(events: list[Event]) -> Iterator[list[Kernel | str]]:
    """Of each stream: kernels of chains, "set" for a memset, "end" for all else."""
    steps = [e for e in events if e.get("cat") == "user_annotation" and "ProfilerStep" in e["name"]]
    ops = {e["args"].get("External id"): e for e in events if e.get("cat") == "cpu_op"}
    launched = {
        one["args"]["correlation"]: one["ts"]
        for one in events
        if one.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in one["args"]
    }

    def step_of(work: Event) -> int | None:
        at = launched.get(work["args"]["correlation"])
        inside = (i for i, s in enumerate(steps) if at and s["ts"] <= at < s["ts"] + s["dur"])
        return next(inside, None)

    def kernel_of(work: Event) -> Kernel | str:
        if work["cat"] == "gpu_memset":
            return "set"
        head, step = work["name"].split("<")[0], step_of(work)
        reduces = "native::reduce_kernel" in head
        if work["cat"] != "kernel" or step is None or not (reduces or "elementwise_k" in head):
            return "end"
        args = work["args"]
        numbers, reads = tensors_of(ops.get(args.get("External id")))
        threads = args["grid"][0] * args["block"][0]
        start, launch = (ns(at - begin) for at in (work["ts"], launched[args["correlation"]]))
        return Kernel(start, ns(work["dur"]), step, reduces, numbers, reads, threads, launch)

    begin = min(e["ts"] for e in events if "dur" in e)
    streams = defaultdict(list)
    for one in events:
        if one.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            streams[one["args"]["stream"]].append(one)
    for work in streams.values():
        yield [kernel_of(one) for one in sorted(work, key=lambda e: e["ts"])]


def joins(kernel: Kernel, run: list[Kernel]) -> bool:
    passes = [one for one in run if not one.between]
    if kernel.step != run[0].step:
        return False
    if kernel.as_much_as(passes[-1]):
        return True
    since = len(run) - 1 - run.index(passes[-1])
    unknown = kernel.reduces and not (kernel.numbers and passes[-1].numbers)
    reduced = any(one.reduces for one in run)
    small = reduced and not kernel.reduces and kernel.less_than(passes[-1])
    kernel.between = since < MOST_BETWEEN and (unknown or small)
    return kernel.between


def chains_of(stream: list[Kernel | str]) -> list[list[Kernel]]:
    found: list[list[Kernel]] = []
    run: list[Kernel] = []

    def end() -> None:
        nonlocal run
        while run and run[-1].between:  # may begin another
            rest: list[Kernel] = []
            while run[-1].between:
                rest.insert(0, run.pop())
            done, run = run, []
            found.append(done)
            for one in rest:
                one.between = False
                add(one)
            return
        found.append(run)
        run = []

    def add(kernel: Kernel) -> None:
        while run and not joins(kernel, run):
            end()
        if run or not kernel.reduces or kernel.numbers:
            run.append(kernel)

    was_set = False
    for one in stream:
        if one == "set" and not was_set:
            was_set = True
            continue
        if isinstance(one, str) or (was_set and not one.reduces):
            while run:
                end()
        was_set = False
        if isinstance(one, Kernel):
            add(one)
    while run:
        end()
    return [run for run in found if len(run) > 1]


def least_of(run: list[Kernel]) -> int:
    saved, place = 0.0, 0
    for one in run:
        if not one.between:
            moves = one.reads + (not one.reduces) if one.numbers else 3
            if place > 0 and (one.reads > 0 or not one.numbers):
                writes = one.numbers > 0 and not one.reduces and one is not run[-1]
                saved += one.length * (1 + writes) / moves
            place += 1
        if one.reduces:
            place = 0
    lengths = [one.length for one in run]
    return min(int(saved), sum(lengths) - max(lengths))


@pytest.mark.parametrize(
    "name", ["unfused_chain", "small_batch", "vision_chain", "norm_softmax", "norm_batch"]
)
def test_chains_are_those_of_the_events(program: Program, name: str) -> None:
    path = RECORDED / f"{name}.json.gz"
    rows = tables(program, "patterns", path, "--top", "0")["chains"]
    least = saves = most = lengths = 0
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    expected = [run for stream in kernels_of(events) for run in chains_of(stream)]
    for run in expected:
        each = [one.length for one in run]
        passes = [one.length for one in run if not one.between and not one.reduces]
        gaps = sum(
            max(0, b.start - a.start - a.length)
            for a, b in zip(run, run[1:], strict=False)
            if b.launched <= a.start + a.length
        )
        lengths += sum(each)
        least += least_of(run)
        saves += sum(each) - max(each) + gaps
        most += sum(each) - min(passes, default=max(each)) + gaps
    assert sum(row["count"] for row in rows) == len(expected)
    assert sum(row["kernels"] * row["count"] for row in rows) == sum(len(run) for run in expected)
    reductions = sum(one.reduces for run in expected for one in run)
    assert sum(row["reductions"] * row["count"] for row in rows) == reductions
    assert sum(row["device_ns"] for row in rows) == lengths
    assert sum(row["saves_least_ns"] for row in rows) == pytest.approx(least, rel=1e-6)
    # A memset between two of them is no gap.
    assert sum(row["saves_ns"] for row in rows) == pytest.approx(saves, rel=2e-3)
    assert sum(row["saves_most_ns"] for row in rows) == pytest.approx(most, rel=2e-3)


PASS = "void at::native::vectorized_elementwise_kernel<4, F>(int)"
REDUCTION = "void at::native::reduce_kernel<512, 1, R>(R)"
LARGE, SMALL = [64, 4096], [64, 1]
Made = tuple[str, str, list[list[int]], float]  # kernel, operator, shapes of inputs, µs
MEAN: Made = (REDUCTION, "aten::mean", [LARGE], 10)
SUB: Made = (PASS, "aten::sub", [LARGE, SMALL], 20)
SQUARE: Made = (PASS, "aten::pow", [LARGE], 20)
ROOT: Made = (PASS, "aten::sqrt", [SMALL], 2)
DIV: Made = (PASS, "aten::div", [LARGE, SMALL], 24)
PRODUCT: Made = ("sm90_gemm", "aten::mm", [LARGE, [4096, 64]], 50)


@pytest.fixture
def chains_in(program: Program, tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """Of a step that launches such kernels one after the other."""

    def write(*made: Made, shapes: bool = True) -> list[dict[str, Any]]:
        host = {"ph": "X", "pid": 1, "tid": 1}
        events: list[Event] = []
        for step in range(2):
            begin = 10_000 * step
            events.append(
                {**host, "cat": "user_annotation", "name": f"ProfilerStep#{step}"}
                | {"ts": begin, "dur": 9_000, "args": {}}
            )
            at = begin + 1_000.0
            for i, (kernel, op, dims, length) in enumerate(made):
                number = 100 * step + i + 1
                call = {"ts": begin + 10 * i + 1, "dur": 8}
                args: dict[str, Any] = {"External id": number}
                if shapes:
                    args |= {"Input Dims": dims, "Input type": ["float"] * len(dims)}
                events.append({**host, **call, "cat": "cpu_op", "name": op, "args": args})
                launch = {"ts": begin + 10 * i + 3, "dur": 2, "cat": "cuda_runtime"}
                ids = {"correlation": number, "External id": number}
                events.append({**host, **launch, "name": "cudaLaunchKernel", "args": ids})
                grid = 1 if "reduce" in kernel else max(math.prod(one) for one in dims) // 256 + 1
                on_gpu = ids | {"device": 0, "stream": 7, "grid": [grid, 1, 1]}
                on_gpu |= {"block": [128, 1, 1]}
                events.append(
                    {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": kernel}
                    | {"ts": at, "dur": length, "args": on_gpu}
                )
                at += length
        path = tmp_path / "trace.json"
        path.write_text(json.dumps({"traceEvents": events}))
        return tables(program, "patterns", path, "--top", "0")["chains"]

    return write


def test_a_norm_that_is_written_out_is_one_chain(
    chains_in: Callable[..., list[dict[str, Any]]],
) -> None:
    (row,) = chains_in(PRODUCT, MEAN, SUB, SQUARE, MEAN, ROOT, DIV, PRODUCT)
    assert (row["kernels"], row["reductions"], row["count"]) == (6, 2, 2)
    assert row["device_ns"] == 2 * 86_000
    # The mean reads what the square has written, which reads what the difference has.
    assert row["saves_least_ns"] == 2 * (10_000 + 20_000)
    assert row["saves_ns"] == 2 * (86_000 - 24_000)
    assert row["saves_most_ns"] == 2 * (86_000 - 20_000)


def test_without_shapes_a_reduction_counts_only_between_passes(
    chains_in: Callable[..., list[dict[str, Any]]],
) -> None:
    (row,) = chains_in(PRODUCT, MEAN, SUB, SQUARE, MEAN, ROOT, DIV, MEAN, shapes=False)
    assert (row["kernels"], row["reductions"]) == (5, 1)
    assert row["saves_least_ns"] == pytest.approx(2 * 20_000 / 3, abs=2)


@pytest.mark.parametrize(
    "between",
    [
        (REDUCTION, "aten::mean", [[64, 2048]], 10.0),  # of other numbers
        PRODUCT,
        ROOT,  # small, and nothing was summed up
        ("void cunn_SoftMaxForward<4, float>(float*)", "aten::_softmax", [LARGE], 20.0),
    ],
)
def test_what_ends_a_chain(chains_in: Callable[..., list[dict[str, Any]]], between: Made) -> None:
    assert chains_in(SUB, between, DIV) == []


def test_tensors_that_are_filled_save_nothing_for_sure(
    chains_in: Callable[..., list[dict[str, Any]]],
) -> None:
    fill: Made = (PASS, "aten::zero_", [LARGE], 20)
    (row,) = chains_in(fill, fill, fill)
    assert (row["kernels"], row["saves_least_ns"]) == (3, 0)


def test_what_follows_the_last_pass_may_be_a_chain_of_its_own(
    chains_in: Callable[..., list[dict[str, Any]]],
) -> None:
    rows = chains_in(SUB, MEAN, ROOT, ROOT, ROOT, PRODUCT)
    assert sorted((row["operators"], row["kernels"]) for row in rows) == [
        ("3 x aten::sqrt", 3),
        ("aten::sub | aten::mean", 2),
    ]
