"""Writes the page of tables from the figures that bench/run.py keeps."""

import math
import re
import statistics
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]
Part = dict[str, Any]

MOST_RATIO = 0.35  # of the text, and
MOST_EXTRA = 64_000_000  # bytes besides: the limit of resident memory

LEAST_TURNS = 5  # to leave out others
OUTSIDE = 0.025  # how likely the median of many more turns is below an interval, and above it

INTRODUCTION = """# Loading: speed and memory

Written by `make bench` (`bench/run.py`); do not edit. Ratios compare programs that ran in turn,
in one run on one machine, each first in some of the turns. A ratio is taken within each turn,
so that a machine that is faster at one time than at another does not change it; the table has the
median over the turns, and in brackets the interval that holds the median of many more turns with
95 %. Turns in which the host of a virtual machine took a processor away from one of the programs
(`steal` in /proc/stat) are left out, unless there are less than five others; how many count stands
below ratios. GB are 10^9 bytes, sizes are those of the JSON text. Inputs are real traces multiplied
by `bench/generate.cpp`: times, ids, flows and steps go on from copy to copy.
Every input is in the page cache.
"""


PLAIN = """Into finished columns and links, against a bare simdjson on-demand walk that reads
ph, cat, name, ts and dur of every event of the same text in memory and keeps nothing. The *walk* is
done once, by a parser that allocates its buffers within the time, as whoever opens a file must; a
*warm* parser has walked over the same text before and keeps its buffers, *unread* leaves ts and dur
as text besides. The goal is at least 1 ÷ walk, and 1.8 ÷ one thread on two.

"""

MEMORY = """Resident memory of the loading process at its peak; the limit is 0.35 of the text plus
64 MB. *Held* is what the finished tables take; the goal is 64 bytes an event.

"""

PACKED = """Two threads on a packed file. The floor is max(unpacking alone, (unpacking alone + plain
on one thread) ÷ 2); the goal is at most 1.2 times it.

"""

LINEAR = """The whole program, `stepscope info --json`, from start to exit. The limit of memory is
0.35 of the text plus 64 MB; bytes an event are the peak of the process by the number of events.

"""

HTA = """`stepscope info` on two threads, the whole process, against HTA's loader:
`TraceAnalysis(trace_files=…)` of `traceinsight==0.6.1` with `pandas<3`. Not counted are its imports
and its search for the step of each event, which grows with events times steps; with that search HTA
takes {whole}. HTA was measured on {dates}.

"""

NO_PERFETTO = """Not measured: the package on PyPI fetches the trace processor's binary by address
when it first runs, and this machine reaches package registries only. `bench/run.py perfetto`
measures it where `TRACE_PROCESSOR_SHELL` names the binary.
"""


def mb(count: float) -> str:
    """A size in megabytes."""
    return f"{count / 1e6:,.0f} MB"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def turns_of(row: Row, *names: str) -> list[tuple[float, ...]]:
    """What the programs took in each turn that counts."""
    runs = [row[name] for name in names]
    every = list(zip(*(run["seconds"] for run in runs), strict=True))
    flags = zip(*(run.get("disturbed", [False] * len(run["seconds"])) for run in runs), strict=True)
    quiet = [seconds for seconds, bad in zip(every, flags, strict=True) if not any(bad)]
    return quiet if len(quiet) >= LEAST_TURNS else every


def usual(row: Row, name: str) -> float:
    """Seconds of a program."""
    return statistics.median(seconds for (seconds,) in turns_of(row, name))


def rate(row: Row, name: str) -> float:
    """GB of text a second."""
    return float(row["text_bytes"]) / usual(row, name) / 1e9


def turns(rows: list[Row], *names: str) -> str:
    """How many of the turns count: the least and the most of all files."""
    counted = [len(turns_of(row, *names)) for row in rows]
    tried = [len(row[names[0]]["seconds"]) for row in rows]
    return f"{min(counted)} to {max(counted)} of {min(tried)} to {max(tried)} turns count"


def median_in_interval(values: list[float]) -> str:
    """The median, and the values between which the median of all there could be lies with 95 %."""
    ordered = sorted(values)
    cut = likely = 0  # so many values on each side are outside; of all 2^n ways to fall
    for below in range(len(ordered) // 2):
        likely += math.comb(len(ordered), below)
        if likely > OUTSIDE * 2 ** len(ordered):
            break
        cut = below
    return f"{statistics.median(ordered):.2f} ({ordered[cut]:.2f} to {ordered[-1 - cut]:.2f})"


def times(row: Row, slow: str, fast: str) -> str:
    """How many times faster one is than the other."""
    return median_in_interval([one / other for one, other in turns_of(row, slow, fast)])


def over_floor(row: Row) -> str:
    """A packed file on two threads, by what its parts take alone."""
    each = turns_of(row, "inflate", "scan", "two")
    return median_in_interval(
        [two / max(inflate, (inflate + scan) / 2) for inflate, scan, two in each]
    )


def memory_limit(row: Row) -> float:
    """What the program may take at most for this text."""
    return MOST_RATIO * float(row["text_bytes"]) + MOST_EXTRA


def memory_cells(row: Row, name: str) -> list[str]:
    """Peak, its share of the limit, and bytes an event."""
    peak = row[name]["peak_bytes"]
    share = peak / memory_limit(row)
    return [mb(peak), f"{share:.2f}", f"{peak / row['events']:.0f}"]


def plain(rows: list[Row]) -> str:
    """Plain text against the bare walk."""
    walk, warm = "fields, double, fresh parser", "fields, double"
    lines = [
        [
            row["file"],
            mb(row["text_bytes"]),
            f"{rate(row, walk):.2f}",
            f"{rate(row, warm):.2f}",
            f"{rate(row, 'fields, token'):.2f}",
            f"{rate(row, 'one'):.2f}",
            times(row, walk, "one"),
            times(row, warm, "one"),
            f"{rate(row, 'two'):.2f}",
            times(row, "one", "two"),
        ]
        for row in rows
    ]
    head = ["file", "text", "walk GB/s", "walk, warm", "walk, warm, unread"]
    head += ["one thread GB/s", "÷ walk", "÷ warm", "two threads GB/s", "÷ one thread"]
    counted = f"{turns(rows, walk, 'one')} by the walk, {turns(rows, 'one', 'two')} by one thread."
    return f"{PLAIN}{table(head, lines)}\n{counted}\n\n{MEMORY}{memory(rows)}"


def memory(rows: list[Row]) -> str:
    """Peaks, and what is held in the end."""
    lines = []
    for row in rows:
        held = row["one"].get("table_bytes", 0)
        cells = [row["file"], f"{row['events']:,}", *memory_cells(row, "one")[:2]]
        cells += [*memory_cells(row, "two"), mb(held), f"{held / row['events']:.0f}"]
        lines.append(cells)
    head = ["file", "events", "one thread", "÷ limit", "two threads", "÷ limit", "bytes/event"]
    return table([*head, "held", "held bytes/event"], lines)


def packed(rows: list[Row]) -> str:
    """Packed text against unpacking alone."""
    lines = [
        [
            row["file"],
            mb(row["file_bytes"]),
            f"{rate(row, 'inflate'):.2f}",
            f"{rate(row, 'scan'):.2f}",
            f"{rate(row, 'two'):.2f}",
            over_floor(row),
            *memory_cells(row, "two"),
        ]
        for row in rows
    ]
    head = ["file", "packed", "unpacking alone GB/s", "plain, one thread", "two threads"]
    head += ["time ÷ floor", "peak", "÷ limit", "bytes/event"]
    return f"{PACKED}{table(head, lines)}\n{turns(rows, 'inflate', 'scan', 'two')}.\n"


def linear(rows: list[Row]) -> str:
    """Seconds and memory by size."""
    lines = [
        [
            mb(row["text_bytes"]),
            f"{row['events']:,}",
            f"{usual(row, 'one'):.3f}",
            f"{usual(row, 'one') / row['text_bytes'] * 1e9:.3f}",
            f"{usual(row, 'two'):.3f}",
            f"{usual(row, 'two') / row['text_bytes'] * 1e9:.3f}",
            *memory_cells(row, "two"),
        ]
        for row in rows
    ]
    head = ["text", "events", "one thread s", "s/GB", "two threads s", "s/GB"]
    head += ["peak", "÷ limit", "bytes/event"]
    return LINEAR + table(head, lines)


def peer(name: str, title: str, rows: list[Row]) -> str:
    """The whole program against another loader."""
    lines = [
        [
            mb(row["text_bytes"]),
            f"{usual(row, name):.1f}",
            f"{usual(row, 'two'):.3f}",
            f"{usual(row, name) / usual(row, 'two'):.0f}",
            mb(row[name]["peak_bytes"]),
            mb(row["two"]["peak_bytes"]),
            f"{row['two']['peak_bytes'] / row[name]['peak_bytes']:.3f}",
        ]
        for row in rows
    ]
    head = ["text", f"{title} s", "ours s", "times faster"]
    head += [f"{title} peak", "our peak", "memory ratio"]
    return table(head, lines)


def hta(rows: list[Row]) -> str:
    """Against HTA."""
    whole = [f"{row['hta']['whole_s']:.0f} s" for row in rows]
    dates = ", ".join(sorted({row["hta"]["date"] for row in rows}))
    text = HTA.format(whole=" and ".join(whole), dates=dates)
    return text + peer("hta", "HTA", rows)


def perfetto(rows: list[Row]) -> str:
    """Against Perfetto's trace processor."""
    if not rows:
        return NO_PERFETTO
    return peer("perfetto", "Perfetto", rows)


SECTIONS: dict[str, tuple[str, Callable[[list[Row]], str]]] = {
    "plain": ("Plain JSON", plain),
    "packed": ("gzip and zstd", packed),
    "linear": ("By size", linear),
    "hta": ("HTA", hta),
    "perfetto": ("Perfetto's trace processor", perfetto),
}


def sections_of(page: str) -> dict[str, str]:
    """What stands below each title of a page."""
    parts = re.split(r"^## (.*)\n", page, flags=re.MULTILINE)
    return {title: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def page(parts: dict[str, Part], before: str = "") -> str:
    """The whole page; what this machine has no figures of stays as it was."""
    kept = sections_of(before)
    text = INTRODUCTION
    for name, (title, section) in SECTIONS.items():
        if part := parts.get(name):
            made = f"{part['date']}, commit {part['commit']}, {part['machine']}"
            body = f"{section(part['rows'])}\n`{part['command']}`, {made}."
        else:
            body = kept.get(title, "")
        if body:
            text += f"\n## {title}\n\n{body}\n"
    return text
