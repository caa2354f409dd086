"""Measures what the docs claim about memory snapshots, and writes docs/bench/memory.md.

    bench/memory.py                   snapshots of a quarter, one and five million events
    bench/memory.py --most 1000000    without the largest
    bench/memory.py --runs 3

One process of ours loads a snapshot and makes every memory table; one of Python does pickle.load
and then all that torch's own _memory_viz makes of it. Times are of the processor, so that others
on the machine count little; each function's is kept, so that a set can be compared that one thinks
fairer. Ratios are taken within one run.
"""

import argparse
import datetime
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import snapshots
import torch_memory_viz
from inputs import bench_dir
from measure import ROOT, commit, json_lines, machine, run
from programs import build

PAGE = ROOT / "docs" / "bench" / "memory.md"
SIZES = (250_000, 1_000_000, 5_000_000)
ONCE = 2_000_000  # larger ones are measured once: Python takes minutes
# A change in these may change what is made.
GENERATOR_SOURCES = ("best_fit.py", "snapshots.py", "training_requests.py")

TORCH_PROGRAM = """
import importlib.util, json, pickle, sys, time
spec = importlib.util.spec_from_file_location("memory_viz", sys.argv[1])
viz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(viz)
clock = time.process_time
start = clock()
with open(sys.argv[2], "rb") as file:
    data = pickle.load(file)
parts = {"pickle.load": clock() - start}
for name, function in [
    ("segsum", viz.segsum),
    ("trace", viz.trace),
    ("segments", lambda d: viz.segments(d, format_flamegraph=str)),
    ("memory", lambda d: viz.memory(d, format_flamegraph=str)),
    ("compare", lambda d: viz.compare(d["segments"], d["segments"], format_flamegraph=str)),
    ("trace_plot", viz.trace_plot),
    ("segment_plot", viz.segment_plot),
]:
    start = clock()
    function(data)
    parts[name] = clock() - start
print(json.dumps({"parts": parts}))
"""

INTRODUCTION = """# Memory snapshots: speed and memory

Written by `bench/memory.py`; do not edit. Snapshots of the training of a transformer of 96 layers
by `bench/snapshots.py`, in the page cache: 2,557 stacks of 45 frames on average, made of those of a
recorded run, in the opcodes Python's pickler writes. One process of ours loads a snapshot and makes
every memory table with the defaults, on one thread; the replays under other settings of the
allocator are among it. One of Python {python} does `pickle.load`, then everything the command line
of `torch.cuda._memory_viz` (torch {torch}) offers: `segsum` (its `stats`), `trace`, `segments`,
`memory`, `compare` (with itself), `trace_plot`, `segment_plot`; flame graphs without the script
that draws them. Seconds of processor time, the least of {runs} runs in turn (one above two million
events).

`trace` looks through all segments for every allocation, which is most of Python's time here; what
is left without it is a ratio of its own. So is loading alone.
"""


@dataclass(frozen=True)
class Measured:
    """One snapshot, read by both."""

    events: int
    file_bytes: int
    ours_s: float
    theirs_s: float
    our_peak: int
    their_peak: int
    our_parts: dict[str, float]
    their_parts: dict[str, float]


def made(events: int) -> Path:
    """The snapshot of about so many events, made when it is missing or was made otherwise."""
    path = bench_dir() / f"snapshot_{events}.pickle"
    newest = max((ROOT / "bench" / name).stat().st_mtime for name in GENERATOR_SOURCES)
    if not path.exists() or path.stat().st_mtime < newest:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        count = snapshots.make(partial, events, snapshots.template_path())
        path.with_suffix(".events").write_text(str(count))
        partial.rename(path)
    return path


def measured(events: int, runs: int, ours: Path, viz: Path) -> Measured:
    """Both programs in turn; of each the run with the least time, and the largest peak."""
    path = made(events)
    mine, others = [], []
    for _ in range(1 if events > ONCE else runs):
        mine.append(run([ours, path, "--threads", "1"]))
        others.append(run([sys.executable, "-c", TORCH_PROGRAM, viz, path]))
    best, other = min(mine, key=lambda r: r.cpu_s), min(others, key=lambda r: r.cpu_s)
    facts: dict[str, Any] = json_lines(best.output)[-1]
    return Measured(
        events=int(path.with_suffix(".events").read_text()),
        file_bytes=path.stat().st_size,
        ours_s=best.cpu_s,
        theirs_s=other.cpu_s,
        our_peak=max(r.peak_bytes for r in mine),
        their_peak=max(r.peak_bytes for r in others),
        our_parts={"load": facts["load_s"], **facts["analyses"]},
        their_parts=json_lines(other.output)[-1]["parts"],
    )


def whole_table(rows: list[Measured]) -> str:
    """Both as a whole."""
    lines = [
        "| file | events | Python s | ours s | ratio | ratio without `trace` | "
        "`pickle.load` ÷ our load | our peak | peak ÷ file | Python's peak |",
        "|" + " ---: |" * 10,
    ]
    for m in rows:
        without = m.theirs_s - m.their_parts["trace"]
        lines.append(
            f"| {m.file_bytes / 1e6:,.0f} MB | {m.events:,} | {m.theirs_s:.1f} | {m.ours_s:.2f} | "
            f"{m.theirs_s / m.ours_s:.1f} | {without / m.ours_s:.1f} | "
            f"{m.their_parts['pickle.load'] / m.our_parts['load']:.1f} | "
            f"{m.our_peak / 1e6:,.0f} MB | {m.our_peak / m.file_bytes:.2f} | "
            f"{m.their_peak / 1e6:,.0f} MB |"
        )
    return "\n".join(lines)


def growth_table(rows: list[Measured]) -> str:
    """Ours per event, part by part."""
    lines = [
        "## Growth",
        "",
        "Ours, nanoseconds of processor time per event; a row that does not grow to the right is",
        "linear.",
        "",
        "| part | " + " | ".join(f"{m.events:,}" for m in rows) + " |",
        "| --- |" + " ---: |" * len(rows),
        "| all | " + " | ".join(f"{m.ours_s * 1e9 / m.events:,.0f}" for m in rows) + " |",
    ]
    for name in rows[0].our_parts:
        cells = (m.our_parts[name] * 1e9 / m.events for m in rows)
        lines.append(f"| {name} | " + " | ".join(f"{cell:,.0f}" for cell in cells) + " |")
    return "\n".join(lines)


def function_table(rows: list[Measured]) -> str:
    """Theirs, function by function."""
    lines = [
        "## Python's parts",
        "",
        "Seconds.",
        "",
        "| function | " + " | ".join(f"{m.events:,}" for m in rows) + " |",
        "| --- |" + " ---: |" * len(rows),
    ]
    for name in rows[0].their_parts:
        cells = " | ".join(f"{m.their_parts[name]:.2f}" for m in rows)
        lines.append(f"| `{name}` | {cells} |")
    return "\n".join(lines)


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
    built = commit()
    rows = [
        measured(events, options.runs, folder / "bench" / "bench_analyze", viz)
        for events in SIZES
        if events <= options.most
    ]
    command = " ".join(["bench/memory.py", *sys.argv[1:]])
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    page = [
        INTRODUCTION.format(runs=options.runs, python=python, torch=version),
        whole_table(rows),
        growth_table(rows),
        function_table(rows),
        f"`{command}`, {datetime.date.today().isoformat()}, commit {built}, {machine()}.",
    ]
    PAGE.write_text("\n\n".join(part.strip() for part in page) + "\n")
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
