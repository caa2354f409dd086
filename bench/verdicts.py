"""What findings say of recordings whose faults are known: which are right, what gains hold.

    bench/verdicts.py [FOLDER ...] [--markdown] [--brief] [--jobs N]

Without a FOLDER: faults planted into one program (planted) and into programs that were not seen
before (planted-unfamiliar), both beside STEPSCOPE_CORPUS, those of tests/fixtures/faults (recorded)
and real traces of others (public). A FOLDER has recordings and a labels.json: a dictionary by name
as in tests/fixtures/faults, or a list as in planted-unfamiliar. tests/fixtures/verdicts.toml says
which findings name which fault, and what is true of files that have no labels.

An interval holds when what was measured lies in it; "noise": it misses by less than two standard
errors of the measurement. A finding of high confidence is right where it names the fault and its
interval holds, or where it is known to be true besides.
"""

import argparse
import hashlib
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from labelled import (
    Case,
    Interval,
    advice_of,
    cases_of_expectations,
    cases_of_labels,
    false_warnings,
    interval_of,
    is_right,
    names,
    wrongly_said,
)
from measure import ROOT

WIDE = 0.50  # of the step


def standard_cases() -> list[Case]:
    """Of the four sets, as far as they are here."""
    cases = cases_of_labels("recorded", ROOT / "tests" / "fixtures" / "faults")
    corpus = os.environ.get("STEPSCOPE_CORPUS")
    if not corpus:
        print("STEPSCOPE_CORPUS is not set: only the recorded set is here", file=sys.stderr)
        return cases
    samples = Path(corpus).parent / "samples"
    for set_name, folder in (
        ("planted", Path(corpus) / "planted"),
        ("planted-unfamiliar", samples / "planted-unfamiliar"),
    ):
        if (folder / "labels.json").exists():
            cases += cases_of_labels(set_name, folder)
    return cases + cases_of_expectations("public", samples / "public")


def findings_of(case: Case) -> list[dict[str, Any]]:
    """In their order."""
    return list(advice_of(case.path)["findings"])


def fault_of(case: Case) -> dict[str, Any] | None:
    """The first finding that names the fault."""
    return next((one for one in findings_of(case) if names(one, case.causes)), None)


def is_first_right(case: Case) -> bool:
    """Whether the first finding names the fault."""
    findings = findings_of(case)
    return bool(findings) and names(findings[0], case.causes)


def gain_of(case: Case) -> Interval | None:
    """Of the finding that names the fault."""
    fault = fault_of(case)
    return interval_of(case, fault) if fault else None


def cells_of(case: Case) -> list[str]:
    """Its row, as HEAD names the columns."""
    findings = findings_of(case)
    first = findings[0] if findings else None
    said = f"{first['rule']} ({first['level']}, {first['confidence']})" if first else "nothing"
    interval = gain_of(case) if case.has_fault else None
    cells = [case.name, " or ".join(case.causes) or ("nothing" if case.is_labelled else ""), said]
    if case.has_fault:
        cells.append("yes" if is_first_right(case) else "NO")
    else:
        wrong = [f"warns: {one}" for one in false_warnings(case)] + wrongly_said(case)
        cells.append("; ".join(wrong) or "yes")
    if interval is None:
        return [*cells, "", "", "", "", ""]
    error = f" ± {interval.error:.1f}" if interval.error else ""
    return [
        *cells,
        f"{interval.low:.2f} to {interval.high:.2f}",
        f"{interval.measured:.2f}{error}",
        f"{interval.step:.2f}",
        f"{interval.width:.0%}" + (" wide" if interval.width > WIDE else ""),
        interval.holds if interval.holds != "no" else "NO",
    ]


HEAD = ["recording", "is", "first finding", "right", "promised, ms", "measured, ms", "step, ms"]
HEAD += ["width", "holds"]


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


def part(some: int, of: int) -> str:
    """15 of 16 (94 %)."""
    return f"{some} of {of}" + (f" ({some / of:.0%})" if of else "")


def confidence_of(cases: list[Case], confidence: str) -> tuple[int, list[str]]:
    """How many findings of this confidence can be judged, and which are wrong."""
    judged, wrong = 0, []
    for case in cases:
        for one in findings_of(case):
            right = is_right(case, one) if one["confidence"] == confidence else None
            if right is None:
                continue
            judged += 1
            if not right:
                wrong.append(f"{case.name}: {one['rule']} ({one['level']})")
    return judged, wrong


def totals(cases: list[Case]) -> list[str]:
    """Of these recordings, a cell for each of TOTALS."""
    faults = [case for case in cases if case.has_fault]
    healthy = [case for case in cases if case.is_labelled and not case.has_fault]
    others = [case for case in cases if not case.is_labelled]
    intervals = [one for one in map(gain_of, faults) if one is not None]
    held = sum(one.holds != "no" for one in intervals)
    wide = sum(one.width > WIDE for one in intervals)
    middle = sorted(one.width for one in intervals)[len(intervals) // 2] if intervals else 0
    high, wrong = confidence_of(cases, "high")
    medium, doubtful = confidence_of(cases, "medium")
    clean = sum(not false_warnings(case) for case in healthy)
    as_expected = sum(not false_warnings(case) and not wrongly_said(case) for case in others)
    return [
        part(sum(map(is_first_right, faults)), len(faults)),
        part(clean, len(healthy)) if healthy else "",
        part(as_expected, len(others)) if others else "",
        part(held, len(intervals)),
        f"{middle:.0%}, {wide} wide",
        part(high - len(wrong), high),
        part(medium - len(doubtful), medium),
    ]


TOTALS = ["first cause right", "healthy, no false warning", "others as expected"]
TOTALS += ["intervals hold", "median width", "high is right", "medium is right"]


def is_even(case: Case) -> bool:
    """Half of all recordings, by chance but always the same: bounds are set with these in view."""
    return hashlib.sha1(case.name.encode()).digest()[-1] % 2 == 0


def write_totals(cases: list[Case], markdown: bool) -> None:
    """A row for each set, for all of them, and for each half."""
    sets = dict.fromkeys(case.set_name for case in cases)
    parts: list[tuple[str, Callable[[Case], bool]]] = [
        (one, lambda case, one=one: case.set_name == one)  # type: ignore[misc]
        for one in sets
    ]
    parts += [("all", lambda _: True), ("even", is_even), ("odd", lambda one: not is_even(one))]
    rows = [["set", *TOTALS]]
    for name, belongs in parts:
        rows.append([name, *totals([case for case in cases if belongs(case)])])
    print("\nTotals\n")
    write(rows, markdown)
    for level in ("high", "medium"):
        judged, wrong = confidence_of(cases, level)
        print(f"\n{level} confidence: {part(judged - len(wrong), judged)} right")
        for one in wrong:
            print(f"  wrong: {one}")
    missed = [case.name for case in cases if case.has_fault and not is_first_right(case)]
    print(f"\nfirst finding wrong: {', '.join(missed) or 'none'}")
    unknown = {cause for case in cases for cause in case.causes} - known_causes(cases)
    print(f"causes that no finding has here: {', '.join(sorted(unknown)) or 'none'}")


def known_causes(cases: list[Case]) -> set[str]:
    """Causes and rules of all findings."""
    return {one[key] for case in cases for one in findings_of(case) for key in ("cause", "rule")}


def main() -> None:
    """A table for each set, and one of totals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--brief", action="store_true", help="only what is wrong, and totals")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    if asked.folders:
        cases = [one for folder in asked.folders for one in cases_of_labels(folder.name, folder)]
    else:
        cases = standard_cases()
    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(advice_of, (case.path for case in cases)))
    for set_name in dict.fromkeys(case.set_name for case in cases):
        rows = [cells_of(case) for case in cases if case.set_name == set_name]
        if asked.brief:
            rows = [row for row in rows if row[3] != "yes" or row[-1] == "NO"]
        print(f"\n{set_name}\n")
        write([HEAD, *rows], asked.markdown)
    write_totals(cases, asked.markdown)


if __name__ == "__main__":
    main()
