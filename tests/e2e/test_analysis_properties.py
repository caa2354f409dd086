"""What must hold for every analysis, whatever the numbers are."""

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from answers import Row, answer, short_name, tables, traces
from program import Program

EVERYTHING = [
    "host-work",
    "loop",
    "overview",
    "time",
    "log",
    "throughput",
    "loader",
    "model",
    "system",
    "energy",
    "stalls",
    "steps",
    "steps-tensorflow",
    "dataloader",
    "temporal-breakdown",
    "idle-time",
    "kernel-types",
    "kernels",
    "kernel-durations",
    "roofline",
    "mfu",
    "overlap",
    "annotations",
    "launches",
    "queue-length",
    "memory-bandwidth",
    "transfers",
    "memory-operators",
    "memory-summary",
    "memory-timeline",
    "memory-peak",
    "memory-allocations",
    "memory-diff",
    "operators",
    "modules",
    "stacks",
    "patterns",
    "attention",
    "autotuning",
    "program",
    "memory-oom",
    "memory-leaks",
    "memory-fragmentation",
    "memory-events",
    "cpu",
    "counters",
]

# Tables that are sums over launches: which columns name a row, and which are added.
SUMS = [
    ("kernels", "kernels", ("rank", "name", "class"), ("count", "sum_ns")),
    ("launches", "calls", ("rank", "call"), ("calls", "work", "cost_ns", "longer_than_work")),
    ("launches", "kernels", ("rank", "name", "class"), ("count", "cost_ns", "short_kernels")),
    (
        "roofline",
        "operators",
        ("rank", "call", "arithmetic", "missing"),
        ("calls", "device_ns", "flops", "moved_bytes"),
    ),
    ("roofline", "kernels", ("rank", "kernel", "operator", "arithmetic"), ("count", "device_ns")),
    ("transfers", "classes", ("rank", "device", "kind", "host_memory"), ("count", "bytes")),
]

Event = dict[str, Any]


def test_every_analysis_is_asked(program: Program) -> None:
    listed = program.run("analyze", "--list").stdout.decode()
    names = re.findall(r"^ {2,4}([a-z][a-z-]*)  ", listed, re.MULTILINE)  # questions may be folded
    assert sorted(names) == sorted(EVERYTHING)


@pytest.mark.parametrize("analysis", EVERYTHING)
def test_order_of_the_ranks_does_not_matter(
    program: Program, samples: Path, tmp_path: Path, analysis: str
) -> None:
    first, second = sorted((samples / "ddp").glob("*.json.gz"))
    assert answer(program, analysis, first, second) == answer(program, analysis, second, first)
    # Nor do the names of the files: the ranks stand inside them.
    shutil.copy(first, tmp_path / "b.json.gz")
    shutil.copy(second, tmp_path / "a.json.gz")
    assert answer(program, analysis, tmp_path) == answer(program, analysis, first, second)


def halves(trace: dict[str, Any]) -> tuple[list[Event], list[Event]]:
    """The events before and after a step's end; device events go where their call goes."""
    events: list[Event] = trace["traceEvents"]
    marks = [
        e
        for e in events
        if e.get("name", "").startswith("ProfilerStep#") and e.get("cat") == "user_annotation"
    ]
    ends = sorted(e["ts"] + e["dur"] for e in marks)
    border = ends[len(ends) // 2 - 1]
    calls = {
        e["args"]["correlation"]: e["ts"]
        for e in events
        if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})
    }
    before: list[Event] = []
    after: list[Event] = []
    for event in events:
        time = event.get("ts", 0)
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            time = calls.get(event["args"].get("correlation"), time)
        if event["ph"] == "M":
            before.append(event)
            after.append(event)
        else:
            (before if time < border else after).append(event)
    return before, after


def summed(rows: list[Row], keys: tuple[str, ...], added: tuple[str, ...]) -> dict[Any, list[int]]:
    """The added columns by the columns that name a row."""
    found: dict[Any, list[int]] = {}
    for row in rows:
        sums = found.setdefault(tuple(row[key] for key in keys), [0] * len(added))
        for i, column in enumerate(added):
            sums[i] += row[column] or 0
    return found


@pytest.fixture(scope="module")
def split_run(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A sample, and a folder with the same events as two recordings of one rank."""
    whole = samples / "gpt_bf16.json.gz"
    trace = json.loads(gzip.decompress(whole.read_bytes()))
    trace["distributedInfo"] = {"rank": 0, "world_size": 1}
    folder = tmp_path_factory.mktemp("split")
    one = tmp_path_factory.mktemp("whole") / "whole.json"
    one.write_text(json.dumps(trace))
    for number, events in enumerate(halves(trace)):
        (folder / f"part{number}.json").write_text(json.dumps({**trace, "traceEvents": events}))
    return one, folder


@pytest.mark.parametrize("case", SUMS, ids=lambda case: f"{case[0]}.{case[1]}")
def test_a_run_cut_at_a_step_adds_up_to_the_whole(
    program: Program, split_run: tuple[Path, Path], case: Any
) -> None:
    analysis, table, keys, added = case
    options = ["--top", "0"]
    whole, parts = (tables(program, analysis, *options, path)[table] for path in split_run)
    assert whole
    assert summed(parts, keys, added) == summed(whole, keys, added)


def numbers(found: dict[str, list[Row]], ending: str) -> Iterator[tuple[str, Any]]:
    """Every value of the columns whose name ends so, with where it stands."""
    for table, rows in found.items():
        for row in rows:
            for column, value in row.items():
                if column.endswith(ending) and value is not None:
                    yield f"{table}.{column}", value


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_no_time_is_negative_and_no_share_above_one(program: Program, path: Path) -> None:
    for analysis in EVERYTHING:
        found = tables(program, analysis, path)
        for where, value in numbers(found, "_ns"):
            assert float(value) >= 0, f"{analysis} {where}"
        for where, value in numbers(found, "share"):
            # What stays in a cache moves faster than memory could.
            if where.endswith(".bandwidth_share"):
                assert value >= 0
                continue
            assert -1e-12 <= value <= 1 + 1e-9, f"{analysis} {where}"


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_breakdowns_add_up_to_the_time_they_break_down(program: Program, path: Path) -> None:
    temporal = ("compute_ns", "exposed_communication_ns", "exposed_memory_ns", "idle_ns")
    for row in tables(program, "temporal-breakdown", path)["steps"]:
        assert sum(row[part] for part in temporal) == row["measured_ns"]
        assert row["exposed_communication_ns"] <= row["communication_ns"]
        assert row["exposed_memory_ns"] <= row["memory_ns"]
    causes = ("host", "kernel", "dependency", "communication", "start", "end", "other")
    for row in tables(program, "idle-time", path)["devices"]:
        assert sum(row[f"{cause}_ns"] for cause in causes) == row["idle_ns"]
        breakdown = tables(program, "temporal-breakdown", path)["devices"]
        same = [b for b in breakdown if (b["rank"], b["device"]) == (row["rank"], row["device"])]
        assert [b["idle_ns"] for b in same] == [row["idle_ns"]]
