"""Measures what the docs claim about the analyses, and writes docs/bench/analyses.md.

    bench/analyses.py                  every part
    bench/analyses.py --most 500M      smaller inputs only
    bench/analyses.py --reuse-peers    with the last figures of HTA, which takes minutes
    bench/analyses.py --without-hta    the page keeps its table of HTA as it stands, with its date

Four claims: all analyses together take less time than loading the trace; none grows worse than
n log n; kernels that repeat are found among two millions in seconds, in any order; and HTA, doing
the part of them that it knows, takes at least fifty times as long and ten times the memory.
Ratios are taken within one run.
"""

import argparse
import datetime
import functools
import math
import os
import sys
from pathlib import Path
from typing import Any

import peers
from inputs import Input
from kernel_texts import ORDERS, kernel_trace
from measure import ROOT, Timing, commit, json_lines, machine, run
from programs import TEMPLATES, Programs, build

PAGE = ROOT / "docs" / "bench" / "analyses.md"
MAIN = TEMPLATES[0]
STACKS = TEMPLATES[1]  # the same model with Python frames: what modules, stacks and cpu live on
SIZES = ("100M", "500M", "2G")
STACK_SIZES = ("100M", "500M")
KERNELS = 2_000_000
HTA_HEADING = "## Against HTA"
LOADS: list[float] = []  # of the machine, before each run

# HTA's own set: load, then the breakdowns, idle time, overlap, launches and queues, nothing drawn.
HTA_PROGRAM = """
import json, logging, sys, time
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
start = time.perf_counter()
analysis = TraceAnalysis(trace_files={0: sys.argv[1]})
loaded = time.perf_counter()
failed = []
for name, options in [
    ("get_temporal_breakdown", {"visualize": False}),
    ("get_gpu_kernel_breakdown", {"visualize": False}),
    ("get_idle_time_breakdown", {"ranks": [0], "visualize": False}),
    ("get_comm_comp_overlap", {"visualize": False}),
    ("get_cuda_kernel_launch_stats", {"ranks": [0], "visualize": False}),
    ("get_queue_length_summary", {"ranks": [0]}),
    ("get_memory_bw_summary", {"ranks": [0]}),
]:
    try:
        getattr(analysis, name)(**options)
    except Exception as error:
        failed.append(name + ": " + type(error).__name__)
done = time.perf_counter()
print(json.dumps({"seconds": done - start, "load_s": loaded - start, "rest_s": done - loaded,
                  "failed": failed}))
"""

INTRODUCTION = """# Analyses: speed and memory

Written by `bench/analyses.py`; do not edit. One process loads the trace, prepares the view and asks
every question about a trace with its defaults ({count} of the {all} analyses; the others read
memory snapshots, which `bench/memory.py` measures, or what processes recorded of themselves).
Times are the best of {runs} runs in turn: on one thread of the CPU, on two of the clock, with
questions asked side by side as a report asks them; GB are 10^9 bytes.
Inputs are a real trace multiplied by `bench/generate.cpp`, in the page cache.
"""


def measure(
    programs: Programs, trace: Input, threads: int, runs: int, *options: str
) -> dict[str, Any]:
    """The best of several runs, part by part, and the largest peak."""
    best: dict[str, Any] = {}
    peak = 0
    for _ in range(runs):
        LOADS.append(os.getloadavg()[0])
        program = programs.folder / "bench" / "bench_analyze"
        done = run([program, trace.path, "--threads", str(threads), *options])
        line = json_lines(done.output)[-1]
        peak = max(peak, done.peak_bytes)
        if not best:
            best = line
        for key in ("load_s", "view_s", "analyses_s"):
            best[key] = min(best[key], line[key])
        for name, seconds in line["analyses"].items():
            best["analyses"][name] = min(best["analyses"][name], seconds)
    return {**best, "peak_bytes": peak, "events": trace.events, "text_bytes": trace.text_bytes}


def analysis_count(program: Path) -> int:
    """How many analyses there are."""
    listed = run([program, "analyze", "--list"]).output.splitlines()
    return sum(line.startswith("    ") for line in listed)


def kept_table() -> str:
    """The table of HTA as the page has it, with the day and the build it was measured on."""
    page = PAGE.read_text()
    table, footer = page[page.index(HTA_HEADING) :].rsplit("\n\n", 1)
    if "\nMeasured by " in table:
        return table
    return f"{table}\n\nMeasured by {footer.strip()}"


def hta_analyses(python: Path, trace: Input) -> Timing:
    """HTA's load and its part of the analyses, in one process."""
    done = run([python, "-c", HTA_PROGRAM, trace.path])
    facts = json_lines(done.output)[-1]
    return Timing([facts.pop("seconds")], done.peak_bytes, facts)


def against_loading(rows: list[dict[str, Any]]) -> str:
    """The first claim as a table."""
    lines = [
        "## Against loading",
        "",
        "| trace | text | events | threads | load s | view s | all analyses s "
        "| (view + analyses) ÷ load | peak |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        rest = row["view_s"] + row["analyses_s"]
        lines.append(
            f"| {row['trace']} | {row['text_bytes'] / 1e6:,.0f} MB | {row['events']:,} | "
            f"{row['threads']} | "
            f"{row['load_s']:.3f} | {row['view_s']:.3f} | {row['analyses_s']:.3f} | "
            f"{rest / row['load_s']:.2f} | {row['peak_bytes'] / 1e6:,.0f} MB |"
        )
    return "\n".join(lines)


def growth(rows: list[dict[str, Any]]) -> str:
    """The second claim: nanoseconds by event and by log2 of their number, per analysis."""
    rows = [row for row in rows if row["threads"] == 1]
    names = ["view", *rows[0]["analyses"]]
    head = " | ".join(f"{row['trace']}, {row['text_bytes'] / 1e6:,.0f} MB" for row in rows)
    lines = [
        "## By size",
        "",
        "One thread, nanoseconds ÷ (n log2 n) with n the number of events: columns of one trace",
        "that do not grow to the right are no worse than n log n.",
        "",
        f"| analysis | {head} |",
        "| --- |" + " ---: |" * len(rows),
    ]
    for name in names:
        cells = []
        for row in rows:
            seconds = row["view_s"] if name == "view" else row["analyses"][name]
            count = row["events"]
            cells.append(f"{seconds * 1e9 / (count * math.log2(count)):.3f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def repeats(programs: Programs, runs: int) -> str:
    """The third claim as a table; what the peak would be without the search stands beside it."""
    lines = [
        "## Repeated kernels",
        "",
        f"`patterns` with its defaults over {KERNELS:,} kernels on one stream, one thread. The",
        "last column is the peak of the same process when it asks for `transfers` instead.",
        "",
        "| order of the kernels | load s | view s | patterns s | peak | without |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for order in ORDERS:
        print(f"  {order}", file=sys.stderr)
        trace = kernel_trace(order, KERNELS)
        row = measure(programs, trace, 1, runs, "--only", "patterns")
        other = measure(programs, trace, 1, 1, "--only", "transfers")
        lines.append(
            f"| {order} | {row['load_s']:.2f} | {row['view_s']:.2f} | "
            f"{row['analyses']['patterns']:.2f} | {row['peak_bytes'] / 1e6:,.0f} MB | "
            f"{other['peak_bytes'] / 1e6:,.0f} MB |"
        )
    return "\n".join(lines)


def against_hta(rows: list[dict[str, Any]]) -> str:
    """The fourth claim as a table."""
    lines = [
        HTA_HEADING,
        "",
        "Load and analyses in one process. HTA (`traceinsight==0.6.1`, `pandas<3`) does its",
        "temporal and kernel breakdowns, idle time, overlap, launch statistics, queue lengths and",
        "copy bandwidths; stepscope does those and all its others, on one thread.",
        f"HTA failed in: {', '.join(rows[0]['hta'].facts['failed']) or 'none'}.",
        "",
        "| text | HTA s | of it loading | HTA peak | stepscope s | peak | HTA ÷ stepscope | peak ÷ "
        "HTA's |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        theirs, ours = row["hta"], row["ours"]
        seconds = ours["load_s"] + ours["view_s"] + ours["analyses_s"]
        lines.append(
            f"| {ours['text_bytes'] / 1e6:,.0f} MB | {theirs.median:.1f} | "
            f"{theirs.facts['load_s']:.1f} | {theirs.peak_bytes / 1e6:,.0f} MB | {seconds:.3f} | "
            f"{ours['peak_bytes'] / 1e6:,.0f} MB | {theirs.median / seconds:.0f} | "
            f"{ours['peak_bytes'] / theirs.peak_bytes:.3f} |"
        )
    return "\n".join(lines)


def hta_table(programs: Programs, rows: list[dict[str, Any]], reuse: bool) -> str:
    """HTA run on the smaller inputs, beside the figures of ours."""
    hta_rows = []
    load = functools.partial(hta_analyses, peers.hta_python())
    for size in programs.sizes("100M", "500M"):
        trace = programs.trace(MAIN, size)
        theirs = peers.kept("hta-analyses", trace, 1, load, reuse)
        ours = next(
            row for row in rows if row["threads"] == 1 and row["text_bytes"] == trace.text_bytes
        )
        hta_rows.append({"hta": theirs, "ours": ours})
    return against_hta(hta_rows)


def main() -> int:
    """Measures everything and writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5, help="turns (default 5)")
    parser.add_argument("--most", default="2G", help="largest input (default 2G)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--reuse-peers", action="store_true", help="do not run HTA again")
    parser.add_argument("--without-hta", action="store_true", help="keep the page's table of HTA")
    options = parser.parse_args()
    folder = options.build.resolve()
    build(folder, "bench_analyze", "bench_generate")
    programs = Programs(folder, options.runs, options.most)

    rows = []
    for template, sizes in ((MAIN, SIZES), (STACKS, STACK_SIZES)):
        for size in programs.sizes(*sizes):
            trace = programs.trace(template, size)
            rows += [
                {
                    **measure(programs, trace, threads, options.runs),
                    "threads": threads,
                    "trace": template,
                }
                for threads in (1, 2)
            ]
    of_all = analysis_count(folder / "stepscope")
    command = " ".join(["bench/analyses.py", *sys.argv[1:]])
    parts = [
        INTRODUCTION.format(runs=options.runs, count=len(rows[0]["analyses"]), all=of_all),
        against_loading(rows),
        growth(rows),
        repeats(programs, options.runs),
        kept_table() if options.without_hta else hta_table(programs, rows, options.reuse_peers),
        f"`{command}`, {datetime.date.today().isoformat()}, commit {commit()}, {machine()}; "
        f"programs that wanted to run meanwhile: {min(LOADS):.0f} to {max(LOADS):.0f}.",
    ]
    PAGE.write_text("\n\n".join(part.strip() for part in parts) + "\n")
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
