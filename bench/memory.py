"""Measures what the docs claim about memory snapshots, and writes docs/bench/memory.md.

    bench/memory.py                   snapshots of 1 and 5 million events
    bench/memory.py --most 1000000    the smaller one only
    bench/memory.py --runs 3

One process of ours loads a snapshot and makes every memory table; one of Python does pickle.load
and then all that torch's own _memory_viz makes of it: statistics, the list of events, the inputs of
its flame graphs, the comparison, its two pages. Each function's time is kept, so that a set can be
compared that one thinks fairer. Ratios are taken within one run.
"""

import argparse
import datetime
import sys
from pathlib import Path
from typing import Any

import snapshots
import torch_memory_viz
from inputs import bench_dir
from measure import ROOT, commit, json_lines, machine, run
from programs import build

PAGE = ROOT / "docs" / "bench" / "memory.md"
SIZES = (1_000_000, 5_000_000)

TORCH_PROGRAM = """
import importlib.util, json, pickle, sys, time
spec = importlib.util.spec_from_file_location("memory_viz", sys.argv[1])
viz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(viz)
start = time.perf_counter()
with open(sys.argv[2], "rb") as file:
    data = pickle.load(file)
loaded = time.perf_counter()
parts = {}
for name, function in [
    ("segsum", viz.segsum),
    ("trace", viz.trace),
    ("segments", lambda d: viz.segments(d, format_flamegraph=str)),
    ("memory", lambda d: viz.memory(d, format_flamegraph=str)),
    ("compare", lambda d: viz.compare(d["segments"], d["segments"], format_flamegraph=str)),
    ("trace_plot", viz.trace_plot),
    ("segment_plot", viz.segment_plot),
]:
    before = time.perf_counter()
    function(data)
    parts[name] = round(time.perf_counter() - before, 4)
done = time.perf_counter()
print(json.dumps({"load_s": loaded - start, "rest_s": done - loaded, "parts": parts}))
"""

INTRODUCTION = """# Memory snapshots: speed and memory

Written by `bench/memory.py`; do not edit. Snapshots of the training of a transformer of 96 layers,
with the stacks of a real one, by `bench/snapshots.py`, in the page cache. One process of ours loads
it, prepares the view and makes every memory table with the defaults, on one thread; one of Python
{python} does `pickle.load`, then all functions of `torch.cuda._memory_viz` (torch {torch}):
`segsum`, `trace`, `segments`, `memory`, `compare`, `trace_plot`, `segment_plot`. Times are the best
of {runs} runs in turn.
"""


def best_of(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Part by part, the least time; the largest peak."""
    best = dict(runs[0])
    for other in runs[1:]:
        for key, value in other.items():
            if key.endswith("_s"):
                best[key] = min(best[key], value)
        best["peak_bytes"] = max(best["peak_bytes"], other["peak_bytes"])
    return best


def measured(command: list[str | Path]) -> dict[str, Any]:
    """One run: what the program printed, and its peak."""
    done = run(command)
    return {**json_lines(done.output)[-1], "peak_bytes": done.peak_bytes}


def input_of(events: int) -> Path:
    """The snapshot of so many events, made when it is missing."""
    path = bench_dir() / f"snapshot_{events}.pickle"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        snapshots.make(partial, events, snapshots.template_path())
        partial.rename(path)
    return path


def main() -> int:
    """Measures everything and writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3, help="turns (default 3)")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="most events")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    options = parser.parse_args()
    folder = options.build.resolve()
    build(folder)
    viz, version = torch_memory_viz.fetched()
    rows = []
    parts: list[dict[str, Any]] = []
    theirs_by_part: list[dict[str, Any]] = []
    for events in [size for size in SIZES if size <= options.most]:
        path = input_of(events)
        ours, theirs = [], []
        for _ in range(options.runs):
            ours.append(measured([folder / "bench" / "bench_analyze", path, "--threads", "1"]))
            theirs.append(measured([sys.executable, "-c", TORCH_PROGRAM, viz, path]))
        mine, other = best_of(ours), best_of(theirs)
        size = path.stat().st_size
        total = mine["load_s"] + mine["view_s"] + mine["analyses_s"]
        whole = other["load_s"] + other["rest_s"]
        rows.append(
            f"| {size / 1e6:,.0f} MB | {events:,} | {other['load_s']:.2f} | {whole:.2f} | "
            f"{mine['load_s']:.3f} | {mine['view_s']:.3f} | {mine['analyses_s']:.3f} | "
            f"{whole / total:.1f} | {other['load_s'] / mine['load_s']:.1f} | "
            f"{size / mine['load_s'] / 1e6:,.0f} MB/s | "
            f"{mine['peak_bytes'] / 1e6:,.0f} MB | {mine['peak_bytes'] / size:.2f} | "
            f"{other['peak_bytes'] / 1e6:,.0f} MB |"
        )
        parts.append({"events": events, **mine["analyses"]})
        theirs_by_part.append({"events": events, **other["parts"]})
    names = [name for name in parts[0] if name != "events"]
    table = [
        "| file | events | pickle.load s | with _memory_viz s | our load s | view s | tables s | "
        "whole ÷ whole | load ÷ load | load rate | our peak | peak ÷ file | Python's peak |",
        "|" + " ---: |" * 13,
        *rows,
    ]
    by_table = [
        "## By table",
        "",
        "Nanoseconds per event; a row that does not grow to the right is linear.",
        "",
        "| analysis | " + " | ".join(f"{p['events']:,}" for p in parts) + " |",
        "| --- |" + " ---: |" * len(parts),
        *[
            f"| {name} | " + " | ".join(f"{p[name] * 1e9 / p['events']:.1f}" for p in parts) + " |"
            for name in names
        ],
    ]
    by_function = [
        "## torch's functions",
        "",
        "Seconds.",
        "",
        "| function | " + " | ".join(f"{p['events']:,}" for p in theirs_by_part) + " |",
        "| --- |" + " ---: |" * len(theirs_by_part),
        *[
            f"| {name} | " + " | ".join(f"{p[name]:.2f}" for p in theirs_by_part) + " |"
            for name in theirs_by_part[0]
            if name != "events"
        ],
    ]
    command = " ".join(["bench/memory.py", *sys.argv[1:]])
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    page = [
        INTRODUCTION.format(runs=options.runs, python=python, torch=version),
        "\n".join(table),
        "\n".join(by_table),
        "\n".join(by_function),
        f"`{command}`, {datetime.date.today().isoformat()}, commit {commit()}, {machine()}.",
    ]
    PAGE.write_text("\n\n".join(part.strip() for part in page) + "\n")
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
