"""Writes the page of tables from the figures that bench/run.py keeps."""

import re
import statistics
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]
Part = dict[str, Any]

MOST_RATIO = 0.35  # of the text, and
MOST_EXTRA = 64_000_000  # bytes besides: the limit of resident memory

INTRODUCTION = """# Loading: speed and memory

Written by `make bench` (`bench/run.py`); do not edit. Ratios compare programs that ran in turn,
in one run on one machine, each first in some of the turns. Turns during which the host of a virtual
machine took a processor away (`steal` in /proc/stat) are left out, unless there are less than five
others; how many count stands below ratios. What is left of others' doings makes a program
slower and never faster: so its time is the one that a quarter of its turns stay below. In brackets
behind a ratio stand the one of the fastest turns, which hangs on two runs, and the one of the
medians. GB are 10^9 bytes, sizes are those of the JSON text. Inputs are real traces multiplied by
`bench/generate.cpp`: times, ids, flows and steps go on from copy to copy.
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


def lower_quarter(seconds: list[float]) -> float:
    """What a quarter of the turns stay below."""
    return sorted(seconds)[len(seconds) // 4]


def usual(row: Row, name: str) -> float:
    """Seconds of a program."""
    return lower_quarter(row[name]["seconds"])


def rate(row: Row, name: str) -> float:
    """GB of text a second."""
    return float(row["text_bytes"]) / usual(row, name) / 1e9


def turns(rows: list[Row], *names: str) -> str:
    """How many of the turns count: the least and the most of all programs and files."""
    runs = [row[name] for row in rows for name in names]
    counted = [len(run["seconds"]) for run in runs]
    tried = [run.get("turns", len(run["seconds"])) for run in runs]
    return f"\n{min(counted)} to {max(counted)} of {min(tried)} to {max(tried)} turns count.\n"


def in_each_way(row: Row, names: list[str], ratio: Callable[..., float]) -> str:
    """A ratio of what some programs took: of lower quarters, of fastest turns, of medians."""
    seconds = [row[name]["seconds"] for name in names]
    quarter, fastest, median = (
        ratio(*(of(some) for some in seconds)) for of in (lower_quarter, min, statistics.median)
    )
    return f"{quarter:.2f} ({fastest:.2f}, {median:.2f})"


def times(row: Row, slow: str, fast: str) -> str:
    """How many times faster one is than the other."""
    return in_each_way(row, [slow, fast], lambda one, other: one / other)


def over_floor(row: Row) -> str:
    """A packed file on two threads, by what its parts take alone."""

    def ratio(inflate: float, scan: float, two: float) -> float:
        return two / max(inflate, (inflate + scan) / 2)

    return in_each_way(row, ["inflate", "scan", "two"], ratio)


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
    return (
        PLAIN + table(head, lines) + turns(rows, walk, "one", "two") + "\n" + MEMORY + memory(rows)
    )


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
    return PACKED + table(head, lines) + turns(rows, "inflate", "scan", "two")


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
