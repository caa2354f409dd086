"""What findings say a fault costs, beside what it cost: a table of all recorded pairs.

    bench/gains.py [FOLDER ...] [--markdown]

A FOLDER has recordings and a labels.json: tests/fixtures/faults, or what a program of
tests/fixtures/record wrote, whose labels have the steps with and without the fault, timed without a
profiler; or labels that name a recording without the fault, and then the difference of the traced
steps is the truth. `measured` has a standard error where each side was timed several times. An
interval holds when what was measured lies in it; "noise": it misses by less than two of them.
"""

import argparse
import json
import math
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import ROOT

PROGRAM = ROOT / "build" / "stepscope"
FAULTS = ROOT / "tests" / "fixtures" / "faults"
WIDEST = 0.30  # of the step
# A rule that may name the cause by another word: nothing in a trace says that it is the collector.
ALSO = {"gc": "pause"}


@dataclass
class Interval:
    """A finding of a recorded fault, and what the fault cost."""

    name: str
    rule: str
    is_first: bool
    low: float
    high: float  # ms, as all times here
    measured: float
    error: float
    step: float

    @property
    def width(self) -> float:
        """Of the step."""
        return (self.high - self.low) / self.step

    @property
    def holds(self) -> str:
        """Whether what was measured lies in the interval."""
        missed = max(self.low - self.measured, self.measured - self.high)
        if missed <= 0:
            return "yes"
        return "noise" if missed < 2 * self.error else "no"


def advice_of(path: Path) -> dict[str, Any]:
    """What `stepscope advise` says."""
    done = subprocess.run([PROGRAM, "advise", "--json", path], capture_output=True, check=False)
    advice: dict[str, Any] = json.loads(done.stdout)
    return advice


def error_of(*sides: list[float]) -> float:
    """Of the difference of their means."""
    return math.sqrt(sum(statistics.variance(one) / len(one) for one in sides if len(one) > 1))


def recording(folder: Path, name: str) -> Path:
    """A file, or the folder of a run."""
    packed = folder / f"{name}.json.gz"
    return packed if packed.exists() else folder / name


def measured_of(folder: Path, label: dict[str, Any], step: float) -> tuple[float, float] | None:
    """What the fault cost a step, and its standard error."""
    if "fault_step_ms" in label:
        fault, reference = label["fault_step_ms"], label["reference_step_ms"]
        return fault["median"] - reference["median"], error_of(fault["all"], reference["all"])
    without = label.get("reference")
    if without is None:
        return None
    return step - advice_of(recording(folder, without))["step_ns"] / 1e6, 0


def interval_of(folder: Path, name: str, label: dict[str, Any]) -> Interval | None:
    """Nothing where no fault was planted, or what it cost is not known."""
    path = recording(folder, name)
    if label["cause"] is None or not path.exists():
        return None
    advice = advice_of(path)
    causes = [label["cause"], ALSO.get(label["cause"])]
    found = [one for one in advice["findings"] if one["cause"] in causes and one["gain_per_step"]]
    step = advice["step_ns"] / 1e6
    measured = measured_of(folder, label, step)
    if not found or measured is None or measured[0] < 0:  # of a larger batch, a step is longer
        return None
    gain = found[0]["gain_per_step"]
    is_first = found[0] is advice["findings"][0]
    low, high = gain["low_ns"] / 1e6, gain["high_ns"] / 1e6
    return Interval(name, found[0]["rule"], is_first, low, high, *measured, step)


def intervals_of_folder(folder: Path) -> list[Interval]:
    """All of a labels.json."""
    labels = json.loads((folder / "labels.json").read_text())
    labels = labels.get("faults", labels)
    found = (interval_of(folder, name, label) for name, label in labels.items())
    return [one for one in found if one is not None]


def line(one: Interval) -> list[str]:
    """Its row, as HEAD names the columns."""
    error = f" ± {one.error:.1f}" if one.error else ""
    wide = f"{one.width:.0%}" + ("" if one.width <= WIDEST else " wide")
    return [
        one.name,
        one.rule + ("" if one.is_first else " (not first)"),
        f"{one.low:.2f} to {one.high:.2f}",
        f"{one.measured:.2f}{error}",
        f"{one.step:.2f}",
        wide,
        one.holds,
    ]


HEAD = ["recording", "rule", "promised, ms", "measured, ms", "step, ms", "width", "holds"]


def write(rows: list[list[str]], markdown: bool) -> None:
    """As text in columns, or as a table of Markdown."""
    if markdown:
        rows = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
        print("\n".join("| " + " | ".join(row) + " |" for row in rows))
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def main() -> None:
    """A table for each folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[FAULTS])
    parser.add_argument("--markdown", action="store_true")
    asked = parser.parse_args()
    for folder in asked.folders:
        intervals = intervals_of_folder(folder)
        print(f"\n{folder.name}\n")
        write([HEAD, *(line(one) for one in intervals)], asked.markdown)
        held = sum(one.holds == "yes" for one in intervals)
        narrow = sum(one.width <= WIDEST for one in intervals)
        print(f"\n{len(intervals)} intervals: {held} hold, {narrow} are at most {WIDEST:.0%} wide")


if __name__ == "__main__":
    main()
