"""Runs programs for the benchmarks: time and peak memory of each run, medians over turns."""

import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Run:
    """One run of a program. The peak is the largest resident size of it and of its children."""

    seconds: float
    cpu_s: float
    peak_bytes: int
    output: str


@dataclass(frozen=True)
class Timing:
    """The runs of one program on one input."""

    seconds: list[float]
    peak_bytes: int
    facts: dict[str, Any]

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return statistics.median(self.seconds)

    def row(self) -> dict[str, Any]:
        """As it is kept in the results."""
        return {
            "seconds": [round(s, 4) for s in self.seconds],
            "peak_bytes": self.peak_bytes,
            **self.facts,
        }


def run(command: Sequence[str | Path], env: dict[str, str] | None = None) -> Run:
    """Runs a program to its end; raises when it fails.

    The kernel counts the memory of the parent at the moment of the start into the child's peak.
    This process therefore stays small: it never holds a trace.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    )
    assert process.stdout and process.stderr
    output = process.stdout.read()
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]}: exit {process.returncode}: {errors.strip()[-400:]}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output)


def stolen() -> int:
    """Hundredths of a second that the host of this machine gave to others, of all processors."""
    words = Path("/proc/stat").read_text(encoding="utf-8").split(maxsplit=9)
    return int(words[8])


MOST_TRIES = 3  # times as many turns as wanted, for as many that are quiet


def in_turn(turns: int, programs: dict[str, Callable[[], Timing]]) -> dict[str, Timing]:
    """Runs the programs one after the other, again and again, and gathers the runs of each.

    Each turn begins with another program: what runs after a certain one may gain or lose by it.
    A run during which the host took a processor away says nothing of the program, least of all of
    two threads by one: `disturbed` tells which these are, and there are more turns for them.
    """
    runs: dict[str, list[Timing]] = {name: [] for name in programs}
    disturbed: dict[str, list[bool]] = {name: [] for name in programs}
    names = list(programs)
    for turn in range(MOST_TRIES * turns):
        if all(flags.count(False) >= turns for flags in disturbed.values()):
            break
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            before = stolen()
            runs[name].append(programs[name]())
            disturbed[name].append(stolen() != before)
    return {
        name: Timing(
            [seconds for timing in timings for seconds in timing.seconds],
            max(timing.peak_bytes for timing in timings),
            timings[-1].facts | {"disturbed": disturbed[name]},
        )
        for name, timings in runs.items()
    }


def json_lines(text: str) -> list[dict[str, Any]]:
    """The results that a benchmark program printed."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def taken_on_a_gpu(name: str) -> list[dict[str, Any]]:
    """Figures of bench/gpu: the rows that a program wrote on a machine with a GPU."""
    return json_lines((ROOT / "bench" / "gpu" / f"{name}.jsonl").read_text(encoding="utf-8"))


def machine() -> str:
    """The machine in words, without its name: processor, cores, memory, system."""
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    flags = "AVX-512, " if "avx512bw" in Path("/proc/cpuinfo").read_text() else ""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    cores = len(os.sched_getaffinity(0))
    return (
        f"{model} ({flags}{platform.machine()}), {cores} cores, {pages / 2**30:.0f} GiB memory, "
        f"Linux {platform.release().split('-')[0]}"
    )


def go_first(process: int) -> bool:
    """Lets a process that leads a session go before others; whether the system allows it."""
    try:
        os.setpriority(os.PRIO_PROCESS, process, -15)
        Path(f"/proc/{process}/autogroup").write_text("-20")
    except OSError:
        return False
    return True


def commit() -> str:
    """The commit that is measured; `-dirty` when more than pages of figures differs from it."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    dirty = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/bench")
    return (git("describe", "--always") or "unknown") + ("-dirty" if dirty else "")
