"""What torch.profiler takes on the host to record an operator, a call or a launch of a kernel.

    bench/profiler_overhead.py [--runs 14]

Runs on a machine with a GPU and torch. Loops of one kind of work are timed in a process that never
saw a profiler, then in the same process below one. An operator that does nothing but call another
takes as long as recording one takes, and little more (`wrapper_us`, the lower quartile): what was
recorded costs so many times as much. src/analysis/stalls/without_profiler.cpp has the figures.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS = 3
# As without_profiler.cpp: an operator, a call, a launch of a kernel.
TIMES = {"operators": 1.0, "calls": 1.2, "launches": 2.4}


def loops() -> dict[str, tuple[Callable[[], Any], int]]:
    """Kinds of work, and how often in a loop: less than the queue of the GPU holds."""
    import torch

    square = torch.zeros(64, 64, device="cuda")
    few = torch.zeros(8, device="cuda")
    on_host = torch.zeros(8)
    event = torch.cuda.Event()
    recurrent = torch.nn.LSTM(64, 64, 2, batch_first=True).cuda()
    spectra = torch.zeros(4, 12, 64, device="cuda")
    parameters = [torch.zeros(64, device="cuda") for _ in range(20)]
    for one in parameters:
        one.grad = torch.zeros_like(one)
    optimizer = torch.optim.AdamW(parameters, foreach=False)

    layers = [
        torch.nn.Sequential(
            torch.nn.Conv2d(8, 8, 3, padding=1), torch.nn.GroupNorm(2, 8), torch.nn.SiLU()
        )
        for _ in range(6)
    ]
    network = torch.nn.Sequential(*layers).cuda()
    pictures = torch.zeros(2, 8, 16, 16, device="cuda")

    def training() -> None:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = network(pictures).sum()
        loss.backward()

    def lstm() -> None:
        with torch.no_grad():
            recurrent(spectra)

    return {
        "views": (square.t, 400),
        "kernel": (lambda: few.add_(1), 400),
        "event": (event.record, 400),
        "item": (lambda: few[0].item(), 200),
        "mean and item": (lambda: square[3].mean().item(), 200),
        "upload": (lambda: few.copy_(on_host), 200),
        "optimizer": (optimizer.step, 2),
        "lstm": (lstm, 8),
        "training": (training, 4),
    }


def timed(name: str, work: Callable[[], Any], count: int) -> float:
    """Microseconds for one."""
    import torch

    torch.cuda.synchronize()
    begin = time.perf_counter()
    with torch.profiler.record_function(f"loop {name}"):
        for _ in range(count):
            work()
    return (time.perf_counter() - begin) / count * 1e6


def inside(events: list[dict[str, Any]], range_: dict[str, Any]) -> list[dict[str, Any]]:
    """Events that began in a range."""
    begin, end = range_["ts"], range_["ts"] + range_["dur"]
    return [one for one in events if begin <= one["ts"] < end]


def wrappers_of(events: list[dict[str, Any]]) -> float:
    """Of x.t(), which calls x.transpose() and nothing else."""
    operators = sorted((one for one in events if one["cat"] == "cpu_op"), key=lambda one: one["ts"])
    pairs = zip(operators, operators[1:], strict=False)
    own = sorted(a["dur"] - b["dur"] for a, b in pairs if a["name"] == "aten::t")
    return float(own[len(own) // 4])


def one_run() -> None:
    """Prints a line for each loop: what it took, how much was recorded, and what that cost."""
    from torch.profiler import ProfilerActivity, profile

    all_ = loops()
    for _ in range(3):
        for name, (work, count) in all_.items():
            timed(name, work, count)
    plain = [(name, timed(name, *one)) for _ in range(ROUNDS) for name, one in all_.items()]
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities, record_shapes=True) as recorder:
        traced = [timed(name, *all_[name]) for name, _ in plain]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        recorder.export_chrome_trace(str(path))
        events = [
            one for one in json.loads(path.read_text())["traceEvents"] if one.get("ph") == "X"
        ]
    kernels = {
        one["args"]["correlation"] for one in events if one["cat"] == "kernel" and "args" in one
    }
    ranges = [
        one
        for one in events
        if one["cat"] == "user_annotation" and str(one["name"]).startswith("loop ")
    ]
    ranges.sort(key=lambda one: one["ts"])
    wrapper_us = wrappers_of(events)
    for (name, took), recorded, range_ in zip(plain, traced, ranges, strict=True):
        count = all_[name][1]
        counts = {"operators": 0, "calls": 0, "launches": 0}
        for one in inside(events, range_):
            if one["cat"] == "cpu_op":
                counts["operators"] += 1
            elif one["cat"] in ("cuda_runtime", "cuda_driver"):
                launches = one["args"].get("correlation") in kernels
                counts["launches" if launches else "calls"] += 1
        expected = sum(TIMES[kind] * counts[kind] / count for kind in counts)
        line = {"loop": name, "took_us": took, "traced_us": recorded, "wrapper_us": wrapper_us}
        line |= {kind: counts[kind] / count for kind in counts}
        print(json.dumps(line | {"of_expected": (recorded - took) / wrapper_us / expected}))


def main() -> None:
    """A line for each loop, over all runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=14)
    parser.add_argument("--one", action="store_true", help="one run, in this process")
    asked = parser.parse_args()
    if asked.one:
        one_run()
        return
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for _ in range(asked.runs):
        # What a profiler leaves in the driver slows the launches of all that follows in a process.
        done = subprocess.run(
            [sys.executable, __file__, "--one"], capture_output=True, text=True, check=True
        )
        for line in done.stdout.splitlines():
            row = json.loads(line)
            found[row["loop"]].append(row)
    print("cost of what was recorded, of what is expected: a tenth below, median, a tenth above")
    for name, lines in found.items():
        cost = sorted(line["of_expected"] for line in lines)
        tenth = len(cost) // 10
        middle = statistics.median(cost)
        counts = ", ".join(f"{lines[0][kind]:.0f} {kind}" for kind in TIMES)
        print(f"{name:14} {cost[tenth]:5.2f} {middle:5.2f} {cost[-1 - tenth]:5.2f}  {counts}")


if __name__ == "__main__":
    main()
