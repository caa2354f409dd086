"""What `lines` measured: as text, and as JSON for the run's folder."""

from __future__ import annotations

import contextlib
import linecache
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepscope.recording.run_folder import RankFolder

SCHEMA = "stepscope.lines/1"


@dataclass
class LineSum:
    """One line of one function, in one thread."""

    hits: int = 0
    time_ns: int = 0
    rss_bytes: int = 0
    device_bytes: int = 0
    # While it runs.
    open: int = 0
    begun_ns: int = 0
    rss_before: int = 0
    device_before: int = 0

    def add(self, other: LineSum) -> None:
        """The same line in another thread."""
        self.hits += other.hits
        self.time_ns += other.time_ns
        self.rss_bytes += other.rss_bytes
        self.device_bytes += other.device_bytes

    def take_away(self, before: LineSum) -> None:
        """The same line at an earlier moment."""
        self.hits -= before.hits
        self.time_ns -= before.time_ns
        self.rss_bytes -= before.rss_bytes
        self.device_bytes -= before.device_bytes


@dataclass
class FunctionLines:
    """All calls of one function."""

    name: str
    file: str
    first_line: int
    calls: int
    lines: dict[int, LineSum] = field(default_factory=dict)

    def take_away(self, before: FunctionLines) -> None:
        """What is left is what came since."""
        self.calls -= before.calls
        for number, line in before.lines.items():
            self.lines[number].take_away(line)
        self.lines = {n: line for n, line in self.lines.items() if line.hits or line.time_ns}

    def as_json(self) -> dict[str, Any]:
        """Schema stepscope.lines/1."""
        rows = [
            {
                "line": number,
                "hits": line.hits,
                "time_ns": line.time_ns,
                "rss_bytes": line.rss_bytes,
                "device_bytes": line.device_bytes,
                "text": linecache.getline(self.file, number).rstrip("\n"),
            }
            for number, line in sorted(self.lines.items())
        ]
        return {
            "schema": SCHEMA,
            "function": self.name,
            "file": self.file,
            "first_line": self.first_line,
            "calls": self.calls,
            "lines": rows,
        }


def lines_so_far() -> list[FunctionLines]:
    """What `lines` measured in this process before a recording began, which is not part of it."""
    lines = sys.modules.get("stepscope.recording.lines")
    return [] if lines is None else list(lines.all_lines())


def write_measured_lines(rank: RankFolder, since: Sequence[FunctionLines]) -> list[str]:
    """The files of what was measured since, where anything was; a full disk does no harm."""
    lines = sys.modules.get("stepscope.recording.lines")
    written: list[str] = []
    if lines is not None:
        with contextlib.suppress(OSError):
            write_lines(rank, lines.measured_lines(since), written)
    return written


def write_lines(rank: RankFolder, measured: Iterable[FunctionLines], written: list[str]) -> None:
    """`lines-NAME.json` for each function; two of one name get a number."""
    taken: set[str] = set()
    for function in measured:
        name = base = re.sub(r"[^\w.-]+", "_", function.name)[:100]
        number = 1
        while name in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name)
        rank.write_json(f"lines-{name}.json", function.as_json())
        written.append(f"lines-{name}.json")


def report_text(measured: Iterable[FunctionLines]) -> str:
    """A table for each function, an empty line between them; to be printed."""
    return "\n\n".join(_table(function) for function in measured)


def _table(function: FunctionLines) -> str:
    whole = sum(line.time_ns for line in function.lines.values())
    has_memory = any(line.rss_bytes for line in function.lines.values())
    has_device = any(line.device_bytes for line in function.lines.values())
    heading = ["line", "hits", "time", "share", "per hit"]
    heading += ["memory"] * has_memory + ["GPU memory"] * has_device
    rows = [heading]
    texts = [""]
    for number, line in sorted(function.lines.items()):
        row = [
            str(number),
            f"{line.hits:,}",
            _duration(line.time_ns),
            f"{100 * line.time_ns / whole:.1f} %" if whole else "",
            _duration(line.time_ns // line.hits) if line.hits else "",
        ]
        row += [_size(line.rss_bytes)] * has_memory + [_size(line.device_bytes)] * has_device
        rows.append(row)
        texts.append(linecache.getline(function.file, number).rstrip())
    widths = [max(len(row[i]) for row in rows) for i in range(len(heading))]
    out = [f"{function.name}  ({function.file}:{function.first_line})  calls: {function.calls}"]
    for row, text in zip(rows, texts, strict=True):
        cells = "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        out.append(f"{cells}  {text}".rstrip())
    return "\n".join(out)


def _duration(ns: int) -> str:
    for size, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "µs")):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 1000 * size else f"{ns / size:,.0f} {unit}"
    return f"{ns} ns"


def _size(size: int) -> str:
    """Net: how much more, or less, there is after the line than before it."""
    if abs(size) < 10 << 10:
        return "" if size == 0 else f"{size:+,} B"
    return f"{size / 2**20:+,.2f} MiB"
