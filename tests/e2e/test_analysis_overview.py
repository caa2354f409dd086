"""The overview against an oracle, and against what TensorBoard's plugin prints."""

from pathlib import Path
from typing import Any

import pytest
from answers import Row, short_name, tables, traces
from oracle.events import Event
from oracle.intervals import Interval, intersect, total, union
from oracle.random_trace import random_trace
from oracle.trace import read_trace
from oracle.values import narrow, signed, single
from oracle.work import View, view_of, view_of_file
from program import Program

# GPU Utilization, Est. SM Efficiency, Est. Achieved Occupancy (%), and the digits given.
TENSORBOARD = {
    "gpt_bf16": (0.1286, 0.1173, 44.85),
    "resnet50_dataloader_bound": (0.1895, 0.1720, 40.70),
    "gpt_stack": (0.7263, 0.6963, 18.21),
    "ddp_gloo_rank0": (0.0041, None, None),
}


@pytest.mark.parametrize("name", TENSORBOARD)
def test_devices_as_tensorboard_sees_them(name: str, program: Program, corpus: Path) -> None:
    path = corpus / "h200" / f"{name}.json.gz"
    [device] = tables(program, "overview", path)["devices"]
    utilisation, efficiency, occupancy = TENSORBOARD[name]
    assert device["kernel_busy_share"] == pytest.approx(utilisation, abs=1e-4)
    if efficiency is not None:
        assert device["sm_efficiency"] == pytest.approx(efficiency, abs=1e-4)
        # The plugin counts the 0 of kernels whose occupancy is unknown; we do not.
        view = view_of_file(path)
        kernels = [w.event for w in view.work if w.event.kind == "kernel"]
        stretch = (view.steps[0].span[0], view.steps[-1].span[1])
        theirs = occupancy_of(kernels, stretch, untold=True)
        assert theirs is not None and theirs * 100 == pytest.approx(occupancy, abs=1e-2)
        assert device["occupancy"] > theirs


def filled(kernels: list[Event], stretch: Interval) -> float:
    """Integral of min(sum of blocks per SM, 1), between all times at which something changes."""
    changes: list[tuple[int, float]] = []
    for kernel in kernels:
        blocks = single(kernel.args.get("blocks per SM"))
        if blocks is not None and blocks > 0 and kernel.duration > 0:
            changes += [(kernel.start, blocks), (kernel.end, -blocks)]
    area, running, last = 0.0, 0.0, 0
    for time, blocks in sorted(changes):
        inside = total(intersect([(last, time)], [stretch]))
        area += inside * max(0.0, min(running, 1.0))
        running, last = running + blocks, time
    return area


def occupancy_of(kernels: list[Event], stretch: Interval, *, untold: bool = False) -> float | None:
    """Mean over the time of the kernels that say it; `untold`: also of a 0 that means nothing."""
    weighted, time = 0.0, 0
    for kernel in kernels:
        percent = single(kernel.args.get("est. achieved occupancy %"))
        if percent is None or percent < 0:
            continue
        warps = single(kernel.args.get("warps per SM"))
        if not untold and percent == 0 and warps is not None and warps >= 1:
            continue
        inside = total(intersect([(kernel.start, kernel.end)], [stretch]))
        weighted += inside * percent / 100
        time += inside
    return weighted / time if time else None


def peak(view: View, device: int, key: str) -> int | None:
    """The largest total the allocator reported for a device."""
    found = []
    for event in view.trace.events:
        if event.kind != "memory" or narrow(event.args.get("Device Id")) != device:
            continue
        value = signed(event.args.get(key))
        if (narrow(event.args.get("Device Type")) or 0) > 0 and value is not None and value >= 0:
            found.append(value)
    return max(found, default=None)


def near(value: float | None) -> Any:
    """Equal up to the order of floating-point sums."""
    return None if value is None else pytest.approx(value, rel=1e-6, abs=1e-9)


def check(found: dict[str, list[Row]], view: View) -> None:
    """Devices and ranks of a run of one window."""
    stretch = (view.steps[0].span[0], view.steps[-1].span[1])
    length = stretch[1] - stretch[0]
    rows = {row["device"]: row for row in found["devices"]}
    assert set(rows) >= set(view.devices)
    for device in view.devices:
        row, work = rows[device], view.on(device)
        kernels = [w.event for w in work if w.event.kind == "kernel"]
        busy = total(intersect(union(w.interval for w in work), [stretch]))
        running = total(intersect(union((k.start, k.end) for k in kernels), [stretch]))
        assert row["busy_share"] == (near(busy / length) if length else None)
        assert row["kernel_busy_share"] == (near(running / length) if length else None)
        area = filled(kernels, stretch)
        assert row["sm_efficiency"] == (near(area / length) if area else None)
        assert row["occupancy"] == near(occupancy_of(kernels, stretch))
        assert row["peak_allocated_bytes"] == peak(view, device, "Total Allocated")
        assert row["peak_reserved_bytes"] == peak(view, device, "Total Reserved")
        assert row["kernel_busy_share"] is None or row["kernel_busy_share"] <= row["busy_share"]
    [rank] = found["ranks"]
    assert rank["steps"] == len(view.steps)
    shares = [value for name, value in rank.items() if name.endswith("_share")]
    whole = sum(step.span[1] - step.span[0] for step in view.steps)
    assert sum(shares) == pytest.approx(1) if whole else shares == [None] * 8
    [run] = found["run"]
    assert (run["ranks"], run["recordings"], run["slowest_rank"]) == (1, 1, None)


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_every_trace(path: Path, program: Program) -> None:
    check(tables(program, "overview", path), view_of_file(path))


@pytest.mark.parametrize("seed", range(20))
def test_traces_of_everything_at_once(seed: int, program: Program, tmp_path: Path) -> None:
    data = random_trace(seed)
    path = tmp_path / "trace.json"
    path.write_bytes(data)
    check(tables(program, "overview", path), view_of(read_trace(data)))
