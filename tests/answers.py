"""Asks the program for an analysis, and names the traces it is asked about."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from program import ROOT, Program

Row = dict[str, Any]


def answer(program: Program, analysis: str, *arguments: str | os.PathLike[str]) -> dict[str, Any]:
    """What `analyze ANALYSIS -f json` says: {"tables": {name: rows}, "remarks": ...}."""
    outcome = program.run("analyze", analysis, "-f", "json", *arguments, timeout=300)
    assert outcome.exit_status in (0, 4), outcome.stderr.decode(errors="replace")
    said: dict[str, Any] = json.loads(outcome.stdout)
    return said


def tables(
    program: Program, analysis: str, *arguments: str | os.PathLike[str]
) -> dict[str, list[Row]]:
    """The tables of an answer by name."""
    found: dict[str, list[Row]] = answer(program, analysis, *arguments)["tables"]
    return found


def close(row: Row, rel: float = 1e-9) -> Row:
    """The row with some tolerance for its reals, to compare another one with."""
    return {k: pytest.approx(v, rel=rel) if isinstance(v, float) else v for k, v in row.items()}


# Of the corpus, what a brute-force oracle reads in seconds; STEPSCOPE_DIFFERENTIAL=all takes all.
MOST_PACKED_BYTES = 360_000


def traces() -> list[Path]:
    """The samples of the project, and the smaller traces of the corpus where there is one."""
    found = list((ROOT / "examples" / "data").rglob("*.json.gz"))
    if corpus := os.environ.get("STEPSCOPE_CORPUS"):
        everything = os.environ.get("STEPSCOPE_DIFFERENTIAL") == "all"
        found += [
            path
            for path in Path(corpus).rglob("*.json.gz")
            if everything or path.stat().st_size <= MOST_PACKED_BYTES
        ]
    return sorted(found)


def short_name(path: Path) -> str:
    """For test ids: folder and file."""
    return f"{path.parent.name}/{path.name.removesuffix('.json.gz')}"
