"""stacks by walking up from every event, and the files made from them."""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from answers import Row, short_name, tables, traces
from oracle import read_trace
from oracle.events import ON_DEVICE, Event
from oracle.intervals import union
from oracle.own_time import caller, is_span, own_times
from oracle.random_modules import random_modules
from oracle.random_trace import random_trace
from oracle.work import View, view_of, view_of_file
from program import Program

KINDS = {
    "python": "python",
    "annotation": "range",
    "cpu_op": "operator",
    "runtime": "call",
    "driver": "call",
}
Stack = tuple[str, ...]
SVG = "{http://www.w3.org/2000/svg}"


def frame(event: Event, steps: set[str]) -> str:
    if not event.name:
        return "(without a name)"
    marks = event.kind == "annotation" and (
        event.name.startswith("ProfilerStep#") or event.name in steps
    )
    return re.sub(r"(?<=.)\d+$", "", event.name) if marks else event.name


def op_around(event: Event | None) -> bool:
    while event is not None and event.parent is not None:
        event = event.parent
        if event.kind == "cpu_op":
            return True
    return False


def stack_of(event: Event, python: bool, hidden: set[str], steps: set[str]) -> Stack:
    found: list[str] = []
    at: Event | None = event
    while at is not None:
        kind = KINDS.get(at.kind, "other")
        if kind not in hidden:
            found.append(frame(at, steps))
        if at.kind == "cpu_op" and not python and not op_around(at) and "python" not in hidden:
            found += [f for f in str(at.args.get("Call stack") or "").split(";") if f]
        at = caller(at)
    return tuple(reversed(found))


def expected(view: View, device: bool, hidden: set[str]) -> dict[Stack, Counter[str]]:
    events = view.trace.events
    python = any(e.kind == "python" for e in events)
    steps: set[str] = set()
    rows = defaultdict[Stack, Counter[str]](Counter)
    for event, time in own_times(view.trace).items():
        stack = stack_of(event, python, hidden, steps)
        rows[stack or ("(not shown)",)]["host_self_ns"] += time
        if KINDS.get(event.kind, "other") not in hidden:
            rows[stack]["calls"] += 1
    for work in view.work:
        launch = work.event.launch
        # A call that stands alone on its thread belongs to the operator its id names.
        if launch is not None and caller(launch) is None and launch.op is not None:
            launch = launch.op if launch.op.kind == "cpu_op" else launch
        stack = stack_of(launch, python, hidden, steps) if launch else ("(launch not recorded)",)
        if device:
            stack = (*stack, work.event.name)
            rows[stack]["calls"] += 1
        rows[stack or ("(not shown)",)]["device_ns"] += work.length
    key = ("device_ns",) if device else ("host_self_ns", "device_ns", "calls")
    return {stack: +row for stack, row in rows.items() if any(row[k] for k in key)}


def plain(stack: Stack) -> str:
    return ";".join(name.replace(";", ",") for name in stack)


def check(program: Program, view: View, path: Path, metric: str, *options: str) -> None:
    hidden = {
        {"python": "python", "operators": "operator", "calls": "call", "ranges": "range"}[o[5:]]
        for o in options
    }
    got = tables(
        program, "stacks", "--metric", metric, "--top", "0", "--depth", "0", *options, path
    )
    wanted = defaultdict[str, Counter[str]](Counter)
    for stack, row in expected(view, metric == "device", hidden).items():
        wanted[plain(stack)] += row
    said = defaultdict[str, Counter[str]](Counter)
    for line in got["stacks"]:
        assert line["stack"].endswith(line["frame"].replace(";", ","))
        said[line["stack"]] += Counter({k: line[k] for k in ("host_self_ns", "device_ns", "calls")})
    if metric == "device":
        for row in [*said.values(), *wanted.values()]:
            del row["host_self_ns"]  # of a kernel and a frame of one name
    assert dict(said) == dict(wanted)
    assert sum(r["device_ns"] for r in got["stacks"]) == sum(w.length for w in view.work)
    if metric == "host":
        assert sum(r["host_self_ns"] for r in got["stacks"]) == covered(view)
    check_frames(got["frames"], metric)


def covered(view: View) -> int:
    """What the spans of the host threads cover, thread by thread."""
    streams = {e.track for e in view.trace.events if e.kind in ON_DEVICE}
    threads = defaultdict[tuple[str, str], list[tuple[int, int]]](list)
    for e in view.trace.events:
        if is_span(e) and e.track not in streams:
            threads[e.track].append((e.start, e.end))
    return sum(end - start for spans in threads.values() for start, end in union(spans))


def check_frames(frames: list[Row], metric: str) -> None:
    """Totals are own times and those of the callees; a callee stands right below its caller."""
    open_: list[Row] = []
    left: list[int] = []
    for row in [*frames, {"depth": 0, f"{metric}_ns": 0, f"{metric}_self_ns": 0}]:
        while len(open_) > row["depth"]:
            assert left.pop() == 0
            open_.pop()
        assert len(open_) == row["depth"]
        if left:
            left[-1] -= row[f"{metric}_ns"]
        open_.append(row)
        left.append(row[f"{metric}_ns"] - row[f"{metric}_self_ns"])


@pytest.mark.parametrize("metric", ["host", "device"])
@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_real_traces_by_brute_force(program: Program, path: Path, metric: str) -> None:
    check(program, view_of_file(path), path, metric)


@pytest.mark.parametrize(
    "options", [[], ["--no-python"], ["--no-operators", "--no-calls"], ["--no-ranges"]]
)
@pytest.mark.parametrize("seed", range(8))
def test_random_traces_by_brute_force(
    program: Program, seed: int, options: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    for text in (random_trace(seed), random_modules(seed, "python")):
        path.write_bytes(text)
        view = view_of(read_trace(text))
        for metric in ("host", "device"):
            check(program, view, path, metric, *options)


@pytest.mark.parametrize("seed", range(6))
def test_folded_stacks_say_the_same(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_modules(seed, "python"))
    for metric, column in (("host", "host_self_ns"), ("device", "device_ns")):
        done = program.run("analyze", "stacks", "-f", "folded", "--metric", metric, path)
        said = Counter[str]()
        for line in done.stdout.decode().splitlines():
            stack, _, time = line.rpartition(" ")
            said[stack] += int(time)
        wanted = Counter[str]()
        for row in tables(program, "stacks", "--top", "0", "--metric", metric, path)["stacks"]:
            wanted[row["stack"]] += row[column]
        assert said == +wanted


def boxes(svg: bytes) -> list[tuple[float, float, float, str]]:
    """Left, top, width and tip of every box."""
    return [
        (
            float(r.get("x", "0")),
            float(r.get("y", "0")),
            float(r.get("width", "0")),
            r.findtext(f"{SVG}title") or "",
        )
        for r in ElementTree.fromstring(svg).iter(f"{SVG}rect")
        if r.find(f"{SVG}title") is not None
    ]


@pytest.mark.parametrize("metric", ["host", "device"])
def test_boxes_of_the_flame_graph_stand_on_each_other(
    program: Program, samples: Path, metric: str
) -> None:
    trace = samples / "gpt_stack.json.gz"
    done = program.run("analyze", "stacks", "--metric", metric, "--svg", "-", trace)
    drawn = boxes(done.stdout)
    assert len(drawn) > 100
    whole = drawn[0]
    rows = defaultdict[float, list[tuple[float, float]]](list)
    for left, top, width, _ in drawn:
        rows[top].append((left, left + width))
    tops = sorted(rows)
    for above, below in zip(tops, tops[1:], strict=False):
        for left, right in rows[below]:
            assert any(a - 0.3 <= left and right <= b + 0.6 for a, b in rows[above])
    for spans in rows.values():
        spans.sort()
        assert all(a[1] <= b[0] + 0.11 for a, b in zip(spans, spans[1:], strict=False))
    # Widths are shares.
    frames = tables(program, "stacks", "--metric", metric, trace)["frames"]
    total = sum(r[f"{metric}_ns"] for r in frames if r["depth"] == 0)
    longest = max((r for r in frames if r["depth"] == 0), key=lambda r: int(r[f"{metric}_ns"]))
    widest = max((b for b in drawn if b[1] == tops[1]), key=lambda b: b[2])
    assert widest[2] / whole[2] == pytest.approx(longest[f"{metric}_ns"] / total, abs=1e-3)
    assert widest[3].startswith(longest["frame"])


def test_hostile_names_and_deep_stacks_make_a_small_good_file(
    program: Program, tmp_path: Path
) -> None:
    events = [
        f'{{"ph":"X","cat":"python_function","name":"f{n};<a&\\"b\\u0001\\ud800>","pid":1,"tid":1,'
        f'"ts":{n},"dur":{20_000 - 2 * n}}}'
        for n in range(9_000)
    ]
    # Many small ones beside each other.
    events += [
        f'{{"ph":"X","cat":"cpu_op","name":"{"long" * 200}{n}","pid":1,"tid":2,"ts":{n},"dur":1}}'
        for n in range(30_000)
    ]
    path = tmp_path / "trace.json"
    path.write_text(f'{{"traceEvents":[{",".join(events)}]}}')
    done = program.run("analyze", "stacks", "--depth", "0", "--svg", "-", path)
    assert len(done.stdout) < 2_000_000
    drawn = boxes(done.stdout)
    assert any("too small to draw" in tip for *_, tip in drawn)
    assert any(tip.startswith('f0;<a&"b') for *_, tip in drawn)
    hidden = re.search(rb"([\d,]+) frames are too small", done.stdout)
    assert hidden
    shown = sum("too small to draw" not in tip for *_, tip in drawn) - 1
    assert int(hidden[1].replace(b",", b"")) == 39_000 - shown
