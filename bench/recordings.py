"""Measures how fast recordings of stepscope are read back, and writes docs/bench/recordings.md.

    bench/recordings.py [--runs 7]

A file of ten million ranges, made by the wire's own writer; a bare walk over its blocks and a load
into a finished trace, in turn, each in a process of its own. Times are of the processor, so that
others on the machine count little; the ratio is taken between medians of one run.
"""

import argparse
import datetime
import statistics
import subprocess
import sys
from pathlib import Path

from inputs import bench_dir
from measure import ROOT, commit, json_lines, machine, run

PAGE = ROOT / "docs" / "bench" / "recordings.md"

INTRODUCTION = """# Recordings: reading ten million ranges

Written by `bench/recordings.py`; do not edit. One process, one thread, ten million ranges nested
four deep, 66,000 steps, in the page cache. The walk reads the file, checks every block's checksum
and decodes every record, and keeps a sum; the load makes the trace every analysis reads: columns,
nesting, steps. Seconds of processor time, medians of {runs} runs in turn.

| | seconds | GB/s of the file | ns per range | peak memory | ÷ walk |
| --- | ---: | ---: | ---: | ---: | ---: |
"""


def row(name: str, line: dict[str, object], ranges: int, walk: float) -> str:
    """One program as a row."""
    seconds = statistics.median(line["seconds"])  # type: ignore[arg-type]
    size, peak = int(line["bytes"]), int(line["peak_bytes"])  # type: ignore[call-overload]
    return (
        f"| {name} | {seconds:.2f} | {size / seconds / 1e9:.2f} | {seconds / ranges * 1e9:.0f} | "
        f"{peak / 1e6:,.0f} MB | {seconds / walk:.1f} |\n"
    )


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
    walked, loaded = json_lines(run([program, file, "--runs", str(options.runs)]).output)
    walk = statistics.median(walked["seconds"])
    ranges = int(walked["events"])
    page = INTRODUCTION.format(runs=options.runs)
    page += row("walk", walked, ranges, walk) + row("load", loaded, ranges, walk)
    size = int(walked["bytes"])
    page += (
        f"\nThe file has {size / 1e6:,.0f} MB, {size / ranges:.1f} bytes per range; the trace in\n"
        f"memory {loaded['table_bytes'] / ranges:.0f} bytes per range. Most of what loading costs\n"
        "beyond the walk is memory: rows are written once on the way and once for good, and the\n"
        "system clears every page of it before.\n"
        f"\n`{' '.join(['bench/recordings.py', *sys.argv[1:]])}`, "
        f"{datetime.date.today().isoformat()}, commit {commit()}, {machine()}.\n"
    )
    PAGE.write_text(page)
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
