"""Measures what sampling the machine costs, and writes docs/bench/sampling.md.

    bench/sampling.py [--seconds 30]
    bench/sampling.py --only known       the programs of bench/known_programs.py; all else stays

Processor time of the sampling thread, which it counts itself, as a share of one core: at 1 and 10
samples a second, with no other process of the job and with 16. Rounds of all settings take turns.
Beside it what is measured of programs whose figures are known. On a GPU: what
tests/recording/gpu_system.py printed there, kept in bench/gpu.
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

import known_programs
from measure import ROOT, commit, machine, taken_on_a_gpu

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


def page(rows: list[dict[str, Any]]) -> str:
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
    lines += ["", taken()]
    return "\n".join([*lines, "", *known_lines(), *gpu_lines()])


def taken() -> str:
    """When and where."""
    return f"{datetime.date.today()}, commit {commit()}. {machine()}."


KNOWN = "## Programs whose figures are known"


def known_lines() -> list[str]:
    """Measured beside true."""
    return [
        KNOWN,
        "",
        *known_programs.table(known_programs.figures()),
        "",
        "The programs sleep, count and draw power by construction; `bench/known_programs.py`",
        "records them with this build (`--python` with a wheel) and prints this table. True are",
        "their own clocks, and the integral of the curve of power.",
        "",
        taken(),
        "",
    ]


def only_known(text: str) -> str:
    """The page with that part taken anew."""
    before, _, rest = text.partition("\n## ")
    if text.find(KNOWN) >= 0:
        before, _, rest = text.partition(KNOWN)
        rest = rest.partition("\n## ")[2]
    return before.rstrip() + "\n\n" + "\n".join(known_lines()) + "\n## " + rest


def only_gpu(text: str) -> str:
    """The page with what was measured on a GPU put in anew."""
    return text.partition("\n## On one ")[0] + "\n" + "\n".join(gpu_lines())


def gpu_lines() -> list[str]:
    """All that was measured on a GPU."""
    return [
        *sampling_lines(taken_on_a_gpu("system")),
        *driver_lines(taken_on_a_gpu("driver_questions")),
    ]


def driver_lines(rows: list[dict[str, Any]]) -> list[str]:
    """How long the driver takes for its counter of energy, and what waits meanwhile."""

    def rows_of(check: str) -> list[dict[str, Any]]:
        return [row for row in rows if row["check"] == check]

    (energy,) = (row for row in rows_of("questions") if row["question"] == "energy")
    (updates,) = rows_of("updates")
    return [
        "The counter of energy is the one slow question: "
        f"{energy['wall']['median_us'] / 1000:.1f} ms of a processor at the median, "
        f"{energy['wall']['max_us'] / 1000:.1f} ms at most,",
        f"with a new value every {updates['median_ms']:.0f} ms. It is asked every ten seconds by a",
        "thread of its own. What others wait that ask while it is being answered, microseconds:",
        "",
        "| asked | alone, median | 99 % | while energy is asked, median | 99 % |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(
            f"| {row['question']} | {row['alone']['median_us']:.0f} | {row['alone']['p99_us']:.0f} "
            f"| {row['meanwhile']['median_us']:.0f} | {row['meanwhile']['p99_us']:.0f} |"
            for row in rows_of("waiting") + rows_of("launches")
        ),
        "",
        "So the GPU's memory is late when it meets that question, its power, its load and the",
        "training are not, and neither is the sampler itself, which asks the driver nothing.",
        "",
        "`bench/driver_questions.py`, kept in `bench/gpu/driver_questions.jsonl`.",
        "",
    ]


def sampling_lines(rows: list[dict[str, Any]]) -> list[str]:
    """What sampling costs beside a load on a GPU, and how near it comes to the driver."""

    def rows_of(check: str) -> list[dict[str, Any]]:
        return [row for row in rows if row["check"] == check]

    (device,), (smi,) = rows_of("device"), rows_of("smi")
    return [
        f"## On one {device['name']}",
        "",
        "Beside a load, with all that NVML tells:",
        "",
        "| samples a second | share of a core | ms per sample |",
        "| ---: | ---: | ---: |",
        *(
            f"| {row['hz']:g} | {row['share_of_a_core']:.3%} | {row['ms_per_moment']:.2f} |"
            for row in rows_of("cost")
        ),
        "",
        "Two loads in turn, ten seconds each; joules per step, beside NVML's energy counter at",
        "both ends of a block, read by the program itself:",
        "",
        "| load | steps | step ms | sampled J | counter J | off | from power alone J |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {row['load']} | {row['steps']} | {row['step_ms']:.1f} "
            f"| {row['joules_per_step_sampled']:.2f} | {row['joules_per_step_nvml']:.2f} "
            f"| {row['off']:+.1%} | {row['joules_per_step_power_alone']:.2f} |"
            for row in rows_of("blocks")
        ),
        "",
        f"Beside nvidia-smi ({smi['smi_samples']} samples): busy {smi['busy_percent']:.1f} %",
        f"against {smi['smi_busy_percent']:.1f} %, memory "
        f"{smi['memory_mib']:,.0f} MiB against {smi['smi_memory_mib']:,.0f} MiB.",
        "",
        "`tests/recording/gpu_system.py`, kept in `bench/gpu/system.jsonl`.",
        "",
    ]


def main() -> None:
    """All settings in turn."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--only", choices=["known", "gpu"])
    options = parser.parse_args()
    if options.only:
        anew = {"known": only_known, "gpu": only_gpu}[options.only]
        PAGE.write_text(anew(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
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
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
