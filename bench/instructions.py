"""Two builds of bench_load on the same files: the instructions they take, whatever else runs.

    bench/instructions.py BEFORE AFTER TRACE.json ... [--threads 1]

BEFORE and AFTER are bench_load programs (build/bench/bench_load of two commits). Valgrind counts
(`apt-get install valgrind`): what the program does itself, not the system for it, and with AVX2
where it would use AVX-512. What waits for memory is not seen; bench/two_builds.py measures time.
"""

import re
import subprocess
import sys
from pathlib import Path

from two_builds import arguments


def instructions(program: Path, trace: Path, threads: int) -> int:
    """Of one load: the process that loads executes the most of all that the program starts."""
    call = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    call += [str(program), str(trace), "--threads", str(threads), "--runs", "1"]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return max(int(count) for count in re.findall(r"Collected : (\d+)", done.stderr))


def main() -> int:
    """Prints a line for each file."""
    parser = arguments(__doc__)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for trace in options.traces:
        before, after = (
            instructions(program, trace, options.threads)
            for program in (options.before, options.after)
        )
        text = trace.stat().st_size
        print(
            f"{trace.name:40} {text / 1e6:8.1f} MB  per byte {before / text:5.2f} and"
            f" {after / text:5.2f}, after by before {after / before:.3f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
