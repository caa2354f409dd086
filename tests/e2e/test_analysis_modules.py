"""modules by asking every event for the module it is in."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from answers import Row, answer, short_name, tables, traces
from oracle import read_trace
from oracle.events import Event
from oracle.own_time import caller, is_span, own_times
from oracle.random_modules import random_modules
from oracle.work import View, view_of, view_of_file
from program import Program

ENGINE = "autograd::engine::evaluate_function"
Path_ = tuple[str, ...]


def named(event: Event, source: str) -> Path_:
    """The modules an event names."""
    if not is_span(event):
        return ()
    if source == "python" and event.kind == "python":
        found = re.fullmatch(r"nn\.Module: (.+)", event.name, re.S)
        return (found[1],) if found else ()
    if source == "lightning" and event.kind == "annotation":
        found = re.fullmatch(r"\[pl\]\[module\][^:]*: (.+)", event.name, re.S)
        return tuple(found[1].split(".")) if found else ()
    if source == "hierarchy":
        parts = re.findall(r"([^.()]+)\(([^)]*)\)", str(event.args.get("Module Hierarchy") or ""))
        return tuple(name for name, _ in parts if name != "SELF")
    return ()


class Places:
    """Path and pass of every event."""

    def __init__(self, view: View, source: str) -> None:
        self.source = source
        self.at: dict[Event, tuple[Path_, str]] = {}
        self.calls = set[Event]()
        self.paths = set[Path_]()
        self.home: dict[str, Path_] = {}
        events = view.trace.events
        back = set[Event]()
        for event in events:
            root = event.forward is not None or (
                event.kind == "cpu_op" and event.name.startswith(ENGINE)
            )
            if root or caller(event) in back:
                back.add(event)
            else:
                self.forward(event)
        order = {event: n for n, event in enumerate(events)}
        for event in sorted(back, key=lambda e: (e.start, order[e])):
            self.backward(event)
        for path in list(self.paths):
            self.paths |= {path[:n] for n in range(1, len(path))}

    def forward(self, event: Event) -> None:
        above = caller(event)
        path = self.at[above][0] if above else ()
        if names := named(event, self.source):
            path = path + names if self.source == "python" else names
            self.calls.add(event)
            self.paths.add(path)
            self.home.setdefault(path[-1], path)
        self.at[event] = (path, "forward")

    def backward(self, event: Event) -> None:
        above = caller(event)
        around = self.at[above] if above else ((), "forward")
        path, when = around[0], "recompute" if around[1] == "recompute" else "backward"
        if event.forward is not None:
            path, when = self.at.get(event.forward, ((), ""))[0], "backward"
        elif event.name.startswith(ENGINE) and around[1] == "forward":
            path = ()
        if names := named(event, self.source):
            path = self.again(path, names, when)
            when = "recompute"
            self.paths.add(path)
        self.at[event] = (path, when)

    def again(self, path: Path_, names: Path_, when: str) -> Path_:
        if self.source != "python":
            return names
        name = names[0]
        if when == "recompute" or path + names in self.paths and name not in path:
            return path + names
        if name in path:
            return path[: len(path) - path[::-1].index(name)]
        return self.home.get(name, path + names)


def expected(view: View, source: str, step: tuple[int, int] | None = None) -> dict[Path_, Row]:
    """The rows by path; () is what is in no module."""
    places = Places(view, source)
    own = own_times(view.trace, [step] if step else None)
    self_ = defaultdict[Path_, Row](lambda: defaultdict(int))

    def inside(event: Event) -> bool:
        return step is None or step[0] <= event.start < step[1]

    for event, time in own.items():
        path, when = places.at[event]
        self_[path]["host" if when == "forward" else "backward_host"] += time
        self_[path]["calls"] += event in places.calls and inside(event)
        above = event.parent
        while above is not None and above.kind != "cpu_op":
            above = above.parent
        outermost = event.kind == "cpu_op" and above is None
        self_[path]["operators"] += outermost and when == "forward" and inside(event)
    for work in view.work:
        if step is not None and (work.step is None or work.step.host != step):
            continue
        launch = work.event.launch
        path, when = places.at[launch] if launch else ((), "forward")
        self_[path]["forward" if when == "forward" else "backward"] += work.length
        self_[path]["recompute"] += work.length if when == "recompute" else 0
    rows: dict[Path_, Row] = {}
    for path in [(), *places.paths]:
        mine = self_[path]
        below = [self_[p] for p in list(self_) if p[: len(path)] == path] if path else [mine]
        row: Row = {
            f"{key}_ns": sum(b[key] for b in below)
            for key in ("host", "backward_host", "forward", "backward", "recompute")
        }
        row["operators"] = sum(b["operators"] for b in below)
        row["device_ns"] = row["forward_ns"] + row["backward_ns"]
        row |= {f"{key}_self_ns": mine[key] for key in ("host", "forward", "backward")}
        row["device_self_ns"] = mine["forward"] + mine["backward"]
        row["calls"] = mine["calls"] if path and source != "hierarchy" else None
        row["depth"] = max(0, len(path) - 1)
        rows[path] = row
    return rows


def check(
    program: Program,
    view: View,
    path: Path,
    source: str,
    *more: str,
    step: tuple[int, int] | None = None,
) -> None:
    got = tables(program, "modules", "--top", "0", "--from", source, *more, path)["modules"]
    wanted = expected(view, source, step)
    assert [row["path"] for row in got].count(None) == 1
    whole = sum(w.length for w in view.work) if step is None else None
    by_path = {tuple(row["path"].split(".")) if row["path"] else (): row for row in got}
    assert by_path.keys() == wanted.keys()
    for where, row in by_path.items():
        right = wanted[where]
        assert {key: row[key] for key in right} == right, where
        if whole:
            assert row["share"] == pytest.approx(row["device_ns"] / whole)
    if whole is not None:
        assert sum(row["device_self_ns"] for row in got) == whole
    # The longest first among those with the same parent.
    seen: dict[Path_, int] = {}
    for row in got[:-1]:
        parent = tuple(row["path"].split("."))[:-1]
        assert row["device_ns"] <= seen.get(parent, row["device_ns"])
        seen[parent] = row["device_ns"]


def with_modules() -> list[Path]:
    return [p for p in traces() if re.search(r"gpt_stack|qwen|checkpoint|eager", p.name)]


@pytest.mark.parametrize("path", with_modules(), ids=short_name)
def test_real_traces_by_brute_force(program: Program, path: Path) -> None:
    check(program, view_of_file(path), path, "python")


@pytest.mark.parametrize("naming", ["python", "lightning", "hierarchy"])
@pytest.mark.parametrize("seed", range(25))
def test_random_traces_by_brute_force(
    program: Program, naming: str, seed: int, tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_modules(seed, naming))
    check(program, view_of(read_trace(path.read_bytes())), path, naming)


@pytest.mark.parametrize("seed", range(12))
def test_one_step_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_modules(seed, "python"))
    view = view_of(read_trace(path.read_bytes()))
    step = view.steps[-1]
    check(program, view, path, "python", "--step", str(step.number), step=step.host)


@pytest.mark.parametrize("path", with_modules(), ids=short_name)
def test_classes_add_up_to_their_instances(program: Program, path: Path) -> None:
    def sums(rows: list[Row]) -> dict[str, Row]:
        out = defaultdict[str, Row](lambda: defaultdict(int))
        for row in rows:
            where = re.sub(r"_\d+(?=\.|$)", "", row["path"] or "")
            for key in ("calls", "device_ns", "host_self_ns", "objects", "operators"):
                out[where][key] += row[key] or 0
        return out

    instances = tables(program, "modules", "--top", "0", path)["modules"]
    classes = tables(program, "modules", "--top", "0", "--by", "class", path)["modules"]
    assert sums(instances) == sums(classes)
    assert len(classes) == len({row["path"] for row in classes})


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_device_time_is_that_of_all_work(program: Program, path: Path) -> None:
    said = answer(program, "modules", "--top", "0", path)
    rows = said["tables"]["modules"]
    if not rows:
        assert "names modules" in said["remarks"][0]
        return
    kernels = tables(program, "kernels", "--memory", "--top", "0", path)["kernels"]
    assert sum(r["device_self_ns"] for r in rows) == sum(r["sum_ns"] for r in kernels)


def test_modules_nested_beyond_sense_count_for_the_hundredth(
    program: Program, tmp_path: Path
) -> None:
    events = [
        f'{{"ph":"X","cat":"python_function","name":"nn.Module: A_{n}","pid":1,"tid":1,'
        f'"ts":{n},"dur":{1000 - 2 * n}}}'
        for n in range(150)
    ]
    path = tmp_path / "trace.json"
    path.write_text(f'{{"traceEvents":[{",".join(events)}]}}')
    said = answer(program, "modules", "--top", "0", path)
    rows = said["tables"]["modules"][:-1]
    assert [row["depth"] for row in rows] == list(range(100))
    assert rows[-1]["host_self_ns"] == rows[-1]["host_ns"] == (1000 - 2 * 99) * 1000
    assert all(row["host_self_ns"] == 2000 and row["calls"] == 1 for row in rows[:-1])
    assert any("100 levels" in remark for remark in said["remarks"])
