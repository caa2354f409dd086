"""Measures what sampling the machine costs, and writes docs/bench/sampling.md.

    bench/sampling.py [--seconds 30] [--gpu FILE.jsonl [--note TEXT]]

Processor time of the sampling thread, which it counts itself, as a share of one core: at 1 and 10
samples a second, with no other process of the job and with 16. Rounds of all settings take turns.
--gpu: what tests/recording/gpu_system.py printed on a machine with a GPU. --note: what a reader
must know about that.
"""

import argparse
import datetime
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import ROOT, commit, machine

sys.path.insert(0, str(ROOT / "python"))

from stepscope import _capture

PAGE = ROOT / "docs" / "bench" / "sampling.md"
ROUNDS = 3


def measure(hz: float, children: int, seconds: float) -> dict[str, float]:
    """One setting once."""
    started = [subprocess.Popen(["sleep", "3600"]) for _ in range(children)]
    with tempfile.TemporaryDirectory() as folder:
        _capture.start_system(folder, hz, 0, 0)
        time.sleep(1.2)  # what is done once is over
        before, began = _capture.system_state(), time.monotonic()
        time.sleep(seconds)
        after, length = _capture.system_state(), time.monotonic() - began
        _capture.stop_system()
        size = (Path(folder) / "system.scope").stat().st_size
    for process in started:
        process.kill()
        process.wait()
    moments = after["moments"] - before["moments"]
    used = (after["cpu_ns"] - before["cpu_ns"]) / 1e9
    return {
        "share": used / length,
        "ms_per_moment": used / max(moments, 1) * 1000,
        "bytes_per_second": size / (length + 1.2),
    }


def page(rows: list[dict[str, Any]], gpu: list[dict[str, Any]], note: str = "") -> str:
    """The text of docs/bench/sampling.md."""
    lines = [
        "# Sampling the machine: what it costs",
        "",
        "Written by `bench/sampling.py`; do not edit. Processor time of the sampling thread, of",
        f"one core; medians of {ROUNDS} rounds in turn. The training is not asked for anything.",
        "",
        "| samples a second | processes | share of a core | ms per sample | kB/s written |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row['hz']:g} | {row['children'] + 1} | {row['share']:.3%} | "
        f"{row['ms_per_moment']:.2f} | {row['bytes_per_second'] / 1000:.1f} |"
        for row in rows
    ]
    lines += ["", f"{datetime.date.today()}, commit {commit()}. {machine()}."]
    cost = [row for row in gpu if row["check"] == "cost"]
    if cost:
        name = next(row["name"] for row in gpu if row["check"] == "device")
        lines += ["", f"Beside a load on one {name}, with all that NVML tells:", ""]
        lines += [
            "| samples a second | share of a core | ms per sample |",
            "| ---: | ---: | ---: |",
        ]
        lines += [
            f"| {row['hz']:g} | {row['share_of_a_core']:.3%} | {row['ms_per_moment']:.2f} |"
            for row in cost
        ]
        lines += ["", note] if note else []
    return "\n".join(lines) + "\n"


def main() -> None:
    """All settings in turn."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--gpu", type=Path)
    parser.add_argument("--note", default="")
    options = parser.parse_args()
    settings = [(hz, children) for hz in (1.0, 10.0) for children in (0, 16)]
    found: dict[tuple[float, int], list[dict[str, float]]] = {one: [] for one in settings}
    for _ in range(ROUNDS):
        for one in settings:
            found[one].append(measure(*one, options.seconds))
    rows = [
        {
            "hz": hz,
            "children": children,
            **{
                key: statistics.median(run[key] for run in found[hz, children])
                for key in found[hz, children][0]
            },
        }
        for hz, children in settings
    ]
    for row in rows:
        print(json.dumps(row))
    gpu = [json.loads(line) for line in options.gpu.read_text().splitlines()] if options.gpu else []
    PAGE.write_text(page(rows, gpu, options.note), encoding="utf-8")


if __name__ == "__main__":
    main()
