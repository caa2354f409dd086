"""What is computed again: counted anew from the events of recorded traces."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from answers import tables
from program import Program

RECORDED = Path(__file__).parents[1] / "fixtures" / "faults"
Event = dict[str, Any]


def events_of(path: Path) -> list[Event]:
    events: list[Event] = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    return events


def ns(microseconds: float) -> int:
    return round(microseconds * 1000)


def nested(events: list[Event]) -> Iterator[tuple[Event, list[Event]]]:
    """Every host event with those around it on its thread, the outermost first."""
    threads = defaultdict(list)
    for event in events:
        if event.get("cat") in ("cpu_op", "cuda_runtime", "cuda_driver"):
            threads[event["tid"]].append(event)
    for thread in threads.values():
        around: list[Event] = []
        for event in sorted(thread, key=lambda e: (e["ts"], -e["dur"])):
            while around and around[-1]["ts"] + around[-1]["dur"] <= event["ts"]:
                around.pop()
            yield event, list(around)
            around.append(event)


def is_recorded(event: Event) -> bool:
    args = event.get("args", {})
    return "Sequence number" in args and args.get("Fwd thread id", 0) == 0


def recomputed_ns(events: list[Event]) -> int:
    """Kernels of calls that autograd records, inside of backward nodes."""
    again = set()
    for event, around in nested(events):
        inside = False
        for one in [*around, event]:
            if one["name"].startswith("autograd::engine::evaluate_function"):
                inside, second = True, False
            elif inside and one["cat"] == "cpu_op" and is_recorded(one):
                second = True
        if inside and second and "correlation" in event["args"]:
            again.add(event["args"]["correlation"])
    return sum(
        ns(one["dur"])
        for one in events
        if one.get("cat") == "kernel" and one["args"]["correlation"] in again
    )


@pytest.mark.parametrize("name", ["recompute", "unfused_chain", "odd_shapes"])
def test_the_forward_pass_again(program: Program, name: str) -> None:
    path = RECORDED / f"{name}.json.gz"
    rows = tables(program, "mfu", path)["steps"]
    said = sum(row["recomputed_ns"] for row in rows if row["step"] is not None)
    assert said == recomputed_ns(events_of(path))
    assert (said > 0) == (name == "recompute")
