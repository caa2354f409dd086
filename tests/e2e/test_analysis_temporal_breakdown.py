"""temporal-breakdown against sets of time."""

from pathlib import Path

import pytest
from answers import Row, close, short_name, tables, traces
from oracle import read_trace
from oracle.intervals import Interval, intersect, subtract, total
from oracle.random_trace import random_trace
from oracle.work import View, Work, view_of, view_of_file
from program import Program

SHARED_OUT = ("compute", "exposed_communication", "exposed_memory", "idle")


def parts(work: list[Work], within: list[Interval]) -> dict[str, int]:
    """The time one device spent on each thing."""

    def intervals_of(*kinds: str) -> list[Interval]:
        return intersect(within, [w.interval for w in work if w.sort in kinds])

    compute, communication = intervals_of("compute"), intervals_of("communication")
    memory = intervals_of("memcpy", "memset")
    return {
        "measured_ns": total(within),
        "compute_ns": total(compute),
        "exposed_communication_ns": total(subtract(communication, compute)),
        "exposed_memory_ns": total(subtract(memory, [*compute, *communication])),
        "idle_ns": total(subtract(within, [*compute, *communication, *memory])),
        "communication_ns": total(communication),
        "memory_ns": total(memory),
    }


def shares(found: dict[str, int]) -> dict[str, float | None]:
    whole = found["measured_ns"]
    return {f"{part}_share": found[f"{part}_ns"] / whole if whole else None for part in SHARED_OUT}


def expected(view: View, within_work: bool) -> tuple[list[Row], list[Row]]:
    devices, steps = [], []
    for device in view.devices:
        work = view.on(device)
        reach = (min(w.event.start for w in work), max(w.event.end for w in work))
        found = parts(work, [reach] if within_work else view.measured)
        devices.append({"rank": view.rank, "device": device} | found | shares(found))
        if view.has_steps and not within_work:
            steps += [
                {"rank": view.rank, "window": 0, "step": step.number, "device": device}
                | parts(work, [step.span])
                for step in view.steps
            ]
    return devices, steps


def check(program: Program, view: View, path: Path) -> None:
    for within in ("steps", "work"):
        got = tables(program, "temporal-breakdown", "--within", within, path)
        devices, steps = expected(view, within == "work")
        assert got["devices"] == [close(row) for row in devices]
        assert got["steps"] == steps
        for run in got["run"]:
            assert run["devices"] == len(devices)
            assert run["idle_ns"] == sum(row["idle_ns"] for row in devices)
        assert len(got["run"]) == min(1, len(devices))
        for row in got["devices"] + got["steps"]:
            assert sum(row[f"{part}_ns"] for part in SHARED_OUT) == row["measured_ns"]


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_real_traces_by_brute_force(program: Program, path: Path) -> None:
    check(program, view_of_file(path), path)


@pytest.mark.parametrize("seed", range(40))
def test_random_traces_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    check(program, view_of(read_trace(path.read_bytes())), path)
