"""A driver that takes long to answer, or never does: samples go on, and the program ends."""

import time
from pathlib import Path

import pytest
from answers import tables
from known_gpu import CURVE, Make, integral, machine_of, run_with_curve, series
from oracle.system import Series
from program import Program

HZ = 50
STEPS = f"""
    import time, stepscope
    with stepscope.profile("run", trace=False, system={HZ}) as prof:
        for _ in range(16):
            time.sleep(0.2)
            prof.step()
"""


def median_wait(one: Series) -> float:
    """Between two values, in milliseconds; what a busy machine does now and then is not in it."""
    waits = sorted(b - a for a, b in zip(one.times, one.times[1:], strict=False))
    return waits[len(waits) // 2] / 1e6


@pytest.mark.timing_sensitive(reason="a counter that takes 80 ms must answer within 100")
def test_a_slow_counter_holds_up_nothing(
    script: Make, program: Program, fake_nvml: Path, tmp_path: Path
) -> None:
    """It takes 80 ms, four turns; its value is that of the middle of the call."""
    run, wall = run_with_curve(
        script, tmp_path, fake_nvml, STEPS, FAKE_NVML_SLOW="80", CUDA_VISIBLE_DEVICES="0"
    )
    machine = machine_of(run)
    energy, power = (series(machine, name, device="0") for name in ("gpu.energy", "gpu.power"))
    assert len(energy.times) == 2
    # While it is read for the first time, all else is, too.
    for one in (power, series(machine, "memory.used"), series(machine, "process.cpu")):
        assert sum(abs(t - energy.times[0]) < 4e7 for t in one.times) >= 3, one.about
    shift = machine.start_ns - wall
    truth = integral(*((t + shift) / 1e6 for t in energy.times))
    assert (energy.values[1] - energy.values[0]) / 1000 == pytest.approx(truth, rel=0.005)
    (device,) = tables(program, "energy", run)["devices"]
    assert device["method"] == "counter"


def test_an_answer_that_took_too_long_does_not_count(
    script: Make, program: Program, fake_nvml: Path, tmp_path: Path
) -> None:
    run, _ = run_with_curve(
        script, tmp_path, fake_nvml, STEPS, FAKE_NVML_SLOW="150", CUDA_VISIBLE_DEVICES="0"
    )
    machine = machine_of(run)
    assert machine.find("gpu.energy") is None
    assert any("counter of GPU 0 took long to answer" in text for _, text in machine.notices)
    (device,) = tables(program, "energy", run)["devices"]
    assert device["method"] == "power, integrated"


def test_a_counter_that_never_answers(
    script: Make, program: Program, fake_nvml: Path, tmp_path: Path
) -> None:
    began = time.monotonic()
    run, _ = run_with_curve(
        script, tmp_path, fake_nvml, STEPS, FAKE_NVML_ENERGY_HANGS="1", CUDA_VISIBLE_DEVICES="0"
    )
    assert time.monotonic() - began < 30
    machine = machine_of(run)
    assert machine.finished
    assert machine.find("gpu.energy") is None
    for name in ("gpu.power", "memory.used"):
        one = series(machine, name)
        assert one.times[-1] - one.times[0] > 3e9
        assert median_wait(one) == pytest.approx(1000 / HZ, rel=0.5)
    missing = [row["missing"] for row in tables(program, "system", run)["missing"]]
    assert sum("energy counter of GPU 0 does not answer" in text for text in missing) == 1
    (device,) = tables(program, "energy", run)["devices"]
    assert device["method"] == "power, integrated"


def test_a_gpu_that_hangs_holds_up_neither_the_others_nor_the_end(
    script: Make, program: Program, fake_nvml: Path, tmp_path: Path
) -> None:
    run, wall = run_with_curve(
        script, tmp_path, fake_nvml, STEPS, FAKE_NVML_HANGS_AT="1000", CUDA_VISIBLE_DEVICES="0,1"
    )
    machine = machine_of(run)
    assert machine.finished
    hung, other = (series(machine, "gpu.power", device=gpu) for gpu in "01")
    shift = (machine.start_ns - wall) / 1e6
    assert hung.times[-1] / 1e6 + shift < 1000
    assert other.times[-1] / 1e6 + shift > 3000
    assert median_wait(series(machine, "process.cpu")) == pytest.approx(1000 / HZ, rel=0.5)
    # The thread that asked both waits for the first: another one asks the second from then on.
    waits = [b - a for a, b in zip(other.times, other.times[1:], strict=False)]
    assert sum(wait > 5e8 for wait in waits) == 1
    missing = [row["missing"] for row in tables(program, "system", run)["missing"]]
    assert sum(text.startswith("GPU 0 does not answer") for text in missing) == 1
    said = program.run("report", str(run)).stdout.decode()
    assert "GPU 0 does not answer" in " ".join(said.split())


def test_a_driver_that_is_slow_to_open_holds_up_nothing(
    script: Make, fake_nvml: Path, tmp_path: Path
) -> None:
    run, _ = run_with_curve(
        script, tmp_path, fake_nvml, STEPS, FAKE_NVML_SLOW_INIT="800", CUDA_VISIBLE_DEVICES="0"
    )
    machine = machine_of(run)
    memory, power = series(machine, "memory.used"), series(machine, "gpu.power")
    assert power.times[0] - memory.times[0] > 7e8
    assert len([t for t in memory.times if t < power.times[0]]) > 10
    assert CURVE[0][1] <= power.values[0]
