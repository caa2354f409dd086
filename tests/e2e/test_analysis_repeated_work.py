"""What is computed or read again: counted anew from the events of recorded traces."""

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


def chains(events: list[Event]) -> list[list[Event]]:
    steps = [e for e in events if e.get("cat") == "user_annotation" and "ProfilerStep" in e["name"]]
    launched = {
        one["args"]["correlation"]: one["ts"]
        for one in events
        if one.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in one["args"]
    }

    def step_of(work: Event) -> int | None:
        at = launched.get(work["args"]["correlation"])
        if at is None:
            return None
        inside = (i for i, s in enumerate(steps) if s["ts"] <= at < s["ts"] + s["dur"])
        return next(inside, None)

    def threads(work: Event) -> int:
        return int(work["args"]["grid"][0] * work["args"]["block"][0])

    streams = defaultdict(list)
    for one in events:
        if one.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            streams[one["args"]["stream"]].append(one)
    found: list[list[Event]] = []
    for work in streams.values():
        run: list[Event] = []
        for one in sorted(work, key=lambda e: e["ts"]):
            fits = one["cat"] == "kernel" and "elementwise_kernel" in one["name"].split("<")[0]
            fits = fits and step_of(one) is not None
            if run and not (
                fits
                and step_of(one) == step_of(run[-1])
                and threads(one) <= 4 * threads(run[-1])
                and threads(run[-1]) <= 4 * threads(one)
            ):
                found.append(run)
                run = []
            if fits:
                run.append(one)
        found.append(run)
    return [run for run in found if len(run) > 1]


@pytest.mark.parametrize("name", ["unfused_chain", "small_batch"])
def test_elementwise_chains(program: Program, name: str) -> None:
    path = RECORDED / f"{name}.json.gz"
    rows = tables(program, "patterns", path, "--top", "0")["chains"]
    least = most = lengths = 0
    expected = chains(events_of(path))
    for run in expected:
        each = [ns(one["dur"]) for one in run]
        # Ends are rounded as starts and lengths are, one by one.
        gaps = [
            max(0, ns(b["ts"] - run[0]["ts"]) - ns(a["ts"] - run[0]["ts"]) - ns(a["dur"]))
            for a, b in zip(run, run[1:], strict=False)
        ]
        lengths += sum(each)
        least += sum(each[1:]) // 3
        most += sum(each) - max(each) + sum(gaps)
    assert sum(row["count"] for row in rows) == len(expected)
    assert sum(row["kernels"] * row["count"] for row in rows) == sum(len(run) for run in expected)
    assert sum(row["device_ns"] for row in rows) == lengths
    assert sum(row["saves_least_ns"] for row in rows) == least
    assert sum(row["saves_most_ns"] for row in rows) == pytest.approx(most, rel=1e-6)
