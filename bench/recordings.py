"""Measures how fast recordings of stepscope are read back, and writes docs/bench/recordings.md.

    bench/recordings.py [--runs 7]

A file of ten million ranges, made by the wire's own writer; a bare walk over its blocks, a load
into a finished trace, and a load of a trace of torch.profiler by the same engine, in turn, each in
a process of its own. Times are of the processor, so that others on the machine count little; ratios
are taken between medians of one run.
"""

import argparse
import datetime
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from inputs import Inputs, bench_dir
from measure import ROOT, commit, json_lines, machine, run

PAGE = ROOT / "docs" / "bench" / "recordings.md"

INTRODUCTION = """# Recordings: reading ten million ranges

Written by `bench/recordings.py`; do not edit. One process, one thread, ten million ranges nested
four deep, 66,000 steps, in the page cache. The walk reads the file, checks every block's checksum
and decodes every record, and keeps a sum; the load makes the trace every analysis reads: columns,
nesting, steps. Below, what the same engine takes for a trace of torch.profiler. Seconds of
processor time, medians of {runs} runs in turn.

| | events | seconds | ns per event | peak memory | bytes per event | held | ÷ walk |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
# Of the trace beside it: large enough that what is done once does not count.
TRACE = ("gpt_bf16", "500M")


def row(name: str, lines: list[dict[str, Any]], walk_ns: float | None) -> tuple[str, float]:
    """One program as a row, and its time per event."""
    seconds = statistics.median(second for line in lines for second in line["seconds"])
    events = int(lines[0]["events"])
    peak = max(int(line["peak_bytes"]) for line in lines)
    held = int(lines[0]["table_bytes"])
    each = seconds / events * 1e9
    text = (
        f"| {name} | {events:,} | {seconds:.2f} | {each:.0f} | {peak / 1e6:,.0f} MB | "
        f"{peak / events:.0f} | {f'{held / events:.0f} bytes' if held else ''} | "
        f"{f'{each / walk_ns:.1f}' if walk_ns else ''} |\n"
    )
    return text, each


def main() -> int:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=7, help="turns (default 7)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    options = parser.parse_args()
    folder = options.build.resolve()
    command = ["cmake", "--build", str(folder), "-j2", "--target", "bench_recordings"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    bench_dir().mkdir(parents=True, exist_ok=True)
    file = bench_dir() / "ten_million.scope"
    file.unlink(missing_ok=True)  # the format may have changed
    program = folder / "bench" / "bench_recordings"
    subprocess.run([*command[:-1], "bench_generate"], check=True, stdout=subprocess.DEVNULL)
    trace = Inputs(folder / "bench" / "bench_generate").trace(*TRACE).path
    lines: dict[str, list[dict[str, Any]]] = {"walk": [], "load": [], "trace": []}
    for _ in range(options.runs):
        walked, loaded = json_lines(run([program, file, "--runs", "1"]).output)
        (traced,) = json_lines(run([program, trace, "--runs", "1"]).output)
        for name, line in zip(lines, (walked, loaded, traced), strict=True):
            lines[name].append(line)
    page = INTRODUCTION.format(runs=options.runs)
    walk, walk_ns = row("recording, walk", lines["walk"], None)
    load, load_ns = row("recording, load", lines["load"], walk_ns)
    other, trace_ns = row(f"{trace.name}, load", lines["trace"], None)
    page += walk + load + other
    size, ranges = int(lines["walk"][0]["bytes"]), int(lines["walk"][0]["events"])
    page += (
        f"\nA range is read in {load_ns / trace_ns:.2f} of the time that the engine takes for an\n"
        f"event of a trace. The recording has {size / 1e6:,.0f} MB, {size / ranges:.1f} bytes per\n"
        "range. Most of what loading costs beyond the walk is memory: rows are written once on\n"
        "the way and once for good, and the system clears every page of it before.\n"
        f"\n`{' '.join(['bench/recordings.py', *sys.argv[1:]])}`, "
        f"{datetime.date.today().isoformat()}, commit {commit()}, {machine()}.\n"
    )
    PAGE.write_text(page)
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
