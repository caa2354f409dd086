"""Other loaders of the same traces: HTA's from PyPI, and Perfetto's trace processor where it is."""

import datetime
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from inputs import Input
from measure import ROOT, Timing, json_lines, run

KEPT = ROOT / ".deps" / "bench-results" / "peers"
HTA_VENV = ROOT / ".venv-hta"
HTA_PACKAGES = ["traceinsight==0.6.1", "pandas<3"]

# Only the load is timed, not the import of the package: what a person in a notebook waits for.
# HTA looks up every event's step by a loop over all steps; that part grows with events times steps
# and is timed apart, so that the number of steps does not decide the comparison.
HTA_PROGRAM = """
import json, logging, sys, time
logging.disable(logging.CRITICAL)
import hta.common.trace
from hta.trace_analysis import TraceAnalysis
find_steps, spent = hta.common.trace.add_iteration, []
def timed(*arguments):
    start = time.perf_counter()
    result = find_steps(*arguments)
    spent.append(time.perf_counter() - start)
    return result
hta.common.trace.add_iteration = timed
start = time.perf_counter()
analysis = TraceAnalysis(trace_files={0: sys.argv[1]})
whole = time.perf_counter() - start
rows = len(analysis.t.get_trace(0))
print(json.dumps({"seconds": whole - sum(spent), "whole_s": whole, "rows": rows}))
"""


def kept(
    name: str, trace: Input, turns: int, load: Callable[[Input], Timing], reuse: bool
) -> Timing:
    """The peer's figures for this input: measured and kept, or with reuse the kept ones."""
    path = KEPT / f"{name}-{trace.name}.json"
    if reuse and path.exists():
        return Timing(**json.loads(path.read_text()))
    timings = [load(trace) for _ in range(turns)]
    seconds = [s for timing in timings for s in timing.seconds]
    peak = max(timing.peak_bytes for timing in timings)
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {**timings[-1].facts, "date": datetime.date.today().isoformat()}
    path.write_text(json.dumps({"seconds": seconds, "peak_bytes": peak, "facts": facts}) + "\n")
    return Timing(seconds, peak, facts)


def hta_python() -> Path:
    """The interpreter of an environment of its own with HTA in it, made when it is missing."""
    python = HTA_VENV / "bin" / "python"
    ready = HTA_VENV / ".ready"
    wanted = "\n".join(HTA_PACKAGES)
    if not ready.exists() or ready.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", str(HTA_VENV)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", *HTA_PACKAGES]
        subprocess.run(pip, check=True)
        ready.write_text(wanted)
    return python


def hta_load(python: Path, trace: Input) -> Timing:
    """HTA's loader with its defaults, one rank; the seconds are those without its step search."""
    done = run([python, "-c", HTA_PROGRAM, trace.path])
    facts = json_lines(done.output)[-1]
    return Timing([facts.pop("seconds")], done.peak_bytes, facts)


def perfetto_shell() -> Path | None:
    """Perfetto's trace processor, if the machine has it.

    The package on PyPI fetches the binary by address at its first use, and Debian 12 has none; so
    it is measured only where it was installed: in PATH, or named by TRACE_PROCESSOR_SHELL.
    """
    named = os.environ.get("TRACE_PROCESSOR_SHELL") or shutil.which("trace_processor_shell")
    return Path(named) if named else None


def perfetto_load(shell: Path, trace: Input) -> Timing:
    """Loads the trace and asks for one count, so that nothing is left for later."""
    query = "select count(*) as n from slice"
    done = run([shell, "-Q", query, trace.path])
    return Timing([done.seconds], done.peak_bytes, {"rows": int(done.output.split()[-1])})
