"""Two builds of bench_load on the same files in turns: seconds on one thread and two, and a ratio.

    bench/two_builds.py BEFORE AFTER TRACE.json ... [--rounds 24] [--runs 3]

BEFORE and AFTER are bench_load programs (build/bench/bench_load of two commits). Of the runs of one
call the shortest counts, of the rounds the median.
"""

import argparse
import json
import statistics
import subprocess
from pathlib import Path


def seconds(program: Path, trace: Path, threads: int, runs: int) -> float:
    """Of one call."""
    call = [program, trace, "--threads", str(threads), "--runs", str(runs)]
    done = subprocess.run(call, capture_output=True, check=True)
    runs_s: list[float] = json.loads(done.stdout)["seconds"]
    return min(runs_s)


def arguments(about: str | None) -> argparse.ArgumentParser:
    """Of a program that compares two builds on some files."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0] if about else "")
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("traces", type=Path, nargs="+")
    return parser


def main() -> None:
    """Prints a line for each file and build."""
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for trace in options.traces:
        took: dict[tuple[Path, int], list[float]] = {}
        for _ in range(options.rounds):
            for program in (options.before, options.after):
                for threads in (1, 2):
                    one = seconds(program, trace, threads, options.runs)
                    took.setdefault((program, threads), []).append(one)
        for program in (options.before, options.after):
            one, two = (statistics.median(took[program, threads]) for threads in (1, 2))
            print(f"{trace.name:40} {program}: {one:.3f} s, {two:.3f} s, {one / two:.2f}")


if __name__ == "__main__":
    main()
