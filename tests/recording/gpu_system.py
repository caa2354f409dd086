"""The machine's samples on a real GPU against NVML and nvidia-smi, in under three minutes.

    python tests/recording/gpu_system.py [FOLDER]

Needs torch with CUDA, nvidia-smi, and python/ on PYTHONPATH with `_capture` built for this
interpreter; nothing else but what Python has. Prints JSON lines; all checks are made, and it exits
with 1 where one did not hold. FOLDER/runs.tar keeps the runs, for `analyze energy blocks`.

blocks: two loads take turns for ten seconds each; joules per step from the samples against the
energy counter that this program reads itself at the ends of each block. smi: utilisation and memory
against nvidia-smi, which runs beside it. cost: processor time of the sampling thread at 1 and 10
samples a second. calls: how long each question to the driver takes.
"""

import ctypes
import json
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from oracle.scope import read_recording
from oracle.system import Machine, Series, joules_until, read_machine

import stepscope as ss
from stepscope import _capture

BLOCK_SECONDS = 10
Load = Callable[[], None]


class Counter:
    """The driver's own energy counter, read by this program."""

    def __init__(self) -> None:
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        assert self.nvml.nvmlInit_v2() == 0
        self.device = ctypes.c_void_p()
        assert self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)) == 0

    def joules(self) -> float:
        value = ctypes.c_ulonglong()
        call = self.nvml.nvmlDeviceGetTotalEnergyConsumption
        assert call(self.device, ctypes.byref(value)) == 0
        return value.value / 1000


def loads() -> dict[str, Load]:
    """One that draws much power and one that draws less, each some dozen milliseconds a step."""
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    vector = torch.randn(1 << 26, device="cuda")

    def matrix() -> None:
        for _ in range(20):
            torch.mm(a, a)
        torch.cuda.synchronize()

    def pauses() -> None:
        for _ in range(20):
            vector.mul_(1.0001)
        torch.cuda.synchronize()
        time.sleep(0.02)

    return {"matrix": matrix, "pauses": pauses}


def machine_of(run: Path) -> Machine:
    """What was sampled of the only node."""
    (file,) = run.glob("attempt-0/node-*/system.scope")
    return read_machine(file)


def need(machine: Machine, name: str) -> Series:
    found = machine.find(name, device="0")
    assert found, (name, machine.notices)
    return found


def tell(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


missed: list[str] = []


def expect(holds: bool, otherwise: str) -> None:
    """The checks go on after one that does not hold."""
    if not holds:
        missed.append(otherwise)
        tell(check="missed", what=otherwise)


def blocks(folder: Path) -> None:
    """Alternating blocks, distinct by joules per step."""
    run, counter, truth = folder / "blocks", Counter(), []
    work = loads()
    for load in work.values():
        load()
    smi = subprocess.Popen(
        ["nvidia-smi", "--query-gpu=utilization.gpu,memory.used", "--format=csv,noheader,nounits",
         "-lms", "500", "-i", "0"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with ss.profile(run, trace=False, snapshot=False) as prof:
        time.sleep(0.3)
        for name in ["matrix", "pauses"] * 3:
            began, first, end = counter.joules(), prof.steps, time.monotonic() + BLOCK_SECONDS
            with ss.range(name):
                while time.monotonic() < end:
                    work[name]()
                    prof.step()
            truth.append((name, first, prof.steps, counter.joules() - began))
        time.sleep(0.3)
    smi.terminate()
    said = [line.split(", ") for line in smi.communicate()[0].splitlines()]
    machine = machine_of(run)
    recording = read_recording(run / "attempt-0" / "rank00000" / "events.scope")
    energy, power = need(machine, "gpu.energy"), need(machine, "gpu.power")
    shift = recording.start_ns - machine.start_ns
    steps = {number: (start + shift, end + shift) for number, start, end in recording.steps}
    for name, first, last, joules in truth:
        inside = [steps[n] for n in range(first + 1, last) if n in steps]
        ends = [joules_until(energy, time, power) for time in (inside[0][0], inside[-1][1])]
        alone = [joules_until(power, time) for time in (inside[0][0], inside[-1][1])]
        mine, true = (ends[1] - ends[0]) / len(inside), joules / (last - first)
        tell(
            check="blocks", load=name, steps=last - first,
            step_ms=BLOCK_SECONDS * 1000 / (last - first),
            joules_per_step_sampled=mine, joules_per_step_nvml=true, off=mine / true - 1,
            joules_per_step_power_alone=(alone[1] - alone[0]) / len(inside),
        )  # fmt: skip
        expect(abs(mine / true - 1) < 0.05, f"blocks: {name} is {mine / true - 1:.1%} off")
    compare_smi(machine, said)
    tell(
        check="samples", power_reading=power["reading"], power_ms=between(power),
        energy_ms=between(energy), notices=machine.notices,
    )  # fmt: skip


def between(one: Series) -> float:
    """Median time between two values."""
    return statistics.median(b - a for a, b in zip(one.times, one.times[1:], strict=False)) / 1e6


def compare_smi(machine: Machine, said: list[list[str]]) -> None:
    """Means over the same time."""
    busy = statistics.fmean(need(machine, "gpu.busy").values)
    memory = statistics.median(need(machine, "gpu.memory").values) / 2**20
    smi_busy = statistics.fmean(float(row[0]) for row in said)
    smi_memory = statistics.median(float(row[1]) for row in said)
    tell(
        check="smi", busy_percent=busy, smi_busy_percent=smi_busy, memory_mib=memory,
        smi_memory_mib=smi_memory, smi_samples=len(said),
    )  # fmt: skip
    expect(abs(busy - smi_busy) < 5, "smi: utilisation differs by more than 5 points")
    expect(abs(memory / smi_memory - 1) < 0.02, "smi: memory differs by more than 2 %")


def cost(folder: Path) -> None:
    """Processor time of the sampling thread, beside a load; the energy counter's turns included."""
    load = loads()["matrix"]
    for hz, seconds in ((1.0, 40), (10.0, 20)):
        with ss.profile(folder / f"cost-{hz:g}", trace=False, snapshot=False, system=hz) as prof:
            time.sleep(1.5)  # the driver has been woken
            before, began = _capture.system_state(), time.monotonic()
            while time.monotonic() < began + seconds:
                load()
                prof.step()
            after, length = _capture.system_state(), time.monotonic() - began
        moments = after["moments"] - before["moments"]
        used = (after["cpu_ns"] - before["cpu_ns"]) / 1e9
        tell(check="cost", hz=hz, share_of_a_core=used / length, moments=moments, seconds=length,
             ms_per_moment=used / max(moments, 1) * 1000)  # fmt: skip
        if hz == 1.0:
            expect(used / length < 0.002, f"cost: {used / length:.2%} of a core at 1 a second")


class Field(ctypes.Structure):
    """A value that the driver numbers."""

    _fields_ = (
        ("id", ctypes.c_uint), ("scope", ctypes.c_uint), ("timestamp", ctypes.c_longlong),
        ("latency", ctypes.c_longlong), ("type", ctypes.c_int), ("result", ctypes.c_int),
        ("value", ctypes.c_ulonglong),
    )  # fmt: skip


FIELDS = {"memory temperature": 82, "energy": 83, "nvlink sent": 138, "nvlink received": 139,
          "power now": 186, "pcie sent": 197, "pcie received": 198}  # fmt: skip


def calls() -> None:
    """How long some questions to the driver take, in microseconds."""
    counter = Counter()
    asked = {name: Field(id=number, scope=~0 if "nvlink" in name else 0)
             for name, number in FIELDS.items()}  # fmt: skip
    value, pair = ctypes.c_ulonglong(), (ctypes.c_uint * 2)()
    words = (ctypes.c_ulonglong * 8)()
    questions = {
        "energy": ("nvmlDeviceGetTotalEnergyConsumption", (ctypes.byref(value),)),
        "power": ("nvmlDeviceGetPowerUsage", (ctypes.byref(value),)),
        "utilisation": ("nvmlDeviceGetUtilizationRates", (pair,)),
        "memory": ("nvmlDeviceGetMemoryInfo", (words,)),
        "clock": ("nvmlDeviceGetClockInfo", (1, ctypes.byref(value))),
        "temperature": ("nvmlDeviceGetTemperature", (0, ctypes.byref(value))),
        "reasons": ("nvmlDeviceGetCurrentClocksThrottleReasons", (ctypes.byref(value),)),
        **{
            f"field {name}": ("nvmlDeviceGetFieldValues", (1, ctypes.byref(field)))
            for name, field in asked.items()
        },
    }
    for name, (function, arguments) in questions.items():
        call, took = getattr(counter.nvml, function), []
        for _ in range(50):
            began = time.perf_counter()
            result = call(counter.device, *arguments)
            took.append((time.perf_counter() - began) * 1e6)
        field = asked.get(name.removeprefix("field ")) if name.startswith("field ") else None
        tell(check="calls", question=name, result=field.result if field and not result else result,
             median_us=statistics.median(took), max_us=max(took))  # fmt: skip


def main() -> None:
    """All checks, whatever the one before said."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    tell(check="device", name=torch.cuda.get_device_name(), torch=torch.__version__)
    with tempfile.TemporaryDirectory() as made:
        runs = Path(made)
        for check in (calls, lambda: cost(runs), lambda: blocks(runs)):
            try:
                check()
            except Exception as error:
                expect(False, f"{type(error).__name__}: {error}")
        with tarfile.open(folder / "runs.tar", "w") as packed:
            packed.add(runs, arcname=".")
    tell(check="all", missed=missed)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
