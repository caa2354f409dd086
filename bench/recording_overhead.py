"""What recording costs a training on this GPU: figures as JSON lines, for bench/recording.py.

    bench/recording_overhead.py OUT.jsonl [--quick] [--only always,whole]

Trainings with and without recording take turns in one process, at least forty blocks of each; a
block begins and ends with the device idle. A pair of neighbours gives one ratio, the interval is of
the mean of their logarithms (Student's t, 95 %). "plain twice" compares the training with itself:
differences below that are noise. Needs torch with CUDA; python/stepscope must have `_capture`
built for this interpreter.
"""

import argparse
import contextlib
import datetime
import json
import math
import shutil
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

import stepscope

T_95 = {7: 2.365, 11: 2.201, 39: 2.023, 59: 2.001}  # by degrees of freedom


class Block(torch.nn.Module):
    """Attention and a perceptron, as in any transformer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(width) for _ in range(2)])
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Residual, both times."""
        batch, length, width = x.shape
        split = (batch, length, 3, self.heads, width // self.heads)
        q, k, v = self.qkv(self.norms[0](x)).view(split).permute(2, 0, 3, 1, 4)
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norms[1](x))


class Training:
    """A model, its optimizer and a step that says what it does."""

    def __init__(self, width: int, depth: int, batch: int, length: int) -> None:
        self.model = torch.nn.Sequential(*[Block(width, width // 64) for _ in range(depth)])
        self.model.to("cuda", torch.bfloat16)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5)
        self.data = torch.randn(batch, length, width, device="cuda", dtype=torch.bfloat16)

    def step(self) -> None:
        """With the ranges that a user would put there."""
        with stepscope.range("forward"):
            loss = self.model(self.data).square().mean()
        with stepscope.range("backward"):
            loss.backward()
        with stepscope.range("optimizer"):
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)


Way = Callable[[Training, int], float]


def timed(training: Training, steps: int, after: Callable[[], object] = lambda: None) -> float:
    """Seconds of so many steps, the device's work included."""
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(steps):
        training.step()
        after()
    torch.cuda.synchronize()
    return time.perf_counter() - begun


def plain(training: Training, steps: int) -> float:
    """Nothing records. The pause before it is that of a recording: a rested GPU runs faster."""
    with run_folder() as folder, stepscope.profile(folder, trace=False):
        pass
    return timed(training, steps)


@contextlib.contextmanager
def run_folder() -> Iterator[str]:
    """Of one block, removed after it."""
    folder = tempfile.mkdtemp(prefix="stepscope-bench-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def always_on(training: Training, steps: int) -> float:
    """Ranges, steps and logs; no window."""
    with run_folder() as folder, stepscope.profile(folder, trace=False) as prof:
        return timed(training, steps, prof.step)


def torch_profiler(training: Training, steps: int) -> float:
    """torch.profiler over every step of the block, as for a window; its stop is not counted."""
    plain(training, 0)
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as prof:
        return timed(training, steps, prof.step)


def trace_window(training: Training, steps: int) -> float:
    """Our window over every step of the block; its stop and export are not counted."""
    every = stepscope.schedule(wait=0, warmup=0, active=steps + 1)
    with (
        run_folder() as folder,
        stepscope.profile(folder, schedule=every, trace=["cpu", "cuda"]) as prof,
    ):
        return timed(training, steps, prof.step)


def snapshot_window(training: Training, steps: int) -> float:
    """Our memory window, with the stacks it takes by default."""
    every = stepscope.schedule(wait=0, warmup=0, active=steps + 1)
    with (
        run_folder() as folder,
        stepscope.profile(folder, schedule=every, trace=False, snapshot=True) as prof,
    ):
        return timed(training, steps, prof.step)


def torch_history(training: Training, steps: int) -> float:
    """The history that torch keeps by default."""
    plain(training, 0)
    torch.cuda.memory._record_memory_history()
    try:
        return timed(training, steps)
    finally:
        torch.cuda.memory._record_memory_history(enabled=None)


def compare(training: Training, way: Way, base: Way, steps: int, blocks: int) -> dict[str, Any]:
    """Ratios of neighbours in time; the order changes from pair to pair."""
    ways = (way, base)
    for each in ways:
        each(training, steps)
    pairs = []
    for number in range(blocks):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        seconds = [0.0, 0.0]
        for which in order:
            seconds[which] = ways[which](training, steps)
        pairs.append(seconds)
    logs = [math.log(a / b) for a, b in pairs]
    mean = statistics.fmean(logs)
    half = T_95[blocks - 1] * statistics.stdev(logs) / math.sqrt(blocks)
    return {
        "blocks": blocks,
        "steps_per_block": steps,
        "on": str(datetime.date.today()),
        "step_ms": 1000 * statistics.median(b for _, b in pairs) / steps,
        "percent": 100 * (math.exp(mean) - 1),
        "low": 100 * (math.exp(mean - half) - 1),
        "high": 100 * (math.exp(mean + half) - 1),
    }


# What torch and CUPTI take for a window whoever asks for it. "other" is ours, and counts as ours.
TORCHS_OWN = ("start", "stop", "export")


def torchs_own(cost: dict[str, float]) -> float:
    """Of what the training stood still for a window."""
    return sum(cost[name] for name in TORCHS_OWN)


def long_run(training: Training, steps: int, turns: int) -> dict[str, Any]:
    """A whole recording with one window, beyond the window's start, stop and export."""
    window = stepscope.schedule(wait=steps // 2, warmup=1, active=3, repeat=1)
    seconds: dict[str, list[float]] = {"plain": [], "recorded": [], "beyond": []}
    costs: list[dict[str, float]] = []
    for number in range(turns):
        for which in ("plain", "recorded") if number % 2 == 0 else ("recorded", "plain"):
            if which == "plain":
                seconds["plain"].append(plain(training, steps))
                continue
            with run_folder() as folder:
                with stepscope.profile(folder, schedule=window, trace=["cpu", "cuda"]) as prof:
                    took = timed(training, steps, prof.step)
                (facts,) = Path(folder).rglob("rank.json")
                (cost,) = (w["cost_ns"] for w in json.loads(facts.read_text())["windows"])
            costs.append({key: ns / 1e9 for key, ns in cost.items()})
            seconds["recorded"].append(took)
            seconds["beyond"].append(took - torchs_own(costs[-1]))
    ratios = [math.log(b / p) for b, p in zip(seconds["beyond"], seconds["plain"], strict=True)]
    mean = statistics.fmean(ratios)
    half = T_95[turns - 1] * statistics.stdev(ratios) / math.sqrt(turns)
    return {
        "turns": turns,
        "steps": steps,
        "step_ms": 1000 * statistics.median(seconds["plain"]) / steps,
        "percent": 100 * (math.exp(mean) - 1),
        "low": 100 * (math.exp(mean - half) - 1),
        "high": 100 * (math.exp(mean + half) - 1),
        "costs_ms": {
            key: 1000 * statistics.median(cost[key] for cost in costs) for key in costs[0]
        },
        "subtracted": list(TORCHS_OWN),
    }


MODELS = {
    "compute-bound": {"width": 2048, "depth": 8, "batch": 8, "length": 1024},
    "launch-bound": {"width": 256, "depth": 12, "batch": 4, "length": 128},
    "short steps": {"width": 2048, "depth": 2, "batch": 8, "length": 1024},
}
CLAIMS: list[tuple[str, str, Way, Way, int]] = [
    # what, model, way, against, steps a block
    ("plain twice", "compute-bound", plain, plain, 15),
    ("always on", "compute-bound", always_on, plain, 15),
    ("plain twice", "launch-bound", plain, plain, 20),
    ("always on", "launch-bound", always_on, plain, 20),
    ("torch.profiler alone", "launch-bound", torch_profiler, plain, 10),
    ("trace window", "launch-bound", trace_window, plain, 10),
    ("trace window over torch.profiler", "launch-bound", trace_window, torch_profiler, 10),
    ("snapshot window", "launch-bound", snapshot_window, plain, 10),
    ("snapshot window", "compute-bound", snapshot_window, plain, 10),
    ("torch's memory history", "launch-bound", torch_history, plain, 10),
    ("torch's memory history", "compute-bound", torch_history, plain, 10),
]


def main() -> int:
    """Measures everything."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="claims with one of these words: plain,always")
    parser.add_argument("--quick", action="store_true", help="few blocks, to see that it runs")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    # Blocks end inside the window on purpose: closing it is not part of them.
    warnings.simplefilter("ignore", stepscope.RecordingWarning)
    trainings = {name: Training(**size) for name, size in MODELS.items()}
    facts = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "python": sys.version.split()[0],
        "stepscope": stepscope.__version__,
    }
    with arguments.out.open("w") as out:

        def write(row: dict[str, Any]) -> None:
            print(json.dumps(row), file=out, flush=True)
            print(json.dumps(row), flush=True)

        write({"machine": facts})
        for training in trainings.values():
            timed(training, 20)
        words = arguments.only.split(",")
        for what, model, way, base, steps in CLAIMS:
            if not any(word in what for word in words):
                continue
            blocks = 12 if arguments.quick else 60 if way in (plain, always_on) else 40
            found = compare(trainings[model], way, base, steps, blocks)
            write({"what": what, "model": model, **found})
        if any(word in "a whole run" for word in words):
            steps = 100 if arguments.quick else 1000
            found = long_run(trainings["short steps"], steps, 8)
            write({"what": "a whole run with one window", "model": "short steps", **found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
