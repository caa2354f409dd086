"""Programs that the kernel kills, as where memory is full: what was sampled is there."""

import signal
import time
from pathlib import Path

import pytest
from answers import tables
from known_gpu import Make, machine_of, series, two_ranks
from program import Program
from recorded_program import wait_for

KILLED = """
    import os, signal, sys, time, stepscope
    with stepscope.profile("run", trace=False, system=float(sys.argv[1])) as prof:
        end = time.monotonic() + float(sys.argv[2])
        while time.monotonic() < end:
            time.sleep(0.05)
            prof.step()
        print(time.time_ns(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("hz", "seconds", "looks"), [("1", "4.75", 5), ("10", "3", 23)])
def test_what_is_older_than_half_a_second_is_on_disk(
    script: Make,
    fake_nvml: Path,
    program: Program,
    tmp_path: Path,
    hz: str,
    seconds: str,
    looks: int,
) -> None:
    (tmp_path / "curve").write_text("0 100000\n60000 100000\n")
    gpu = {"LD_LIBRARY_PATH": str(fake_nvml), "FAKE_NVML_CURVE": str(tmp_path / "curve")}
    done = script(KILLED).run(hz, seconds, **gpu, CUDA_VISIBLE_DEVICES="0")
    assert done.returncode == -signal.SIGKILL
    killed = int(done.stdout)
    run = tmp_path / "run"
    machine = machine_of(run)
    assert not machine.finished
    for name in ("memory.used", "process.cpu", "gpu.power"):
        one = series(machine, name)
        assert len(one.values) >= looks, name
        lost = killed - machine.start_ns - one.times[-1]
        assert lost < 1.1e9, name
    missing = [row["missing"] for row in tables(program, "system", run)["missing"]]
    assert any("did not finish: it was killed" in text for text in missing)
    (row,) = tables(program, "system", run)["machines"]
    assert row["sampler_share"] is None  # it had no time to tell
    (device,) = tables(program, "energy", run)["devices"]
    assert device["joules"] == pytest.approx(100 * machine_length(machine_of(run)), rel=0.01)
    said = " ".join(program.run("report", str(run)).stdout.decode().split())
    assert "Ended not known: killed, or still running" in said


def machine_length(machine: object) -> float:
    """Seconds between the first and the last value of power."""
    times = series(machine, "gpu.power").times  # type: ignore[arg-type]
    return (times[-1] - times[0]) / 1e9


RANKS = """
    import os, time, stepscope
    with stepscope.profile("run", trace=False, system=20) as prof:
        print("started", flush=True)
        while not os.path.exists("enough"):
            time.sleep(0.05)
            prof.step()
"""


@pytest.mark.parametrize("victim", [0, 1])
def test_a_rank_that_is_killed(script: Make, program: Program, tmp_path: Path, victim: int) -> None:
    """The other one is measured on, by itself where the victim sampled, and it is said."""
    ranks = script(RANKS)
    shared = {"MASTER_ADDR": "here", "MASTER_PORT": "1", "WORLD_SIZE": "2"}
    started = []
    node = tmp_path / "run" / "attempt-0"
    for rank in (0, 1):
        one = ranks.start(RANK=str(rank), LOCAL_RANK=str(rank), **shared)
        started.append(one)
        assert one.stdout
        assert one.stdout.readline()
        wait_for(lambda: any(node.glob("node-*/system.scope")))
    wait_for(lambda: any(two_ranks(path) for path in node.glob("node-*/system.scope")))
    time.sleep(1)
    started[victim].send_signal(signal.SIGKILL)
    started[victim].communicate()
    time.sleep(4)
    (tmp_path / "enough").touch()
    _, err = started[1 - victim].communicate(timeout=60)
    assert started[1 - victim].returncode == 0, err
    run = tmp_path / "run"
    said = tables(program, "system", run)
    missing = [row["missing"] for row in said["missing"]]
    (machine,) = said["machines"]
    own = {row["rank"]: row for row in said["processes"]}
    assert set(own) == {0, 1}
    if victim == 0:
        assert any("did not finish: it was killed" in text for text in missing)
        assert "From here on another process samples." in missing
        assert machine["gap_ns"] < 3e9
    else:
        lost = "The process of rank 1 ended without taking leave: it was killed, or crashed."
        assert lost in missing
        assert machine["gap_ns"] == 0
    assert machine["sampled_ns"] > 4e9
    report = " ".join(program.run("report", str(run)).stdout.decode().split())
    assert f"rank {victim} not known: killed, or still running" in report
    steps = {row["rank"]: row["steps"] for row in tables(program, "time", run)["times"]}
    assert steps[victim] < steps[1 - victim]
    assert f"Steps {steps[victim]} to {steps[1 - victim]} on 2 ranks" in report
