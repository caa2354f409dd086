"""system and energy by going through every sample, on machines that do not exist."""

import random
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
from answers import Row, answer, tables
from oracle.random_scope import WALL, random_scope
from oracle.scope import Recording, read_recording
from oracle.system import (
    Machine,
    Series,
    Written,
    joules_until,
    machine_bytes,
    machine_load,
    percentile,
    rates,
    read_machine,
)
from program import Program

import stepscope
from stepscope.integrations.series import system_metrics

WINDOW = 1_000_000  # of the tests: these machines live for some milliseconds
SECOND = 1_000_000_000


def about(name: str, unit: str, kind: str = "gauge", **more: str) -> dict[str, str]:
    return {"name": name, "unit": unit, "kind": kind, **more}


def made_series(chance: random.Random, count: int) -> list[Written]:
    """Some of everything; here and there a value is missing, and a total begins anew."""

    def gauge(low: int, high: int) -> list[int | None]:
        return [
            chance.randrange(low, high) if chance.random() < 0.9 else None for _ in range(count)
        ]

    def counter(most: int, falls: float = 0) -> list[int | None]:
        value, values = chance.randrange(1 << 40), list[int | None]()
        for _ in range(count):
            value = chance.randrange(1000) if chance.random() < falls else value
            value += chance.randrange(most)
            values.append(value if chance.random() < 0.9 else None)
        return values

    def seldom(values: list[int | None]) -> list[int | None]:
        return [value if i % 13 == 3 else None for i, value in enumerate(values)]

    gpu = {"device": "0", "uuid": "GPU-a", "model": "Fake"}
    return [
        # Two of four processors go, and one comes back; it is written when it changes.
        Written(about("cpu.count", "count"),
                [{0: 4, count // 2: 2, 3 * count // 4: 3}.get(i) for i in range(count)]),
        Written(about("cpu.busy", "ns", "counter"), counter(280_000)),
        Written(about("core.busy", "ns", "counter", core="0"), counter(70_000)),
        Written(about("memory.total", "bytes"), [1 << 36] + [None] * (count - 1)),
        Written(about("memory.used", "bytes"), gauge(1 << 30, 1 << 35)),
        Written(about("disk.read", "bytes", "counter", device="sda"), counter(10_000, 0.02)),
        Written(about("disk.written", "bytes", "counter", device="sda"), counter(10_000)),
        Written(
            about("process.cpu", "ns", "counter", rank="0", process="7", of="process"),
            counter(150_000),
        ),
        Written(
            about("process.waited", "ns", "counter", rank="0", process="7", of="process"),
            counter(30_000),
        ),
        Written(about("gpu.given", "count", rank="0", position="0", of="1", local_rank="0", **gpu),
                [1] + [None] * (count - 1)),  # fmt: skip
        Written(about("gpu.busy", "%", **gpu), gauge(0, 101)),
        Written(about("gpu.memory", "bytes", **gpu), gauge(1 << 30, 1 << 36)),
        Written(about("gpu.power", "mW", **gpu), gauge(60_000, 700_000)),
        Written(about("gpu.energy", "mJ", "counter", **gpu), seldom(counter(70))),
        Written(about("gpu.memory_busy", "%", **gpu), gauge(0, 101)),
        Written(about("gpu.memory_clock", "MHz", **gpu), gauge(800, 2620)),
        Written(about("gpu.memory_temperature", "C", **gpu), gauge(30, 95)),
        Written(about("gpu.process_memory", "bytes", rank="0", **gpu), gauge(1 << 28, 1 << 33)),
        Written(about("gpu.process_memory", "bytes", rank="1", **gpu), gauge(1 << 28, 1 << 33)),
        Written(about("cgroup.cpu", "ns", "counter"), counter(200_000)),
        Written(about("gpu.power", "mW", device="1", uuid="GPU-b", model="Old"),
                gauge(60_000, 700_000)),
        Written(about("cpu.energy", "uJ", "counter", device="package-0"), counter(20_000)),
    ]  # fmt: skip


@pytest.fixture(params=range(6))
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A recording and the samples of its machine, over the same time."""
    rank = tmp_path / "attempt-0" / "rank00000"
    node = tmp_path / "attempt-0" / "node-nowhere"
    rank.mkdir(parents=True)
    node.mkdir()
    (rank / "events.scope").write_bytes(random_scope(request.param, 7, 0))
    recording = read_recording(rank / "events.scope")
    chance = random.Random(request.param)
    # It begins before the recording and ends after it.
    count = 120
    width = (recording.last + 4_000_000) // count
    times = [i * width + chance.randrange(width // 2) for i in range(count)]
    (node / "system.scope").write_bytes(
        machine_bytes(
            {"host": "nowhere", "interval_ns": str(width)},
            recording.start_ns - 2_000_000,
            times,
            made_series(chance, count),
            [("rapl", "Something is not known.")],
        )
    )
    return tmp_path


def parts(run: Path) -> tuple[Recording, Machine]:
    (node,) = run.rglob("system.scope")
    (rank,) = run.rglob("events.scope")
    return read_recording(rank), read_machine(node)


def spread(values: list[float], prefix: str, suffix: str, mean: float | None = None) -> Row:
    """Of shares: what ticks of a kernel make of a short stretch is never more than all of it."""
    most = 1 if suffix == "_share" else float("inf")
    return {
        f"{prefix}mean{suffix}": pytest.approx(min(most, fmean(values) if mean is None else mean)),
        f"{prefix}p95{suffix}": pytest.approx(min(most, percentile(values, 0.95))),
    }


def found(machine: Machine, name: str, **about: str) -> Series:
    series = machine.find(name, **about)
    assert series
    return series


def same(row: Row, expected: Row) -> None:
    assert {key: row[key] for key in expected} == expected


def test_the_whole_run(program: Program, run: Path) -> None:
    _, machine = parts(run)
    said = tables(program, "system", "--window", f"{WINDOW}ns", run)
    (row,) = said["machines"]
    load = rates(machine_load(machine), WINDOW)
    assert load
    same(row, {"processors": 4, "memory_total_bytes": 1 << 36, "samples": 120, "node": "nowhere"})
    same(row, spread(load[0], "cpu_", "_share", load[1]))
    used = found(machine, "memory.used").values
    assert row["memory_mean_bytes"] == pytest.approx(fmean(used))
    assert row["memory_max_bytes"] == max(used)
    read = found(machine, "disk.read")
    grown = sum(max(b - a, 0) for a, b in zip(read.values, read.values[1:], strict=False))
    assert row["disk_read_bytes"] == grown
    group = rates(found(machine, "cgroup.cpu"), WINDOW)
    assert group
    assert row["group_mean_cores"] == pytest.approx(group[1])
    assert row["group_max_cores"] == pytest.approx(max(group[0]))
    (core,) = said["cores"]
    busy = rates(found(machine, "core.busy"), WINDOW)
    assert busy
    same(core, {"core": 0, **spread(busy[0], "busy_", "_share", busy[1])})
    (disk,) = said["traffic"]
    rate = rates(read, WINDOW)
    assert rate
    assert disk["in_max_bytes_per_second"] == pytest.approx(max(rate[0]) * 1e9)
    (process,) = said["processes"]
    cores = rates(found(machine, "process.cpu"), WINDOW)
    assert cores
    same(process, {"rank": 0, "max_cores": pytest.approx(max(cores[0]))})
    waited = rates(found(machine, "process.waited"), WINDOW)
    assert waited
    assert process["waited_share"] == pytest.approx(waited[1])
    assert [row["missing"] for row in said["missing"]] == ["Something is not known."]


def test_gpus(program: Program, run: Path) -> None:
    _, machine = parts(run)
    said = {row["gpu"]: row for row in tables(program, "system", run)["gpus"]}
    assert set(said) == {"0", "1"}
    busy = [value / 100 for value in found(machine, "gpu.busy").values]
    same(said["0"], {"ranks": [0], "model": "Fake", **spread(busy, "busy_", "_share")})
    watts = [value / 1000 for value in found(machine, "gpu.power", device="0").values]
    same(said["0"], {**spread(watts, "", "_watts"), "max_watts": pytest.approx(max(watts))})
    assert said["1"]["busy_mean_share"] is None  # not known, and not 0
    assert said["1"]["memory_max_bytes"] is None


def test_memory_of_gpus(program: Program, run: Path) -> None:
    """What the driver tells of it: in the table, and over time beside the rest."""
    _, machine = parts(run)
    said = tables(program, "system", run)
    gpu = next(row for row in said["gpus"] if row["gpu"] == "0")
    busy = [value / 100 for value in found(machine, "gpu.memory_busy").values]
    assert gpu["memory_busy_mean_share"] == pytest.approx(fmean(busy))
    clock = found(machine, "gpu.memory_clock").values
    assert gpu["memory_mean_mhz"] == pytest.approx(fmean(clock))
    assert gpu["memory_max_celsius"] == max(found(machine, "gpu.memory_temperature").values)
    job: dict[int, int] = {}  # of both ranks, moment by moment
    for rank in ("0", "1"):
        one = found(machine, "gpu.process_memory", rank=rank)
        for time, value in zip(one.times, one.values, strict=True):
            job[time] = job.get(time, 0) + value
    assert gpu["job_memory_max_bytes"] == max(job.values())
    curve = [row["memory_bytes"] for row in said["memory"] if row["of"] == "GPU 0 job"]
    assert curve == [job[time] for time in sorted(job)]
    load = [row["busy_share"] for row in said["load"] if row["of"] == "GPU 0 memory"]
    assert load == pytest.approx(busy)
    other = next(row for row in said["gpus"] if row["gpu"] == "1")
    for name in ("memory_busy_mean_share", "memory_mean_mhz", "memory_max_celsius"):
        assert other[name] is None
    assert other["job_memory_max_bytes"] is None


def test_trackers_get_a_curve_of_each_device(run: Path) -> None:
    """Of its load and memory as a whole."""
    opened: Any = SimpleNamespace(recordings=stepscope.open(run), start_ns=0)
    names = {point.name for point in system_metrics(opened)}
    assert {name for name in names if "utilization" in name} == {
        "system/cpu_utilization_percentage",
        "system/gpu_0_utilization_percentage",
    }
    assert not [name for name in names if " " in name]


def test_steps(program: Program, run: Path) -> None:
    recording, machine = parts(run)
    shift = recording.start_ns - machine.start_ns
    said = tables(program, "system", run)["steps"]
    assert [row["step"] for row in said] == [number for number, _, _ in recording.steps]
    busy = found(machine, "gpu.busy")
    for row, (_, start, end) in zip(said, recording.steps, strict=True):
        inside = [
            value
            for time, value in zip(busy.times, busy.values, strict=True)
            if start + shift <= time < end + shift
        ]
        expected = pytest.approx(fmean(inside) / 100) if inside else None
        assert row["gpu_busy_share"] == expected
        assert row["start_ns"] == start


def test_energy(program: Program, run: Path) -> None:
    recording, machine = parts(run)
    shift = recording.start_ns - machine.start_ns
    said = tables(
        program, "energy", "--grams-per-kwh", "380.5", "--samples-per-step", "8", "--top", "0", run
    )
    sources = {
        ("GPU", "0"): found(machine, "gpu.energy"),
        ("GPU", "1"): found(machine, "gpu.power", device="1"),
        ("CPU", "package-0"): found(machine, "cpu.energy"),
    }
    beside = {("GPU", "0"): found(machine, "gpu.power")}
    total = {
        key: joules_until(
            one, max(one.times[-1], *(beside[key].times if key in beside else [0])), beside.get(key)
        )
        for key, one in sources.items()
    }
    assert {(row["kind"], row["device"]) for row in said["devices"]} == set(sources)
    for row in said["devices"]:
        key = (row["kind"], row["device"])
        assert row["joules"] == pytest.approx(total[key], abs=2e-6)
        assert row["method"] == ("power, integrated" if key == ("GPU", "1") else "counter")
    everything = {row["of"]: row for row in said["run"]}
    assert everything["all"]["joules"] == pytest.approx(sum(total.values()), abs=5e-6)
    assert everything["all"]["co2_grams"] == pytest.approx(
        sum(total.values()) / 3.6e6 * 380.5, rel=1e-4
    )

    def used(kind: str, device: str, start: int, end: int) -> float:
        one, power = sources[kind, device], beside.get((kind, device))
        return joules_until(one, end + shift, power) - joules_until(one, start + shift, power)

    for row, (number, start, end) in zip(said["steps"], recording.steps, strict=True):
        assert row["step"] == number
        assert row["gpu_joules"] == pytest.approx(used("GPU", "0", start, end), abs=2e-6)
        assert row["host_joules"] == pytest.approx(used("CPU", "package-0", start, end), abs=2e-6)
    per_step = sum(row["joules"] for row in said["steps"]) / len(recording.steps)
    assert everything["all"]["joules_per_step"] == pytest.approx(per_step)
    assert everything["all"]["joules_per_sample"] == pytest.approx(per_step / 8)
    check_phases(said["phases"], recording, used)


def check_phases(rows: list[Row], recording: Recording, used: Any) -> None:
    """Every range of the main thread, by its path."""
    expected: dict[str, list[float]] = {}
    for one in recording.ranges:
        if one.place != ("thread", 7):
            continue
        path, above = one.name, one.parent
        while above:
            path, above = f"{above.name} > {path}", above.parent
        end = recording.last if one.end is None else one.end
        expected.setdefault(path, []).append(used("GPU", "0", one.start, end))
    assert {row["path"]: row["calls"] for row in rows} == {k: len(v) for k, v in expected.items()}
    for row in rows:
        assert row["gpu_joules"] == pytest.approx(sum(expected[row["path"]]), abs=1e-4)


def test_nodes_alone_can_be_asked(program: Program, run: Path) -> None:
    """Without the ranks there are no steps, and a sentence says so."""
    (node,) = run.rglob("system.scope")
    said = answer(program, "system", node)
    assert said["tables"]["steps"] == []
    assert any("No steps" in remark for remark in said["remarks"])
    assert len(said["tables"]["machines"]) == 1


def test_a_machine_that_was_sampled_by_two_processes(program: Program, tmp_path: Path) -> None:
    """The clock of the machine joins them, and the time between is named."""
    folder = tmp_path / "attempt-0" / "node-a"
    folder.mkdir(parents=True)
    fields = {"host": "a", "interval_ns": str(SECOND // 10), "boot": "x"}
    gpu = about("gpu.energy", "mJ", "counter", device="0", model="Fake")
    times = [i * SECOND // 10 for i in range(21)]
    first: list[int | None] = [1000 * i for i in range(21)]
    (folder / "system.scope").write_bytes(
        machine_bytes(fields, WALL, times, [Written(gpu, first)], finished=False)
    )
    # Ten seconds later by the machine's clock; meanwhile the other clock was set by an hour.
    second: list[int | None] = [100_000 + 1000 * i for i in range(21)]
    later = machine_bytes(fields, WALL + 3610 * SECOND, times, [Written(gpu, second)])
    (folder / "system-2.scope").write_bytes(moved(later, 10 * SECOND))
    said = tables(program, "system", tmp_path)
    (row,) = said["machines"]
    assert row["sampled_ns"] == 12 * SECOND
    assert row["gap_ns"] == 8 * SECOND
    assert any("Nothing was sampled for 8.0 s" in one["missing"] for one in said["missing"])
    assert any("it was killed, or is still running" in one["missing"] for one in said["missing"])
    assert said["missing"][-1]["missing"] == "From here on another process samples."
    # 2 ms of the two seconds whose sampler wrote what it took.
    assert row["sampler_share"] == pytest.approx(0.001)
    (device,) = tables(program, "energy", tmp_path)["devices"]
    assert device["joules"] == pytest.approx(120.0)  # the counter went on meanwhile


def test_processes_stand_by_rank(program: Program, tmp_path: Path) -> None:
    """Whoever came first to the one that samples."""
    folder = tmp_path / "attempt-0" / "node-a"
    folder.mkdir(parents=True)
    fields = {"host": "a", "interval_ns": str(SECOND), "boot": "x"}
    used: list[int | None] = [0, SECOND, 2 * SECOND]
    written = [
        Written(
            about("process.cpu", "ns", "counter", rank=rank, process=f"1{rank}", of="process"), used
        )
        for rank in ("0", "10", "2", "1")
    ]
    times = [0, SECOND, 2 * SECOND]
    (folder / "system.scope").write_bytes(machine_bytes(fields, WALL, times, written))
    ranks = [row["rank"] for row in tables(program, "system", tmp_path)["processes"]]
    assert ranks == [0, 1, 2, 10]


def test_processors_that_go_do_not_make_the_others_look_idle(
    program: Program, tmp_path: Path
) -> None:
    """Every processor that is there is busy all the time, while two of four go."""
    folder = tmp_path / "attempt-0" / "node-a"
    folder.mkdir(parents=True)
    counts: list[int | None] = [4, None, None, 2, None, None, None, 4, None, None]
    there = [4, 4, 4, 2, 2, 2, 2, 4, 4, 4]
    busy: list[int | None] = [SECOND]
    for before, now in zip(there, there[1:], strict=False):
        assert busy[-1] is not None
        busy.append(busy[-1] + min(before, now) * SECOND)
    series = [
        Written(about("cpu.count", "count"), counts),
        Written(about("cpu.busy", "ns", "counter"), busy),
    ]
    times = [i * SECOND for i in range(len(there))]
    (folder / "system.scope").write_bytes(
        machine_bytes({"host": "a", "interval_ns": str(SECOND)}, WALL, times, series)
    )
    said = tables(program, "system", tmp_path)
    (row,) = said["machines"]
    same(row, {"processors": 4, "cpu_mean_share": 1, "cpu_p95_share": 1, "cpu_max_share": 1})
    assert {point["busy_share"] for point in said["load"]} == {1}


def moved(data: bytes, by: int) -> bytes:
    """The same file of a process whose monotonic clock is later."""
    import struct

    from oracle.scope import ANCHOR, MAGIC, block, blocks

    out = MAGIC
    for kind, payload in blocks(data):
        if kind == ANCHOR:
            ticks, mono, wall = struct.unpack("<Qqq", payload)
            payload = struct.pack("<Qqq", ticks, mono + by, wall)
        out += block(kind, payload)
    return out
