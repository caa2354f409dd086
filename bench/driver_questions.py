"""How long NVIDIA's driver takes to read its counter of energy, and what waits meanwhile.

    PYTHONPATH=python python bench/driver_questions.py [--seconds 10]

Needs a GPU and its driver; prints JSON lines. With torch (CUDA) also what launches of kernels wait,
with python/ built (`_capture`) also how late the sampler's own looks are. Nothing else is needed.

questions: each by itself, by the clock and in processor time of the thread that asks.
updates: how often the counter has a new value. waiting: other questions of another thread, asked
every 2 ms, alone and beside a thread that asks for the counter all the time; those that began while
it was being read, apart. launches: the same of a small kernel of CUDA. ticks: looks of the sampler
at 50 a second, those within 50 ms of a reading of the counter and all others; how far each is from
20 ms after the one before.
"""

import argparse
import contextlib
import ctypes
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

Ask = Callable[[], int]
POWER_NOW, MEMORY_TEMPERATURE = 186, 82


class Field(ctypes.Structure):
    """A value that the driver numbers."""

    _fields_ = (
        ("id", ctypes.c_uint), ("scope", ctypes.c_uint), ("timestamp", ctypes.c_longlong),
        ("latency", ctypes.c_longlong), ("type", ctypes.c_int), ("result", ctypes.c_int),
        ("value", ctypes.c_ulonglong),
    )  # fmt: skip


class Driver:
    """GPU 0, and what can be asked of it."""

    def __init__(self) -> None:
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        if error := self.nvml.nvmlInit_v2():
            sys.exit(f"the driver does not answer: error {error}")
        self.device = ctypes.c_void_p()
        self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device))
        self.energy = ctypes.c_ulonglong()
        self.questions: dict[str, Ask] = {
            "energy": self.question(
                "nvmlDeviceGetTotalEnergyConsumption", ctypes.byref(self.energy)
            ),
            "power now": self.question(
                "nvmlDeviceGetFieldValues", 1, ctypes.byref(Field(id=POWER_NOW))
            ),
            "power": self.question("nvmlDeviceGetPowerUsage", ctypes.byref(ctypes.c_uint())),
            "utilisation": self.question("nvmlDeviceGetUtilizationRates", (ctypes.c_uint * 2)()),
            "memory": self.question("nvmlDeviceGetMemoryInfo", (ctypes.c_ulonglong * 8)()),
        }

    def question(self, name: str, *arguments: Any) -> Ask:
        """One question, ready to be asked."""
        call, device = getattr(self.nvml, name), self.device
        return lambda: int(call(device, *arguments))

    def name(self) -> str:
        """Of the model."""
        text = ctypes.create_string_buffer(96)
        self.nvml.nvmlDeviceGetName(self.device, text, 96)
        return text.value.decode()


def tell(**facts: Any) -> None:
    """One line."""
    print(json.dumps(facts), flush=True)


def spread(values: list[float], unit: str = "us") -> dict[str, float]:
    """Median, 99th percentile and largest."""
    ordered = sorted(values)
    if not ordered:
        return {"count": 0}
    return {
        "count": len(ordered),
        f"median_{unit}": round(statistics.median(ordered), 2),
        f"p99_{unit}": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], 2),
        f"max_{unit}": round(ordered[-1], 2),
    }


def questions(driver: Driver, seconds: float) -> None:
    """Each by itself."""
    for name, ask in driver.questions.items():
        wall, cpu, result = [], [], 0
        for _ in range(max(int(seconds * 4), 4)):
            began, used = time.perf_counter_ns(), time.thread_time_ns()
            result = ask()
            cpu.append((time.thread_time_ns() - used) / 1e3)
            wall.append((time.perf_counter_ns() - began) / 1e3)
            time.sleep(0.25 if name == "energy" else 0.02)
        tell(check="questions", question=name, result=result, wall=spread(wall), cpu=spread(cpu))


def updates(driver: Driver, seconds: float) -> None:
    """Time between two values of the counter, asked for without a pause."""
    changed, last = [], None
    end = time.perf_counter() + seconds
    while (now := time.perf_counter()) < end:
        driver.questions["energy"]()
        if driver.energy.value != last:
            changed.append(now)
            last = driver.energy.value
    waits = [(b - a) * 1e3 for a, b in zip(changed, changed[1:], strict=False)]
    tell(check="updates", **spread(waits, "ms"))


@contextlib.contextmanager
def counter_read(driver: Driver, asked: list[tuple[int, int]]) -> Iterator[None]:
    """A thread that asks for the counter all the time, and when it did."""
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            began = time.perf_counter_ns()
            driver.questions["energy"]()
            asked.append((began, time.perf_counter_ns()))
            time.sleep(0.005)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def timed(ask: Callable[[], Any], seconds: float) -> list[tuple[int, int]]:
    """Begin and end of each."""
    found = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter_ns()
        ask()
        found.append((began, time.perf_counter_ns()))
        time.sleep(0.002)
    return found


def both(driver: Driver, name: str, check: str, ask: Callable[[], Any], seconds: float) -> None:
    """Alone, beside a thread that reads the counter, and while it is being read."""

    def lengths(all_: list[tuple[int, int]]) -> dict[str, float]:
        return spread([(b - a) / 1e3 for a, b in all_])

    alone = timed(ask, seconds)
    asked: list[tuple[int, int]] = []
    with counter_read(driver, asked):
        beside = timed(ask, seconds)
    meanwhile = [one for one in beside if any(a <= one[0] < b for a, b in asked)]
    tell(check=check, question=name, alone=lengths(alone), beside=lengths(beside),
         meanwhile=lengths(meanwhile))  # fmt: skip


def waiting(driver: Driver, seconds: float) -> None:
    """Whether other questions wait for the counter's answer."""
    for name, ask in driver.questions.items():
        if name != "energy":
            both(driver, name, "waiting", ask, seconds / 4)


def launches(driver: Driver, seconds: float) -> None:
    """Whether the training would: a kernel, and waiting for it."""
    try:
        import torch
    except ImportError:
        tell(check="launches", left_out="no torch")
        return
    if not torch.cuda.is_available():
        tell(check="launches", left_out="no CUDA")
        return
    vector = torch.zeros(1024, device="cuda")

    def launch() -> None:
        vector.add_(1)
        torch.cuda.synchronize()

    for _ in range(100):
        launch()
    both(driver, "a small kernel and its end", "launches", launch, seconds)


def ticks(seconds: float) -> None:
    """Looks of the sampler itself, beside its own readings of the counter."""
    try:
        from oracle.system import read_machine

        from stepscope import _capture
    except ImportError as error:
        tell(check="ticks", left_out=str(error))
        return
    hz, seconds = 50, max(seconds, 25)  # the counter is read every ten
    with tempfile.TemporaryDirectory() as folder:
        _capture.start_system(folder, hz, 0, 0)
        time.sleep(seconds)
        state = _capture.system_state()
        _capture.stop_system()
        machine = read_machine(Path(folder) / "system.scope")
    energy = machine.find("gpu.energy")
    for name in ("memory.used", "gpu.power"):
        one = machine.find(name)
        if not one or not energy:
            tell(check="ticks", series=name, left_out=machine.notices)
            continue
        pairs = list(zip(one.times, one.times[1:], strict=False))
        off = [(abs(b - a - 1e9 / hz) / 1e3, b) for a, b in pairs]
        near = [value for value, at in off if any(abs(at - t) < 5e7 for t in energy.times)]
        far = [value for value, at in off if all(abs(at - t) >= 5e7 for t in energy.times)]
        tell(check="ticks", series=name, near_the_counter=spread(near), elsewhere=spread(far))
    tell(check="cost", hz=hz, share_of_a_core=state["cpu_ns"] / 1e9 / seconds)


def main() -> None:
    """All parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10, help="of each part")
    seconds = parser.parse_args().seconds
    driver = Driver()
    tell(check="device", name=driver.name())
    questions(driver, seconds)
    updates(driver, seconds / 2)
    waiting(driver, seconds)
    launches(driver, seconds)
    ticks(seconds)


if __name__ == "__main__":
    main()
