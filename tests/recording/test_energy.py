"""Joules of a run whose GPU draws power along a known curve."""

from pathlib import Path

import pytest
from answers import answer, tables
from known_gpu import Make, integral, machine_of, run_sampled_in_time, run_with_curve, series
from oracle.scope import read_recording
from program import Program
from recorded_program import rank_folder


@pytest.mark.timing_sensitive(reason="a driver's curve is read at known times")
@pytest.mark.parametrize("method", ["counter", "power, integrated"])
def test_energy_is_the_integral_of_power(
    script: Make, program: Program, fake_nvml: Path, tmp_path: Path, method: str
) -> None:
    by_power = method.startswith("power")
    variables = {"CUDA_VISIBLE_DEVICES": "1"} | ({"FAKE_NVML_NO_ENERGY": "1"} if by_power else {})
    run, wall = run_sampled_in_time(script, tmp_path, fake_nvml, **variables)
    machine = machine_of(run)
    name = "gpu.power" if by_power else "gpu.energy"
    assert machine.find(name, device="0") is None  # not of this job
    power = series(machine, "gpu.power", device="1")
    assert power["reading"] == "instant"
    times = series(machine, name, device="1").times
    if not by_power:  # read at the beginning and at the end
        assert len(times) == 2
        assert times[0] == pytest.approx(power.times[0], abs=5e7)
        assert times[-1] == pytest.approx(power.times[-1], abs=5e7)
    shift = machine.start_ns - wall
    truth = 2 * integral((times[0] + shift) / 1e6, (times[-1] + shift) / 1e6)
    found = tables(program, "energy", run)
    (device,) = found["devices"]
    assert (device["device"], device["method"]) == ("1", method)
    assert device["joules"] == pytest.approx(truth, rel=0.01)
    assert abs(device["joules"] - truth) <= device["error_joules"] * 1.05 + 0.01
    assert found["phases"][0]["range"] == "work"
    (whole,) = found["run"]
    assert whole["joules_per_step"] == pytest.approx(
        sum(step["joules"] for step in found["steps"]) / 16
    )
    # The watched loader gave three samples a step.
    assert whole["joules_per_sample"] == pytest.approx(whole["joules_per_step"] / 3)
    (given,) = tables(program, "energy", run, "--samples-per-step", "12")["run"]
    assert given["joules_per_sample"] == pytest.approx(whole["joules_per_step"] / 12)
    for step in found["steps"]:
        begin = (step["start_ns"] + start_of(run) - wall) / 1e6
        true = 2 * integral(begin, begin + step["step_ns"] / 1e6)
        assert step["joules"] == pytest.approx(true, rel=0.05, abs=2)
        assert not step["estimate"]


def start_of(run: Path) -> int:
    """Of the recording, on the wall clock: what the times of tables count from."""
    return read_recording(rank_folder(run) / "events.scope").start_ns


def test_a_counter_that_is_slow_to_read_is_read_seldom(
    script: Make, program: Program, fake_nvml: Path, tmp_path: Path
) -> None:
    """Power goes on meanwhile, so that steps are measured by it and the run by the counter."""
    driver = {"FAKE_NVML_SLOW": "3", "FAKE_NVML_UPDATE": "10"}
    run, wall = run_sampled_in_time(script, tmp_path, fake_nvml, CUDA_VISIBLE_DEVICES="0", **driver)
    machine = machine_of(run)
    energy, power = (series(machine, name, device="0") for name in ("gpu.energy", "gpu.power"))
    assert len(energy.times) == 2
    # 20 a second for 3.2 s; resting as the counter's cost asks for, there would be six.
    assert len(power.times) > 40
    shift = machine.start_ns - wall
    truth = integral(*((time + shift) / 1e6 for time in (energy.times[0], energy.times[-1])))
    found = tables(program, "energy", run)
    (device,) = found["devices"]
    assert device["joules"] == pytest.approx(truth, rel=0.01)
    for step in found["steps"]:
        begin = (step["start_ns"] + start_of(run) - wall) / 1e6
        true = integral(begin, begin + step["step_ns"] / 1e6)
        assert step["joules"] == pytest.approx(true, rel=0.05, abs=2)


def test_a_step_shorter_than_the_mean_of_power_is_an_estimate(
    script: Make, program: Program, fake_nvml: Path, tmp_path: Path
) -> None:
    run, _ = run_with_curve(
        script, tmp_path, fake_nvml, FAKE_NVML_NO_FIELDS="1", CUDA_VISIBLE_DEVICES="0"
    )
    assert series(machine_of(run), "gpu.power", device="0")["reading"] == "usage"
    said = answer(program, "energy", run)
    assert all(step["estimate"] for step in said["tables"]["steps"])
    assert any("are estimates" in remark for remark in said["remarks"])
    (device,) = said["tables"]["devices"]
    assert device["update_ns"] == 1_000_000_000


def test_what_disappeared_or_did_not_answer_is_in_the_answer(
    script: Make, program: Program, fake_nvml: Path, tmp_path: Path
) -> None:
    run, _ = run_with_curve(script, tmp_path, fake_nvml, FAKE_NVML_LOST_AT="1500")
    missing = [row["missing"] for row in tables(program, "system", run)["missing"]]
    assert sum("GPU 0 disappeared" in text for text in missing) == 1


def test_a_step_without_known_energy_is_in_no_mean(
    script: Make, program: Program, fake_nvml: Path, tmp_path: Path
) -> None:
    run, _ = run_with_curve(
        script, tmp_path, fake_nvml, FAKE_NVML_LOST_AT="1500", CUDA_VISIBLE_DEVICES="0"
    )
    said = answer(program, "energy", run)
    steps = said["tables"]["steps"]
    known = [step["joules"] for step in steps if step["joules"] is not None]
    assert 0 < len(known) < len(steps) == 16
    (whole,) = said["tables"]["run"]
    assert whole["measured_steps"] == len(known)
    assert whole["joules_per_step"] == pytest.approx(sum(known) / len(known))
    assert whole["joules_per_sample"] == pytest.approx(whole["joules_per_step"] / 3)
    unknown = len(steps) - len(known)
    assert any(f"energy of {unknown} of 16 steps is not known" in one for one in said["remarks"])
    (work,) = [row for row in said["tables"]["phases"] if row["range"] == "work"]
    assert 0 < work["measured"] < work["calls"]
    assert work["joules_per_call"] == pytest.approx(work["joules"] / work["measured"])
    report = " ".join(program.run("report", str(run)).stdout.decode().split())
    assert f"energy of {unknown} of 16 steps is not known; what is given per step" in report


def test_a_driver_that_does_not_answer_is_in_the_report(
    script: Make, program: Program, fake_nvml: Path, tmp_path: Path
) -> None:
    run, _ = run_with_curve(script, tmp_path, fake_nvml, FAKE_NVML_ERROR="9")
    outcome = program.run("report", str(run))
    assert b"does not reach the driver" in outcome.stdout


def test_a_loader_that_is_late_stands_beside_what_the_gpu_did(
    script: Make, program: Program, fake_nvml: Path, tmp_path: Path
) -> None:
    late = """
        import time, stepscope
        def slow():
            for _ in range(10):
                time.sleep(0.1)
                yield [1, 2]
        with stepscope.profile("run", trace=False, system=20) as prof:
            for _ in prof.watch(slow(), name="slow"):
                prof.step()
    """
    run, _ = run_with_curve(script, tmp_path, fake_nvml, late, CUDA_VISIBLE_DEVICES="0")
    remarks = answer(program, "loader", run)["remarks"]
    (said,) = [one for one in remarks if one.startswith("slow kept the loop waiting ")]
    # The driver of the tests says that its GPUs are busy 40 % of the time.
    assert said.endswith(" The GPU was idle 60 % of the time meanwhile, as its driver counts.")
