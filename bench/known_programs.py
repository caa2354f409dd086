"""Programs whose figures are known by construction, and what is measured of them.

    bench/known_programs.py [--python PYTHON]

One core kept busy, one GiB taken, a file read at a known rate, a DataLoader whose workers sleep and
write down how long it took, a GPU that draws power along a known curve (a driver's library of our
own). Each is recorded, and what `system`, `loader` and `energy` say of it stands beside the truth.
PYTHON has torch; with stepscope installed there, that is what records (a wheel), else python/.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measure import ROOT

sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "python"))

from known_gpu import SOURCE, integral, machine_of, run_with_curve, series
from recorded_program import Script, write_script

import stepscope

TRAINING_PYTHON = ROOT / ".deps" / "training-env" / "bin" / "python"
LOADER = ROOT / "tests" / "recording" / "loader_program.py"
RATE = 50_000_000

MACHINE = f"""
    import json, os, resource, time, stepscope
    with open("data", "wb") as file:
        file.write(os.urandom(1 << 20))
    true = {{}}
    with stepscope.profile("run", trace=False) as prof:
        time.sleep(0.5)
        prof.step()
        began, used = time.monotonic(), time.process_time()
        while time.monotonic() < began + 4:
            pass
        true["cores"] = (time.process_time() - used) / (time.monotonic() - began)
        prof.step()
        began, read = time.monotonic(), 0
        with open("data", "rb", buffering=0) as file:
            while (now := time.monotonic()) < began + 4:
                if read > (now - began) * {RATE}:
                    time.sleep(0.005)
                    continue
                file.seek(0)
                read += len(file.read(1 << 18))
        true["rate"] = read / (time.monotonic() - began)
        prof.step()
        true["before"] = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
        kept = bytearray(1 << 30)
        kept[:: 4096] = b"x" * (1 << 18)
        time.sleep(1)
        prof.step()
    print(json.dumps(true))
"""


@dataclass(frozen=True)
class Figure:
    """What is measured, and what is true."""

    program: str
    name: str
    unit: str
    measured: float
    true: float

    def cells(self) -> list[str]:
        """Of a table."""
        return [self.program, f"{self.name}, {self.unit}", f"{self.measured:,.3f}",
                f"{self.true:,.3f}", f"{self.measured / self.true:.3f}"]  # fmt: skip


def package(python: str) -> dict[str, str]:
    """Where that Python finds stepscope: its own, where it has one."""
    alone = {"PYTHONPATH": ""}
    found = subprocess.run(
        [python, "-c", "import stepscope"], env={**os.environ, **alone}, cwd="/", check=False,
        capture_output=True,
    )  # fmt: skip
    return alone if found.returncode == 0 else {}


def machine_figures(python: str, folder: Path) -> Iterator[Figure]:
    """A core, a file, memory: one program, one step each."""
    done = write_script(python, folder / "train.py", MACHINE).run(**package(python))
    if done.returncode != 0:
        sys.exit(done.stderr)
    true = json.loads(done.stdout)
    found = stepscope.open(folder / "run").system()
    steps = list(found["steps"].rows())
    (own,) = found["processes"].rows()
    yield Figure("keeps one core busy for 4 s", "processors", "cores", steps[1]["process_cores"],
                 true["cores"])  # fmt: skip
    rate = steps[2]["read_bytes"] / steps[2]["step_ns"] * 1e3
    yield Figure("reads a file at a known rate for 4 s", "rate", "MB/s", rate, true["rate"] / 1e6)
    yield Figure("takes 1 GiB", "resident memory", "MiB",
                 (own["rss_max_bytes"] - true["before"]) / 2**20, 1024)  # fmt: skip


def loader_figures(python: str, folder: Path) -> Iterator[Figure]:
    """By the clocks of the workers themselves."""
    settings = {"forked": {"num_workers": 2, "multiprocessing_context": "fork"}}
    done = Script(python, LOADER).run(str(folder), json.dumps(settings), **package(python))
    if done.returncode != 0:
        sys.exit(done.stderr)
    own: dict[str, list[int]] = {}
    for file in (folder / "forked" / "own").iterdir():
        for line in file.read_text().splitlines():
            what, took = line.split()
            own.setdefault(what, []).append(int(took))
    batches = list(stepscope.open(folder / "forked" / "run").loader()["steps"].rows())
    true = {what: sum(took) / len(batches) / 1e6 for what, took in own.items()}
    true["fetch"] = true.pop("item") - true["transform"]
    for what in ("fetch", "transform", "collate"):
        reported = statistics.fmean(row[f"{what}_ns"] for row in batches) / 1e6
        yield Figure(
            "a DataLoader with two workers", f"{what} of a batch", "ms", reported, true[what]
        )


def energy_figures(python: str, folder: Path) -> Iterator[Figure]:
    """By the counter, and by power alone."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang-16")
    if compiler is None:
        sys.exit("no C compiler for the driver's library")
    library = folder / "nvml" / "libnvidia-ml.so.1"
    library.parent.mkdir(parents=True)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE], check=True)
    for name, driver in (("counter", {}), ("power alone", {"FAKE_NVML_NO_ENERGY": "1"})):
        here = folder / name.replace(" ", "-")
        here.mkdir()
        run, wall = run_with_curve(
            lambda text, here=here: write_script(python, here / "train.py", text),
            here, library.parent, CUDA_VISIBLE_DEVICES="0", **driver, **package(python),
        )  # fmt: skip
        machine = machine_of(run)
        seen = [series(machine, "gpu.power")]
        seen += [one] if (one := machine.find("gpu.energy")) else []
        shift = machine.start_ns - wall
        ends = min(one.times[0] for one in seen), max(one.times[-1] for one in seen)
        truth = integral(*((time + shift) / 1e6 for time in ends))
        (device,) = stepscope.open(run).energy()["devices"].rows()
        yield Figure("a GPU with a known curve of power", f"energy by {name}", "J",
                     device["joules"], truth)  # fmt: skip


def figures(python: str | None = None) -> list[Figure]:
    """Of all programs."""
    torch = python or str(TRAINING_PYTHON)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name in ("machine", "energy"):
            (folder / name).mkdir()
        return [
            *machine_figures(python or sys.executable, folder / "machine"),
            *loader_figures(torch, folder / "loader"),
            *energy_figures(python or sys.executable, folder / "energy"),
        ]


def table(rows: list[Figure]) -> list[str]:
    """In the form of the docs."""
    return [
        "| program | figure | measured | true | ratio |",
        "| --- | --- | ---: | ---: | ---: |",
        *(f"| {' | '.join(row.cells())} |" for row in rows),
    ]


def main() -> None:
    """Prints the table; 1 where one is more than 5 % off, or energy more than 1 %."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="that has torch, and maybe stepscope")
    rows = figures(parser.parse_args().python)
    print("\n".join(table(rows)))
    most = {True: 0.01, False: 0.05}
    sys.exit(any(abs(row.measured / row.true - 1) > most[row.unit == "J"] for row in rows))


if __name__ == "__main__":
    main()
