"""counters: ranges paired with launches and samples spread over kernels, by hand and by HTA."""

import json
import random
from collections import defaultdict
from pathlib import Path

import pytest
from answers import Row, answer, tables
from oracle import read_trace
from oracle.events import Event
from oracle.values import real
from oracle.work import View, view_of, view_of_file
from program import Program

SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
METRICS = ("sm__cycles_active.avg", SASS.format("ffma"), SASS.format("hadd"))


def numbers(event: Event) -> dict[str, float]:
    found = {key: real(value) for key, value in event.args.items()}
    return {key: value for key, value in found.items() if value is not None}


def spread_samples(view: View) -> dict[tuple[str | None, str], Row]:
    """Every sample against every kernel."""
    rows = defaultdict[tuple[str | None, str], Row](lambda: defaultdict(float))
    seen = set()
    samples = [e for e in view.trace.events if e.category == "hardware_counters" and numbers(e)]
    for device in {int(e.track[0].split()[1]) for e in samples}:
        own = sorted((e for e in samples if f" {device} " in e.track[0]), key=lambda e: e.start)
        times = [e.start for e in own]
        last = 2 * times[-1] - times[-2] if len(times) > 1 else times[-1]
        for sample, end in zip(own, [*times[1:], last], strict=True):
            common = {
                work: min(end, work.event.end) - max(sample.start, work.event.start)
                for work in view.on(device)
                if work.event.kind == "kernel"
            }
            running = sum(both for both in common.values() if both > 0)
            for work, both in common.items():
                if both <= 0:
                    continue
                launch = work.event.launch
                owner = launch.op.name if launch and launch.op else None
                for counter, value in numbers(sample).items():
                    row = rows[owner, counter]
                    row["device_ns"] += both
                    row["weighed"] += value * both
                    row["sum"] += value * both / running
                    row["kernels"] += (id(work), counter) not in seen
                    seen.add((id(work), counter))
    return rows


def random_samples(seed: int) -> str:
    dice = random.Random(seed)
    events: list[Row] = []
    at = 0
    for correlation in range(1, dice.randrange(2, 30)):
        op = dice.choice(("aten::mm", "aten::add", None))
        place = {"pid": 1, "tid": 1}
        if op:
            events.append({"ph": "X", "cat": "cpu_op", "name": op, "ts": at, "dur": 3, **place})
        said = {"correlation": correlation}
        call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "args": said}
        events.append(call | {"ts": at + 1, "dur": 1, **place})
        device, stream = dice.randrange(2), dice.choice((7, 8))
        kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": device, "tid": stream}
        where = {"device": device, "stream": stream, **said}
        length = dice.choice((0, 2, 9, 40))
        events.append(kernel | {"ts": at + dice.randrange(2, 30), "dur": length, "args": where})
        at += dice.randrange(4, 20)
    for device in range(2):
        sample = {"ph": "C", "cat": "hardware_counters", "name": "CUPTI PM Sampling", "tid": 0}
        when = dice.randrange(10)
        while when < at:
            args = {m: dice.randrange(100) for m in METRICS if dice.random() < 0.8}
            process = f"GPU {device} Counters"
            events.append(sample | {"pid": process, "ts": when, "args": args})
            when += dice.choice((5, 10, 10, 50))
    return json.dumps(events)


@pytest.mark.parametrize("seed", range(40))
def test_samples_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(random_samples(seed))
    wanted = spread_samples(view_of(read_trace(path.read_bytes())))
    got = tables(program, "counters", path)
    assert {(row["owner"], row["counter"]) for row in got["counters"]} == wanted.keys()
    flops = defaultdict[str | None, float](float)
    for row in got["counters"]:
        right = wanted[row["owner"], row["counter"]]
        assert row["device_ns"] == right["device_ns"]
        assert row["kernels"] == right["kernels"]
        assert row["mean"] == pytest.approx(right["weighed"] / right["device_ns"])
        if row["counter"].endswith(".sum"):
            assert row["sum"] == pytest.approx(right["sum"])
            flops[row["owner"]] += row["sum"] * (2 if "ffma" in row["counter"] else 1)
        else:
            assert row["sum"] is None
    assert {row["owner"]: row["flops"] for row in got["flops"]} == pytest.approx(flops)


def random_ranges(seed: int) -> str:
    """A process with nested operators whose kernels were counted one by one, more or less."""
    dice = random.Random(seed)
    has_kernels = dice.random() < 0.6
    events: list[Row] = []
    names = []
    at = 0
    for correlation in range(1, dice.randrange(2, 25)):
        place = {"pid": 1, "tid": dice.choice((1, 2))}
        nested = dice.sample(("aten::linear", "aten::mm", "aten::add"), dice.randrange(3))
        for depth, op in enumerate(nested):
            span = {"ts": at + depth, "dur": 20 - 2 * depth}
            events.append({"ph": "X", "cat": "cpu_op", "name": op, **place, **span})
        said = {"correlation": correlation}
        sort, name = dice.choice(
            (
                ("cuda_runtime", "cudaLaunchKernel"),
                ("cuda_driver", "cuLaunchKernelEx"),
                ("cuda_runtime", "cudaMemcpyAsync"),
            )
        )
        call = {"ph": "X", "cat": sort, "name": name, "args": said}
        events.append(call | {"ts": at + 5, "dur": 1, **place})
        if name != "cudaMemcpyAsync":
            names.append(dice.choice(("gemm", "add", "copy")))
            where = {"device": 0, "stream": 7, **said}
            kernel = {"ph": "X", "cat": "kernel", "name": names[-1], "pid": 0, "tid": 7}
            kernel |= {"ts": at + 8, "dur": dice.choice((0, 3, 9)), "args": where}
            events += [kernel] * has_kernels
        at += 30
    if dice.random() < 0.5 and names:  # one was not counted: names are all there is to go by
        names.pop(dice.randrange(len(names)))
    for number, name in enumerate(names):
        args = {metric: dice.randrange(100) for metric in METRICS[1 : dice.choice((2, 3))]}
        measured = {"ph": "X", "cat": "cuda_profiler_range", "name": name, "pid": 0, "tid": 0}
        events.append(measured | {"ts": number * 7, "dur": 7, "args": args})
    dice.shuffle(events)
    return json.dumps(events)


def owner_of(target: Event, by: str) -> str | None:
    """The operator whose kernel it is; a call of the runtime stands for its kernel."""
    launch = target.launch if target.kind == "kernel" else target
    if launch is None or launch.op is None:
        return None
    if by == "operator":
        return launch.op.name
    around = launch.op
    while around.parent is not None:
        around = around.parent
    return around.name


def paired_ranges(view: View) -> list[tuple[Event, Event | None]]:
    """Every range with its kernel, or the call that would have launched it."""
    events = sorted(view.trace.events, key=lambda e: e.start)
    ranges = [e for e in events if e.kind == "profiler_range"]
    kernels = [e for e in events if e.kind == "kernel"]
    targets = kernels or [e for e in events if "Launch" in e.name and "Kernel" in e.name]
    if len(ranges) == len(targets):
        return list(zip(ranges, targets, strict=True))
    pairs: list[tuple[Event, Event | None]] = []
    for measured in ranges:
        same = [e for e in ranges if e.name == measured.name]
        alike = [e for e in kernels if e.name == measured.name]
        fits = len(same) == len(alike)
        pairs.append((measured, alike[same.index(measured)] if fits else None))
    return pairs


@pytest.mark.parametrize("by", ["operator", "outermost", "kernel"])
@pytest.mark.parametrize("seed", range(15))
def test_ranges_by_brute_force(program: Program, seed: int, by: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(random_ranges(seed))
    wanted = defaultdict[tuple[str | None, str], list[float]](list)
    flops = defaultdict[str | None, float](float)
    pairs = paired_ranges(view_of(read_trace(path.read_bytes())))
    for measured, target in pairs:
        owner = owner_of(target, by) if target else None
        if by == "kernel":
            owner = measured.name
        for counter, value in numbers(measured).items():
            wanted[owner, counter].append(value)
            flops[owner] += value * (2 if "ffma" in counter else 1)
    said = answer(program, "counters", path, "--by", by)
    got = {(row["owner"], row["counter"]): row for row in said["tables"]["counters"]}
    assert {key: (row["kernels"], row["sum"]) for key, row in got.items()} == {
        key: (len(values), sum(values)) for key, values in wanted.items()
    }
    assert {row["owner"]: row["flops"] for row in said["tables"]["flops"]} == flops
    is_lost = any(target is None for _, target in pairs)
    assert any("could not be given" in text for text in said["remarks"]) == is_lost


# traceinsight 0.6.1: ranges by bottom_level_op, and the sum of their ffma counts.
def test_ranges_are_paired_as_hta_does(program: Program, corpus: Path) -> None:
    path = corpus / "hta" / "cupti_counters.json.gz"
    view = view_of_file(path)
    start = [e for e in view.trace.events if e.name == "cudaLaunchKernel"]
    launches = sorted(start, key=lambda e: e.start)
    ranges = sorted(
        (e for e in view.trace.events if e.kind == "profiler_range"), key=lambda e: e.start
    )
    assert len(ranges) == len(launches) == 77
    wanted = defaultdict[str, float](float)
    flops = defaultdict[str, float](float)
    for launch, measured in zip(launches, ranges, strict=True):
        assert launch.op is not None
        for counter, value in numbers(measured).items():
            wanted[launch.op.name + counter] += value
            flops[launch.op.name] += value * (2 if "fma" in counter else 1)
    said = answer(program, "counters", path)
    got = said["tables"]
    assert said["remarks"] == []
    assert {row["owner"] + row["counter"]: row["sum"] for row in got["counters"]} == wanted
    assert {row["owner"]: row["flops"] for row in got["flops"]} == flops
    assert sum(row["kernels"] for row in got["flops"]) == 77
