"""A GPU that draws power along a known curve, and what was sampled of it."""

import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

from oracle.system import Machine, Series, read_machine
from recorded_program import Script

Make = Callable[[str], Script]
SOURCE = Path(__file__).parent / "recording" / "fake_nvml" / "nvml.c"


def machine_of(run: Path, file: str = "system.scope") -> Machine:
    (found,) = run.glob(f"attempt-0/node-*/{file}")
    return read_machine(found)


def two_ranks(path: Path) -> bool:
    """Whether both ranks of a node are in what was sampled of it so far."""
    try:
        machine = read_machine(path)
    except (AssertionError, IndexError, ValueError):
        return False
    return {one["rank"] for one in machine.series if one["name"] == "process.cpu"} == {"0", "1"}


def series(machine: Machine, name: str, **about: str) -> Series:
    found = machine.find(name, **about)
    assert found, (name, about, machine.notices)
    return found


CURVE = [(0, 100_000), (700, 100_000), (1000, 400_000), (1800, 350_000), (2500, 80_000),
         (3200, 500_000), (60_000, 500_000)]  # fmt: skip
STEPS = """
    import time, stepscope
    with stepscope.profile("run", trace=False, system=20) as prof:  # HZ
        for _ in prof.watch([["a", "b", "c"]] * 16):
            with stepscope.range("work"):
                time.sleep(0.2)
            prof.step()
"""


def integral(start_ms: float, end_ms: float) -> float:
    """Joules that GPU 0 draws between two moments of the curve, by small pieces."""

    def watts(ms: float) -> float:
        for (t0, p0), (t1, p1) in zip(CURVE, CURVE[1:], strict=False):
            if ms <= t1:
                return (p0 + (p1 - p0) * (max(ms, t0) - t0) / (t1 - t0)) / 1000
        return CURVE[-1][1] / 1000

    pieces = 20_000
    width = (end_ms - start_ms) / pieces
    return sum(watts(start_ms + (i + 0.5) * width) * width / 1000 for i in range(pieces))


# A busy machine takes seconds to start a Python, in which the curve would be over.
CURVE_BEGINS = """\
import os, pathlib, time
import stepscope
os.environ["FAKE_NVML_START"] = str(time.monotonic_ns())
pathlib.Path("curve-began").write_text(str(time.time_ns()))
"""
HZ = 20
_MOST_RUNS = 6


def run_sampled_in_time(script: Make, folder: Path, nvml: Path, **more: str) -> tuple[Path, int]:
    """The same of a run whose sampler got its turns.

    Samples are joined by straight lines. On a machine so busy that the sampler came late by a whole
    turn, such a line cuts off a corner of the curve, by more than what tests allow: that is what
    the machine did, not the sampler, and says nothing. The corners of this curve are blunt enough
    for all that is less late.
    """
    gaps = []
    for _ in range(_MOST_RUNS):
        run, wall = run_with_curve(script, folder, nvml, **more)
        times = series(machine_of(run), "gpu.power").times
        gaps.append(max(b - a for a, b in zip(times, times[1:], strict=False)))
        if gaps[-1] <= 2 * 10**9 / HZ:
            return run, wall
        shutil.rmtree(run)
    raise AssertionError(f"no run of {_MOST_RUNS} was sampled {HZ} times a second: gaps {gaps} ns")


def run_with_curve(
    script: Make, folder: Path, nvml: Path, text: str = STEPS, **more: str
) -> tuple[Path, int]:
    """The run, and when its curve began, on the wall clock: when the program has started."""
    curve = folder / "curve"
    curve.write_text("".join(f"{ms} {mw}\n" for ms, mw in CURVE))
    program = script(CURVE_BEGINS + textwrap.dedent(text))
    done = program.run(LD_LIBRARY_PATH=str(nvml), FAKE_NVML_CURVE=str(curve), **more)
    assert done.returncode == 0, done.stderr
    return folder / "run", int((folder / "curve-began").read_text())
