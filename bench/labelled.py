"""Recordings with the answer beside them: what is true of each, and what findings say of it."""

import json
import math
import os
import re
import statistics
import subprocess
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from measure import ROOT

PROGRAM = Path(os.environ.get("STEPSCOPE_BIN", ROOT / "build" / "stepscope"))
EXPECTED = ROOT / "tests" / "fixtures" / "verdicts.toml"
LEVELS = ["info", "notice", "warning", "critical"]
NOTHING = (None, "healthy")  # as labels say that nothing is wrong


@dataclass
class Case:
    """A recording, and what is known of it. Times are in ms."""

    set_name: str
    name: str
    path: Path
    is_labelled: bool = True  # whether its fault, or that it has none, is known
    causes: list[str] = field(default_factory=list)  # right ones; none: nothing is wrong
    cost: float | None = None  # of the fault, of a step
    error: float = 0  # its standard error
    also: list[str] = field(default_factory=list)
    also_gains: float | None = None  # what those bring
    rules: dict[str, Any] = field(default_factory=dict)  # of verdicts.toml

    @property
    def has_fault(self) -> bool:
        """Whether one is known."""
        return self.is_labelled and bool(self.causes)


@cache
def expected() -> dict[str, Any]:
    """What verdicts.toml says."""
    return tomllib.loads(EXPECTED.read_text(encoding="utf-8"))


@cache
def advice_of(path: Path) -> dict[str, Any]:
    """What `stepscope advise` says; nothing where it fails."""
    done = subprocess.run([PROGRAM, "advise", "--json", path], capture_output=True, check=False)
    try:
        advice: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"findings": [], "healthy": None, "verdict": [done.stderr.decode()], "step_ns": 0}
    return advice


def recording(folder: Path, name: str) -> Path:
    """A file, or the folder of a run."""
    for ending in (".json.gz", ".json.zst", ".json"):
        packed = folder / f"{name}{ending}"
        if packed.exists():
            return packed
    return folder / name


def labels_of(folder: Path) -> dict[str, dict[str, Any]]:
    """By name: `labels.json` is a list with names, or a dictionary, by itself or as "faults"."""
    labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    if isinstance(labels, list):
        return {one["name"]: one for one in labels}
    return dict(labels.get("faults", labels))


def right_causes(label: dict[str, Any]) -> list[str]:
    """Causes and rules of findings that name what the label says."""
    if "causes" in label:
        return list(label["causes"])
    cause = label["cause"]
    return [] if cause in NOTHING else expected()["causes"].get(cause, [cause])


def error_of(*sides: list[float]) -> float:
    """Of the difference of their means."""
    return math.sqrt(sum(statistics.variance(one) / len(one) for one in sides if len(one) > 1))


def cost_of(folder: Path, label: dict[str, Any], path: Path) -> tuple[float, float] | None:
    """What the fault costs a step, and its standard error."""
    if "fault_step_ms" in label:
        fault, reference = label["fault_step_ms"], label["reference_step_ms"]
        return fault["median"] - reference["median"], error_of(fault["all"], reference["all"])
    if label.get("step_ms_without_profiler") and label.get("reference_step_ms"):
        return label["step_ms_without_profiler"] - label["reference_step_ms"], 0
    without = label.get("reference")  # then the steps of the traces tell
    if without is None or not recording(folder, without).exists():
        return None
    step, other = (advice_of(one)["step_ns"] for one in (path, recording(folder, without)))
    return (step - other) / 1e6, 0


def cases_of_labels(set_name: str, folder: Path) -> list[Case]:
    """All of a folder's labels whose recordings are there."""
    out = []
    for name, label in labels_of(folder).items():
        path = recording(folder, name)
        if not path.exists():
            continue
        rules = expected().get(set_name, {}).get(name, {})
        case = Case(set_name, name, path, causes=right_causes(label), rules=rules)
        case.also = rules.get("true", []) + label.get("true", [])
        case.also_gains = rules.get("gain_ms", label.get("gain_ms"))
        cost = (
            cost_of(folder, label, path) if case.causes and rules.get("reference", True) else None
        )
        if cost is not None and cost[0] >= 0:  # of a larger batch, a step is longer
            case.cost, case.error = cost
        out.append(case)
    return out


def cases_of_expectations(set_name: str, folder: Path) -> list[Case]:
    """Files without labels, of which verdicts.toml says what is true."""
    out = []
    for name, rules in expected().get(set_name, {}).items():
        path = recording(folder, name)
        if path.exists():
            also = rules.get("true", []) + rules.get("first", [])
            out.append(Case(set_name, name, path, is_labelled=False, also=also, rules=rules))
    return out


def names(finding: dict[str, Any], causes: list[str]) -> bool:
    """Whether a finding is of one of these causes or rules."""
    return finding["cause"] in causes or finding["rule"] in causes


def level_of(finding: dict[str, Any]) -> int:
    """0: info, 3: critical."""
    return LEVELS.index(finding["level"])


@dataclass
class Interval:
    """The gain that a finding promises for a fault, beside what the fault costs."""

    low: float
    high: float
    measured: float
    error: float
    step: float

    @property
    def width(self) -> float:
        """Of the step."""
        return (self.high - self.low) / self.step if self.step else 0

    @property
    def holds(self) -> str:
        """Whether what was measured lies in it; "noise": it misses by less than two errors."""
        missed = max(self.low - self.measured, self.measured - self.high)
        if missed <= 0:
            return "yes"
        return "noise" if missed < 2 * self.error else "no"


def interval_of(case: Case, finding: dict[str, Any]) -> Interval | None:
    """Nothing where no gain is promised, or what the fault costs is not known."""
    gain = finding["gain_per_step"]
    if gain is None or case.cost is None:
        return None
    step = advice_of(case.path)["step_ns"] / 1e6
    return Interval(gain["low_ns"] / 1e6, gain["high_ns"] / 1e6, case.cost, case.error, step)


def is_right(case: Case, finding: dict[str, Any]) -> bool | None:
    """Whether the finding is true; nothing: what is known of the recording does not tell."""
    if case.is_labelled and names(finding, case.causes):
        interval = interval_of(case, finding)
        return interval is None or interval.holds != "no"
    gain = finding["gain_per_step"]
    if names(finding, case.also):
        return gain is None or case.also_gains is None or gain["low_ns"] / 1e6 <= case.also_gains
    if level_of(finding) >= LEVELS.index("warning"):
        return False if case.is_labelled or names(finding, case.rules.get("wrong", [])) else None
    if case.is_labelled and gain and gain["low_ns"] > 0:
        return False  # something is said to be sure
    return None


def text_of(advice: dict[str, Any]) -> str:
    """All that a reader is told."""
    parts = list(advice["verdict"])
    for one in advice["findings"]:
        parts += [one["title"], one["detail"], one["verify"]]
        parts += [evidence["text"] for evidence in one["evidence"]]
        for change in one["changes"]:
            parts += [change["why"], change["code"]]
    return "\n".join(parts)


def false_warnings(case: Case) -> list[str]:
    """Of a run of which it is known that nothing is wrong, or that these are not."""
    return [
        one["rule"]
        for one in advice_of(case.path)["findings"]
        if level_of(one) >= LEVELS.index("warning")
        and (case.is_labelled or names(one, case.rules.get("wrong", [])))
        and not is_right(case, one)
    ]


def wrongly_said(case: Case) -> list[str]:
    """What verdicts.toml forbids or asks for, and the advice says or does not say."""
    advice = advice_of(case.path)
    text = text_of(advice)
    out = [f"says /{one}/" for one in case.rules.get("never", []) if re.search(one, text)]
    out += [f"lacks /{one}/" for one in case.rules.get("said", []) if not re.search(one, text)]
    first = case.rules.get("first")
    if first and not (advice["findings"] and names(advice["findings"][0], first)):
        out.append(f"first is not {' or '.join(first)}")
    if "healthy" in case.rules and advice["healthy"] is True and not case.rules["healthy"]:
        out.append("called healthy")
    return out
