"""Stalls: the waits of the host, each with one reason, against idle-time and a second reading."""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from answers import tables
from program import Program

SAMPLES = ["gpt_bf16.json.gz", "gpt_stack.json.gz", "ddp"]
CORPUS = [
    "planted/gpt__host_sync.json.gz",
    "planted/gpt__empty_cache.json.gz",
    "planted/gpt__checkpoint_stall.json.gz",
    "planted/gpt__unpinned_h2d.json.gz",
    "h200/resnet50_dataloader_bound.json.gz",
    "hta/amd_mi250.json.gz",
    "tracelens/mi300_qwen.json.gz",
]


def check_sum(program: Program, path: Path) -> None:
    idle: defaultdict[int, int] = defaultdict(int)
    for row in tables(program, "idle-time", path)["devices"]:
        idle[row["rank"]] += row["host_ns"] + row["start_ns"] + row["end_ns"]
        idle[row["rank"]] += row["late_ns"] - row["called_ns"]
    stalls: defaultdict[int, int] = defaultdict(int)
    waits: dict[tuple[int, str], int] = {}
    found = tables(program, "stalls", path, "--top", "0")
    for row in found["kinds"]:
        stalls[row["rank"]] += row["idle_ns"]
        waits[row["rank"], row["stall"]] = row["waits"]
        assert 0 <= row["inside_ns"] <= row["idle_ns"]
    assert {rank: ns for rank, ns in stalls.items() if ns} == {
        rank: ns for rank, ns in idle.items() if ns
    }
    places: defaultdict[tuple[int, str], int] = defaultdict(int)
    for row in found["places"]:
        places[row["rank"], row["stall"]] += row["waits"]
    assert dict(places) == {key: count for key, count in waits.items() if count}


@pytest.mark.parametrize("name", SAMPLES)
def test_waits_add_up_to_those_of_idle_time(name: str, samples: Path, program: Program) -> None:
    check_sum(program, samples / name)


@pytest.mark.parametrize("name", CORPUS)
def test_waits_of_the_corpus_add_up(name: str, corpus: Path, program: Program) -> None:
    check_sum(program, corpus / name)


def events_of(path: Path) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    return events


def test_calls_are_counted_in_the_steps(corpus: Path, program: Program) -> None:
    path = corpus / "planted/gpt__empty_cache.json.gz"
    events = events_of(path)
    steps = [
        (e["ts"], e["ts"] + e["dur"])
        for e in events
        if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep#")
    ]
    calls = [e for e in events if e["name"] in ("cudaMalloc", "cudaFree")]
    inside = [e for e in calls if any(begin <= e["ts"] < end for begin, end in steps)]
    row = next(
        one for one in tables(program, "stalls", path)["kinds"] if one["stall"] == "allocator"
    )
    assert row["count"] == len(inside) > 100
    assert abs(row["host_ns"] - 1000 * sum(e["dur"] for e in inside)) <= len(inside)
