"""Measures what recording costs, and writes docs/bench/recording.md.

    bench/recording.py [--runs 9] [--reuse]

Ranges: one from C++ beside two readings of the clock it is made of (`bench_ranges`); one from
Python beside torch's record_function and Lightning's SimpleProfiler, in turn, in the environment
that tools/training_env makes. A training on a GPU and torch's memory history: rows that
bench/recording_overhead.py and bench/memory_history_cost.py wrote there, kept in bench/gpu.
"""

import argparse
import datetime
import json
import statistics
import subprocess
from typing import Any

from measure import ROOT, commit, machine, taken_on_a_gpu
from programs import build

PAGE = ROOT / "docs" / "bench" / "recording.md"
KEPT = ROOT / ".deps" / "bench-results" / "recording.json"
PYTHON = ROOT / ".deps" / "training-env" / "bin" / "python"

RANGES = """
import json, sys, tempfile, timeit
sys.path.insert(0, sys.argv[1])
import stepscope as ss
from stepscope import _capture
from torch.profiler import record_function
from lightning.pytorch.profilers import SimpleProfiler
simple = SimpleProfiler()
def nothing(): pass
def ours():
    with ss.range("x"): pass
def torchs():
    with record_function("x"): pass
def lightnings():
    with simple.profile("x"): pass
def cost(function, count):
    return timeit.timeit(function, number=count) / count * 1e9
rows = {"nothing": [], "range, recorded": [], "range, nothing records": [],
        "record_function, no profiler": [], "SimpleProfiler": []}
for _ in range(int(sys.argv[2])):
    empty = cost(nothing, 20000)
    rows["nothing"].append(empty)
    _capture.start(tempfile.mkdtemp(), "events.scope", {})
    ours()
    rows["range, recorded"].append(cost(ours, 20000) - empty)
    _capture.flush()
    assert _capture.cost()["dropped"] == 0
    _capture.stop()
    rows["range, nothing records"].append(cost(ours, 20000) - empty)
    rows["record_function, no profiler"].append(cost(torchs, 2000) - empty)
    rows["SimpleProfiler"].append(cost(lightnings, 2000) - empty)
print(json.dumps(rows))
"""


WINDOWS = """
import json, pathlib, sys, tempfile, time
sys.path.insert(0, sys.argv[1])
import torch
import stepscope as ss
torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # torch's late imports
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
    pass
kept = [{"id": [number]} for number in range(int(sys.argv[2]) // 2)]
longest, other = [], []
for _ in range(int(sys.argv[3])):
    folder, took = tempfile.mkdtemp(), []
    plan = ss.schedule(wait=5, warmup=1, active=2, repeat=3)
    with ss.profile(folder, schedule=plan, trace=["cpu"]) as prof:
        for _ in range(30):
            time.sleep(0.005)
            begun = time.perf_counter()
            prof.step()
            took.append(time.perf_counter() - begun)
    (facts,) = pathlib.Path(folder).rglob("rank.json")
    longest.append(1e3 * max(took))
    other += [w["cost_ns"]["other"] / 1e6 for w in json.loads(facts.read_text())["windows"]]
print(json.dumps({"objects": int(sys.argv[2]), "longest_ms": longest, "other_ms": other}))
"""


def measure_windows(runs: int) -> list[dict[str, Any]]:
    """What windows take beside torch's profiler, with more and more objects in the process."""
    rows = []
    for objects in (0, 4_000_000):
        words = [str(ROOT / "python"), str(objects), str(runs)]
        done = subprocess.run(
            [PYTHON, "-c", WINDOWS, *words], capture_output=True, text=True, check=True
        )
        rows.append(json.loads(done.stdout))
    return rows


def window_lines(rows: list[dict[str, Any]]) -> list[str]:
    """The table of them."""
    lines = [
        "## A trace window on a CPU",
        "",
        "Steps of 5 ms, three windows a run, torch's own late imports done: how long the training",
        "stands still beside torch's start, stop and export (`other` in rank.json: memory figures,",
        "the search for other profilers), and the longest call of `step()` of a run.",
        "",
        "| more objects | windows | other, median ms | longest ms | longest `step()`, median ms |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        other = row["other_ms"]
        lines.append(
            f"| {row['objects']:,} | {len(other)} | {statistics.median(other):.1f} "
            f"| {max(other):.1f} | {statistics.median(row['longest_ms']):.1f} |"
        )
    return [*lines, ""]


def measure_ranges(runs: int) -> dict[str, Any]:
    """Nanoseconds by kind of range; medians and the least."""
    build(ROOT / "build", "bench_ranges")
    native = json.loads(
        subprocess.run(
            [ROOT / "build" / "bench" / "bench_ranges"], check=True, capture_output=True, text=True
        ).stdout
    )
    if not PYTHON.exists():
        subprocess.run([ROOT / "tools" / "training_env"], check=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "lightning"], check=True)
    said = subprocess.run(
        [PYTHON, "-c", RANGES, str(ROOT / "python"), str(runs)],
        check=True,
        capture_output=True,
        text=True,
    )
    rows = json.loads(said.stdout.splitlines()[-1])
    python = {
        name: {"median": statistics.median(values), "least": min(values)}
        for name, values in rows.items()
    }
    return {
        "native": native,
        "python": python,
        "by": f"{datetime.date.today()}, commit {commit()}, {machine()}",
    }


def range_lines(found: dict[str, Any]) -> list[str]:
    """The tables of ranges."""
    native, python = found["native"], found["python"]
    lines = [
        "## A range",
        "",
        "From C++, beside the two readings of the clock that it is made of; medians.",
        "The goal is at most 2 times them.",
        "",
        "| what | ns |",
        "| --- | ---: |",
        f"| two readings of the clock | {native['two_clock_reads_ns']:.0f} |",
        f"| a range | {native['range_ns']:.0f}, {native['ratio']:.2f} times them |",
        f"| a range while nothing records | {native['range_not_recording_ns']:.1f} |",
        "",
        'From Python, `with stepscope.range("x")` beside its peers, in turn in one process,',
        "less what an empty call costs. The goal is under 500 ns.",
        "",
        "| what | median ns | least ns |",
        "| --- | ---: | ---: |",
    ]
    for name, cost in python.items():
        if name != "nothing":
            lines.append(f"| {name} | {cost['median']:,.0f} | {cost['least']:,.0f} |")
    return [*lines, "", f"`bench/recording.py`, {found['by']}.", ""]


def overhead_lines(rows: list[dict[str, Any]]) -> list[str]:
    """The tables of trainings with and without recording."""
    facts = rows[0]["machine"]
    lines = [
        "## A training on a GPU",
        "",
        f"{facts['device']}, torch {facts['torch']}, Python {facts['python']}. Trainings with and",
        "without recording take turns in one process; in per cent of the step, with the 95 %",
        "interval of the mean over pairs of neighbours. *plain twice* compares it with itself.",
        "A window's start, stop and export are not counted here, and given below.",
        "",
        "| what | model | step ms | pairs | slower by | 95 % interval | measured |",
        "| --- | --- | ---: | ---: | ---: | --- | --- |",
    ]
    lines += [
        f"| {row['what']} | {row['model']} | {row['step_ms']:.2f} | {row['blocks']} "
        f"| {row['percent']:+.2f} % | {row['low']:+.2f} to {row['high']:+.2f} % | {row['on']} |"
        for row in rows[1:]
        if "blocks" in row
    ]
    for row in rows[1:]:
        if "turns" in row:
            costs = row["costs_ms"]
            whole = 100 * sum(costs[name] for name in row["subtracted"])
            whole /= row["steps"] * row["step_ms"]
            apart = ", ".join(f"{name} {costs[name]:.0f} ms" for name in row["subtracted"])
            lines += [
                "",
                f"A whole run of {row['steps']:,} steps of {row['step_ms']:.2f} ms with one window",
                f"of three ({row['turns']} pairs): {row['percent']:+.2f} % ({row['low']:+.2f} to "
                f"{row['high']:+.2f} %) beyond the window's own {apart}.",
                f"What else it takes ({costs['other']:.0f} ms) is in that figure. It may be below",
                "nothing, since the GPU works on while a window stops. With nothing subtracted:",
                f"{row['percent'] + whole:+.2f} %.",
            ]
    return [
        *lines,
        "",
        "`bench/recording_overhead.py`, kept in `bench/gpu/recording_overhead.jsonl`.",
        "",
    ]


def turn_of(row: dict[str, Any]) -> tuple[str, int, int]:
    """What rows of memory_history_cost.py have in common that were measured in turns."""
    return row["model"], row["more_frames"], row["rounds"]


def history_lines(rows: list[dict[str, Any]]) -> list[str]:
    """The tables of torch's memory history by setting, one for each model."""
    facts = next(row for row in rows if "device" in row)
    entries = {row["model"]: row["entries"] for row in rows if "entries" in row}
    measured = [row for row in rows if "setting" in row]
    plain = {turn_of(row): row["step_ms"] for row in measured if row["setting"] == "off"}
    lines = [
        "## Memory history, setting by setting",
        "",
        f"{facts['device']}, torch {facts['torch']}. The settings with the same number of rounds",
        "take turns, block by block; in per cent of the step, and what that is per",
        "allocation. *Nested* are small modules within modules, computed again in the backward",
        "pass: its stacks are deep. A median is that of all rounds.",
        "",
        "| model | setting | rounds | step ms | slower by | 95 % interval | median "
        "| µs per allocation | measured |",
        "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | --- |",
    ]
    for row in measured:
        if row["setting"] == "off":
            continue
        model, frames = row["model"], row["more_frames"]
        each = 10 * plain[turn_of(row)] * row["median_percent"] / entries[model]["alloc"]
        deeper = f", {frames} frames deeper" if frames else ""
        lines.append(
            f"| {model}{deeper} | {row['setting']} | {row['rounds']} | {row['step_ms']:.2f} | "
            f"{row['percent']:+.2f} % | {row['low']:+.2f} to {row['high']:+.2f} % | "
            f"{row['median_percent']:+.2f} % | {each:.1f} | {row['on']} |"
        )
    made = ", ".join(f"{model} {count['alloc']:,}" for model, count in entries.items())
    by_setting = {(row["model"], row["setting"]): row["percent"] for row in measured}
    dearer = " and ".join(
        format(by_setting[model, "torch's default"] / by_setting[model, "Python stacks"], ".1f")
        for model in entries
    )
    return [
        *lines,
        "",
        f"Allocations of a step: {made}.",
        "",
        "What a snapshot window costs a launch-bound step is what torch's stacks of Python cost. A",
        'window with `stacks="modules"` has none: beside each allocation stands the module that',
        "asked for it. Where kernels take longer than their launches they hide all of it",
        "(the compute-bound model above). Stacks of C++ (torch's default) cost",
        f"{dearer} times as much as those of Python, and with them torch 2.11 fails in the",
        "backward pass of models that are checkpointed without reentry (`SystemError:",
        'run_backward returned NULL`): they are not asked for unless `stacks="all"` is given.',
        "",
        "`bench/memory_history_cost.py`, kept in `bench/gpu/memory_history_cost.jsonl`.",
        "",
    ]


def main() -> int:
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--reuse", action="store_true", help="ranges are not measured again")
    arguments = parser.parse_args()
    kept: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if not arguments.reuse or "ranges" not in kept:
        kept["ranges"] = measure_ranges(arguments.runs)
        kept["windows"] = measure_windows(arguments.runs)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    KEPT.write_text(json.dumps(kept))
    lines = [
        "# Recording: what it costs",
        "",
        "Written by `bench/recording.py`; do not edit.",
        "",
        *range_lines(kept["ranges"]),
        *overhead_lines(taken_on_a_gpu("recording_overhead")),
        *window_lines(kept["windows"]),
        *history_lines(taken_on_a_gpu("memory_history_cost")),
    ]
    PAGE.write_text("\n".join(lines))
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
