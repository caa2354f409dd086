"""Which setting of torch's memory history costs what on this GPU: one line of JSON per setting.

    bench/memory_history_cost.py OUT.jsonl [--models launch-bound,nested] [--frames 0]
                                 [--rounds 40] [--only modules,default]

All settings take turns in one process, in an order that changes from round to round. A block is a
recording that is begun, two steps that are not counted, and eight that are, each with the device
idle before and after it; what counts is their median, compared with that of the plain block of the
same round. The interval is of the mean of the logarithms (Student's t, 95 %).

Two models: the launch-bound one of recording_overhead.py, whose stacks are flat, and one of small
modules within modules that is computed again in the backward pass, as adapters on a checkpointed
model are: its stacks are deep on both sides. `--frames`: so many more Python frames below the loop.
"""

import argparse
import contextlib
import datetime
import gc
import inspect
import json
import math
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from nested_model import NestedTraining
from recording_overhead import MODELS, Training, run_folder

import stepscope

T_95 = {11: 2.201, 39: 2.023, 159: 1.975}  # by degrees of freedom

# What torch.cuda.memory._record_memory_history is given; None: it is left off.
SETTINGS: dict[str, dict[str, Any] | None] = {
    "off": None,
    "off again": None,
    "no stacks": {"context": None},
    "Python stacks": {"context": "alloc", "stacks": "python"},
    "Python stacks, one entry a free": {
        "context": "alloc",
        "stacks": "python",
        "skip_actions": ["free_requested"],  # from 2.10 on
    },
    "torch's default": {},
}
# Windows of stepscope, by how they name what asked for memory.
WINDOWS = {"stepscope's window": "python", "stepscope's window, modules": "modules"}
ENTRIES = 200_000
TRAININGS: dict[str, Callable[[], Any]] = {
    "launch-bound": lambda: Training(**MODELS["launch-bound"]),
    "nested": NestedTraining,
}
FIRST, COUNTED = 2, 8  # steps of a block


def deeper(frames: int, call: Callable[[], float]) -> float:
    """The same call under so many more Python frames."""
    return call() if frames == 0 else deeper(frames - 1, call)


def step_seconds(training: Any, after: Callable[[], object]) -> float:
    """The median of the counted steps of a block."""
    took = []
    for _ in range(FIRST + COUNTED):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        training.step()
        after()
        torch.cuda.synchronize()
        took.append(time.perf_counter() - begun)
    return statistics.median(took[FIRST:])


@contextlib.contextmanager
def kept(setting: dict[str, Any] | None) -> Iterator[None]:
    """The history is kept this way meanwhile."""
    if setting is None:
        yield
        return
    record = torch.cuda.memory._record_memory_history
    record("all", **{"max_entries": ENTRIES, "clear_history": True, **setting})
    try:
        yield
    finally:
        record(None)


def block(training: Any, name: str) -> float:
    """Recorded by stepscope in any case; the history as `name` says."""
    every = stepscope.schedule(wait=0, warmup=0, active=FIRST + COUNTED + 1)
    window = stepscope.snapshot(every, stacks=WINDOWS[name]) if name in WINDOWS else False
    with (
        run_folder() as folder,
        stepscope.profile(folder, trace=False, snapshot=window) as prof,
        kept(SETTINGS.get(name)),
    ):
        return step_seconds(training, prof.step)


def entries_per_step(training: Any) -> dict[str, int]:
    """How many of each kind one step makes."""
    with kept({"context": None}):
        training.step()
        events = torch.cuda.memory._snapshot()["device_traces"][0]
    counts: dict[str, int] = {}
    for event in events:
        counts[event["action"]] = counts.get(event["action"], 0) + 1
    return counts


def known_settings() -> list[str]:
    """Those that this torch has."""
    record = torch.cuda.memory._record_memory_history
    known = inspect.signature(record).parameters
    return [name for name, asked in SETTINGS.items() if set(asked or {}) <= set(known)]


def compare(training: Any, model: str, frames: int, rounds: int, only: str) -> list[dict[str, Any]]:
    """Every setting against the plain block of its round."""
    words = only.split(",")
    names = [n for n in (*known_settings(), *WINDOWS) if n == "off" or any(w in n for w in words)]
    took: dict[str, list[float]] = {name: [] for name in names}

    def once(name: str) -> float:
        return deeper(frames, lambda: block(training, name))

    shuffled = random.Random(0)
    for name in names:
        once(name)  # not counted
    for _ in range(rounds):
        shuffled.shuffle(names)
        for name in names:
            took[name].append(once(name))
    rows = []
    for name in took:
        logs = [math.log(a / b) for a, b in zip(took[name], took["off"], strict=True)]
        mean = statistics.fmean(logs)
        half = T_95[rounds - 1] * statistics.stdev(logs) / math.sqrt(rounds)
        rows.append(
            {
                "setting": name,
                "model": model,
                "more_frames": frames,
                "rounds": rounds,
                "on": str(datetime.date.today()),
                "step_ms": round(1000 * statistics.median(took[name]), 3),
                "percent": round(100 * (math.exp(mean) - 1), 2),
                "low": round(100 * (math.exp(mean - half) - 1), 2),
                "high": round(100 * (math.exp(mean + half) - 1), 2),
                "median_percent": round(100 * (math.exp(statistics.median(logs)) - 1), 2),
            }
        )
    return rows


def main() -> int:
    """Measures everything."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--models", default=",".join(TRAININGS))
    parser.add_argument("--frames", default="0")
    parser.add_argument("--rounds", type=int, choices=[degrees + 1 for degrees in T_95], default=40)
    parser.add_argument("--only", default="", help="settings with one of these words")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", stepscope.RecordingWarning)
    with arguments.out.open("w") as out:

        def write(row: dict[str, Any]) -> None:
            print(json.dumps(row), file=out, flush=True)
            print(json.dumps(row), flush=True)

        write({"device": torch.cuda.get_device_name(), "torch": torch.__version__})
        write({"python": sys.version.split()[0]})
        for model in arguments.models.split(","):
            training = None
            gc.collect()  # a model that is still there would be named, too
            torch.manual_seed(0)
            training = TRAININGS[model]()
            for _ in range(30):
                training.step()
            write({"model": model, "entries": entries_per_step(training)})
            for frames in (int(number) for number in arguments.frames.split(",")):
                for row in compare(training, model, frames, arguments.rounds, arguments.only):
                    write(row)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
