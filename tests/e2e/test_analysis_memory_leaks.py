"""memory-leaks against a definition spelled out in dictionaries, and known leaks."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from answers import Row, tables
from oracle import allocator
from program import Program

SNAPSHOTS = allocator.snapshots()
LEAKING = {"snap_gpt_leak", "leak_graph"}


def name_of(path: Path) -> str:
    return path.name.removesuffix(".pickle.gz")


def steps_of(snapshot: dict[str, Any]) -> list[tuple[float, float]]:
    """Marked by the profiler, else ended by the optimizer."""
    notes = snapshot.get("external_annotations", [])
    marked = [n for n in notes if n["name"].startswith("ProfilerStep#")]
    open_at: dict[str, float] = {}
    spans = []
    for note in marked:
        if note["stage"] == "START":
            open_at.setdefault(note["name"], note["time_us"])
        elif note["name"] in open_at:
            spans.append((open_at.pop(note["name"]), note["time_us"]))
    if spans:
        return sorted(spans)
    ends = sorted(
        n["time_us"]
        for n in notes
        if n["stage"] == "END" and n["name"].startswith("Optimizer.step#")
    )
    starts = [0.0, *ends][: len(ends)]
    return list(zip(starts, ends, strict=True))


def python_stack(event: dict[str, Any]) -> tuple[Any, ...]:
    frames = event.get("frames") or []
    python = [f for f in frames if f["filename"].endswith(".py")]
    return tuple((f["filename"], f["line"], f["name"]) for f in python or frames)


def leaked(snapshot: dict[str, Any]) -> dict[tuple[Any, ...], list[int]]:
    """Sizes leaked by stack, for stacks that leak in two steps or more."""
    events = snapshot["device_traces"][0]
    steps = steps_of(snapshot)
    count = len(steps)
    if count < 3:
        return {}

    def step_at(time: float) -> int | None:
        if time >= steps[-1][1]:
            return None
        later = [k for k, (start, _) in enumerate(steps) if start <= time]
        return later[-1] if later else None

    alive: dict[int, dict[str, Any]] = {}
    allocations = []
    for event in events:
        if event["action"] == "alloc":
            allocation = {"event": event, "end": None}
            alive[event["addr"]] = allocation
            allocations.append(allocation)
        elif event["action"] == "free_requested" and event["addr"] in alive:
            alive.pop(event["addr"])["end"] = event["time_us"]
    groups = defaultdict(list)
    for allocation in allocations:
        born = step_at(allocation["event"]["time_us"])
        if born is None:
            continue
        last = count
        if allocation["end"] is not None:
            at = step_at(allocation["end"])
            last = count - 1 if at is None else at
        groups[python_stack(allocation["event"])].append((born, last, allocation["event"]["size"]))
    found = {}
    for stack, members in groups.items():
        kept = max((last - born for born, last, _ in members if last < count), default=0)
        judged = range(1, count - 1 - kept)
        left = [(born, size) for born, last, size in members if last == count and born in judged]
        which = {born for born, _ in left}
        if len(which) < 2 or not which & {judged[-1], judged[-1] - 1}:
            continue
        if 5 * len(which) < 3 * (judged[-1] - min(which) + 1):
            continue
        found[stack] = [size for _, size in left]
    return found


@pytest.mark.parametrize("path", [p for p in SNAPSHOTS if steps_of(allocator.load(p))], ids=name_of)
def test_leaks_are_those_of_the_definition(program: Program, path: Path) -> None:
    snapshot = allocator.load(path)
    rows = tables(program, "memory-leaks", path, "--top", "0")["leaks"]
    expected = leaked(snapshot)
    said = sorted((row["leaked_bytes"], row["allocations"]) for row in rows)
    assert said == sorted((sum(sizes), len(sizes)) for sizes in expected.values())


@pytest.mark.parametrize("path", SNAPSHOTS, ids=name_of)
def test_only_programs_that_leak_are_accused(program: Program, path: Path) -> None:
    rows = tables(program, "memory-leaks", path)["leaks"]
    sure = [row for row in rows if row["confidence"] != "low"]
    assert bool(sure) == (name_of(path) in LEAKING)


def found(program: Program, name: str, *options: str) -> dict[str, list[Row]]:
    path = next(p for p in SNAPSHOTS if name_of(p) == name)
    return tables(program, "memory-leaks", path, *options)


def test_one_activation_per_step(program: Program) -> None:
    said = found(program, "snap_gpt_leak", "--device-memory", "1GiB")
    (leak,) = said["leaks"]
    assert leak["confidence"] == "high"
    assert leak["count_per_step"] == 1
    (outlook,) = said["outlook"]
    assert outlook["bytes_per_step"] == leak["bytes_per_step"]
    left = (1 << 30) - max(r["at_end_bytes"] for r in said["growth"])
    assert 0 <= outlook["steps_until_full"] <= left / leak["bytes_per_step"]
    grown = [row["grown_bytes"] for row in said["growth"][2:-1]]
    assert all(g == pytest.approx(leak["bytes_per_step"], rel=0.01) for g in grown)
