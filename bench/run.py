"""Measures what the docs claim about loading, and writes docs/bench/loading.md.

    bench/run.py                       every part
    bench/run.py plain packed          some parts; the others keep their last figures
    bench/run.py --runs 3 --most 500M  quicker: fewer turns, smaller inputs
    bench/run.py --reuse-peers         with the last figures of HTA and Perfetto, which are slow
    bench/run.py --report              write the page again from the last figures

Parts: plain (against a bare simdjson walk), packed (against bare unpacking), linear (seconds and
memory by size), hta, perfetto. Inputs are kept in .deps/bench-data or STEPSCOPE_BENCH_DIR; real
traces are looked for in STEPSCOPE_CORPUS, then in examples/data. Ratios are taken within one run.
"""

import argparse
import datetime
import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peers
import tables
from inputs import Input
from measure import ROOT, Timing, commit, in_turn, machine
from programs import TEMPLATES, Programs, build

RESULTS = ROOT / ".deps" / "bench-results"
PAGE = ROOT / "docs" / "bench" / "loading.md"
MAIN = TEMPLATES[0]

WALKS = ("fields, double", "fields, token", "fields, double, fresh parser")

Row = dict[str, Any]


def row_of(trace: Input, timings: dict[str, Timing]) -> Row:
    """A row of a result: the input and what each program needed for it."""
    return {
        "file": trace.name,
        "text_bytes": trace.text_bytes,
        "file_bytes": trace.path.stat().st_size,
        "events": trace.events,
        **{name: timing.row() for name, timing in timings.items()},
    }


def plain(programs: Programs) -> list[Row]:
    """Plain text on one and two threads, against the bare walk of the same text in memory."""
    rows = []
    for stem in programs.templates():
        for size in programs.sizes("187M", *(["1G"] if stem == MAIN else [])):
            trace = programs.trace(stem, size)
            turn: dict[str, Callable[[], Timing]] = {
                name: functools.partial(programs.walk, trace, name) for name in WALKS
            }
            turn["one"] = functools.partial(programs.load, trace, 1)
            turn["two"] = functools.partial(programs.load, trace, 2)
            rows.append(row_of(trace, in_turn(programs.turns(trace), turn)))
    return rows


def packed(programs: Programs) -> list[Row]:
    """Packed text on two threads, against unpacking alone and the plain text on one thread."""
    rows = []
    for stem in programs.templates():
        for packing in (".gz", ".zst"):
            size = programs.sizes("187M", "500M" if stem == MAIN else "187M")[-1]
            text, trace = programs.trace(stem, size), programs.trace(stem, size, packing)
            turn: dict[str, Callable[[], Timing]] = {
                "inflate": functools.partial(programs.inflate, trace),
                "scan": functools.partial(programs.load, text, 1),
                "two": functools.partial(programs.load, trace, 2),
            }
            rows.append(row_of(trace, in_turn(programs.turns(text), turn)))
    return rows


def linear(programs: Programs) -> list[Row]:
    """Seconds and memory of the whole program by size."""
    rows = []
    for size in programs.sizes("125M", "250M", "500M", "1G", "2G"):
        trace = programs.trace(MAIN, size)
        turn: dict[str, Callable[[], Timing]] = {
            "one": functools.partial(programs.info, trace, 1),
            "two": functools.partial(programs.info, trace, 2),
        }
        rows.append(row_of(trace, in_turn(programs.turns(trace), turn)))
    return rows


def against(programs: Programs, peer: str, load: Callable[[Input], Timing]) -> list[Row]:
    """The whole program against another loader, which is so slow that turns do not matter."""
    rows = []
    for size in programs.sizes("100M", "500M"):
        trace = programs.trace(MAIN, size)
        turns = 3 if size == "100M" else 1
        theirs = peers.kept(peer, trace, turns, load, programs.reuse_peers)
        turn: dict[str, Callable[[], Timing]] = {
            "one": functools.partial(programs.info, trace, 1),
            "two": functools.partial(programs.info, trace, 2),
        }
        rows.append(row_of(trace, {peer: theirs, **in_turn(programs.turns(trace), turn)}))
    return rows


def hta(programs: Programs) -> list[Row]:
    """The whole program against HTA's loader."""
    return against(programs, "hta", functools.partial(peers.hta_load, peers.hta_python()))


def perfetto(programs: Programs) -> list[Row]:
    """The whole program against Perfetto's trace processor, where there is one."""
    if shell := peers.perfetto_shell():
        return against(programs, "perfetto", functools.partial(peers.perfetto_load, shell))
    print("  no trace_processor_shell on this machine: skipped", file=sys.stderr)
    return []


PARTS: dict[str, Callable[[Programs], list[Row]]] = {
    "plain": plain,
    "packed": packed,
    "linear": linear,
    "hta": hta,
    "perfetto": perfetto,
}


def keep(name: str, rows: list[Row]) -> None:
    """Keeps the figures of a part for this and later pages."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    part = {
        "date": datetime.date.today().isoformat(),
        "command": " ".join(["bench/run.py", *sys.argv[1:]]),
        "commit": commit(),
        "machine": machine(),
        "rows": rows,
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(part, indent=1) + "\n")


def kept() -> dict[str, Any]:
    """The last figures of every part that has some."""
    paths = {name: RESULTS / f"{name}.json" for name in PARTS}
    return {name: json.loads(path.read_text()) for name, path in paths.items() if path.exists()}


def main() -> int:
    """Measures the parts that were asked for and writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--runs", type=int, default=7, help="turns of each program (default 7)")
    parser.add_argument("--most", default="2G", help="largest input (default 2G)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--reuse-peers", action="store_true", help="do not run them again")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")

    if not options.report:
        build(options.build.resolve())
        programs = Programs(options.build.resolve(), options.runs, options.most)
        programs.reuse_peers = options.reuse_peers
        for name in options.parts or PARTS:
            print(name, file=sys.stderr)
            keep(name, PARTS[name](programs))
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    before = PAGE.read_text() if PAGE.exists() else ""
    PAGE.write_text(tables.page(kept(), before))
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
