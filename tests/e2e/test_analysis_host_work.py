"""What the CPU works on itself, against a second reading of the events that shares no code."""

import gzip
import json
import math
from bisect import bisect_left
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from answers import tables
from program import Program

RECORDED = Path(__file__).parents[1] / "fixtures" / "faults"
MIB = 1 << 20
CALLS = ("cuda_runtime", "cuda_driver")
Event = dict[str, Any]


def spans(path: Path) -> list[Event]:
    """Times in ns."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    out = []
    for ordinal, event in enumerate(events):
        if event.get("ph") == "X" and event.get("cat"):
            start, length = (round(float(event[key]) * 1000) for key in ("ts", "dur"))
            out.append({**event, "at": start, "end": start + length, "ordinal": ordinal})
    return out


def steps_of(events: list[Event]) -> list[tuple[int, int]]:
    return sorted(
        (e["at"], e["end"])
        for e in events
        if e["cat"] == "user_annotation" and e["name"].startswith("ProfilerStep#")
    )


def in_a_step(events: list[Event], at: int) -> bool:
    return any(start <= at < end for start, end in steps_of(events))


def launches(events: list[Event]) -> list[tuple[Event, Event]]:
    """The call and what it started."""
    calls = {e["args"]["correlation"]: e for e in events if e["cat"] in CALLS}
    works = [e for e in events if e["cat"] in ("kernel", "gpu_memcpy")]
    return [
        (calls[e["args"]["correlation"]], e) for e in works if e["args"]["correlation"] in calls
    ]


def signs(events: list[Event]) -> dict[str, int]:
    nodes = checked = 0
    by_thread = defaultdict(list)
    for e in events:
        if e["cat"] == "cpu_op":
            by_thread[e["tid"]].append(e)
    prefix = "autograd::engine::evaluate_function: "
    for list_ in by_thread.values():
        list_.sort(key=lambda e: (e["at"], -e["end"]))
        starts = [e["at"] for e in list_]
        for i, node in enumerate(list_):
            is_node = node["name"].startswith(prefix) and "AccumulateGrad" not in node["name"]
            if not is_node or not in_a_step(events, node["at"]):
                continue
            nodes += 1
            inside = list_[i + 1 : bisect_left(starts, node["end"])]
            seen = [e["name"] for e in inside]
            checked += "aten::isnan" in seen and "aten::item" in seen[seen.index("aten::isnan") :]
    long_ = held = 0
    for call, work in launches(events):
        if work["cat"] != "kernel" or work["dur"] < 10 or not in_a_step(events, call["at"]):
            continue
        long_ += 1
        held += call["end"] >= work["end"]
    return {
        "backward_nodes": nodes,
        "checked_nodes": checked,
        "long_launches": long_,
        "held_launches": held,
    }


SIGNS = ["mixer", "mixer_anomaly", "small_mixer_blocking", "vision", "unfused_chain"]


@pytest.mark.parametrize("name", SIGNS)
def test_signs_of_settings_are_counted(name: str, program: Program) -> None:
    path = RECORDED / f"{name}.json.gz"
    (row,) = tables(program, "host-work", path)["signs"]
    expected = signs(spans(path))
    assert {key: row[key] for key in expected} == expected
    assert (row["checked_nodes"] > row["backward_nodes"] / 2) == ("anomaly" in name)
    assert (row["held_launches"] > 0.95 * row["long_launches"]) == ("blocking" in name)


def copies(events: list[Event], way: str) -> tuple[int, int]:
    found = [
        work["args"]["bytes"]
        for call, work in launches(events)
        if way in work["name"] and in_a_step(events, call["at"])
    ]
    return len(found), sum(found)


def longest_on_the_cpu(events: list[Event], names: list[str]) -> int:
    return sum(e["end"] - e["at"] for e in events if e["name"] in names and e["cat"] == "cpu_op")


@pytest.mark.parametrize(
    ("name", "task", "operator"),
    [
        ("mixer_random", "data", "aten::randn"),
        ("mixer_augments", "data", "aten::flip"),
        ("mixer_cpu_optimizer", "update", "aten::addcdiv_"),
        ("mixer_histograms", "inspect", "aten::histc"),
    ],
)
def test_operators_on_the_cpu_are_all_of_their_task(
    name: str, task: str, operator: str, program: Program
) -> None:
    path = RECORDED / f"{name}.json.gz"
    events = spans(path)
    found = tables(program, "host-work", path, "--top", "0")
    row = next(one for one in found["operators"] if (one["task"], one["op"]) == (task, operator))
    calls = [e for e in events if e["name"] == operator and e["end"] - e["at"] >= 10_000]
    assert row["calls"] == len([e for e in calls if in_a_step(events, e["at"])]) > 0
    assert row["sum_ns"] == sum(e["end"] - e["at"] for e in calls)
    assert math.isclose(row["longest_ns"], max(e["end"] - e["at"] for e in calls))


@pytest.mark.parametrize(
    ("name", "task", "down", "up"),
    [
        ("mixer_cpu_optimizer", "update", True, True),
        ("mixer_histograms", "inspect", True, False),
        ("mixer_numpy_histograms", "inspect", True, False),
        ("mixer_masks", "data", False, True),
    ],
)
def test_copies_of_a_task_are_those_of_the_trace(
    name: str, task: str, down: bool, up: bool, program: Program
) -> None:
    path = RECORDED / f"{name}.json.gz"
    events = spans(path)
    (row,) = [one for one in tables(program, "host-work", path)["tasks"] if one["task"] == task]
    if down:
        assert (row["down"], row["down_bytes"]) == copies(events, "DtoH")
    if up and task == "data":
        assert (row["up"], row["up_bytes"]) == copies(events, "HtoD")
    if task == "update":  # weights back; the batch is copied as well
        assert row["up_bytes"] == row["down_bytes"] <= copies(events, "HtoD")[1]
    assert row["steps"] == len(steps_of(events))
    assert row["host_ns"] >= row["operators_ns"] + row["quiet_ns"]


@pytest.mark.parametrize("name", ["mixer", "saves", "small_saves", "vision", "graph", "collected"])
def test_none_of_it_where_there_is_none(name: str, program: Program) -> None:
    found = tables(program, "host-work", RECORDED / f"{name}.json.gz")
    assert [row for row in found["tasks"] if row["host_ns"] > 1_000_000] == []
