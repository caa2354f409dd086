"""Measures what the Python package costs beside the program, and writes docs/bench/python.md.

    bench/python.py [--runs 21]

Import: an interpreter that imports the package, against one that imports nothing and one that
imports numpy. Calls: questions asked of an open run, against a process of the program that opens
the same file and answers. All of them in turn; medians of processor time (user and system), because
wall time on a busy machine is other people's.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from measure import ROOT, commit, machine

PAGE = ROOT / "docs" / "bench" / "python.md"
SAMPLE = ROOT / "examples" / "data" / "gpt_bf16.json.gz"
PROGRAM = ROOT / "build" / "stepscope"
QUESTIONS = ("steps", "idle-time", "kernels", "operators", "roofline")

IMPORTS = {
    "nothing": "pass",
    "stepscope": "import stepscope",
    "numpy": "import numpy",
    "stepscope, and the first question": (
        f"import stepscope; stepscope.open({os.fspath(SAMPLE)!r}, jobs=1).kernels().table['sum_ns']"
    ),
}

CALLS = """
import json, sys, time
import stepscope
path, questions, runs = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
def cost(function):
    spent = []
    for _ in range(runs):
        before = time.process_time()
        function()
        spent.append(time.process_time() - before)
    return sorted(spent)[runs // 2]
run = stepscope.open(path, jobs=1)
out = {"open": cost(lambda: stepscope.open(path, jobs=1))}
for question in questions:
    out[question] = cost(lambda: run.ask(question))
    answer = run.ask(question)
    out[question + " to_pandas"] = cost(lambda: [t.to_pandas() for t in answer])
print(json.dumps(out))
"""


def spent(command: list[str]) -> float:
    """Seconds of processor time of one process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "STEPSCOPE_JOBS": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]}: exit {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def in_turn(commands: dict[str, list[str]], runs: int) -> dict[str, float]:
    """The median of each, all of them run one after the other again and again."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs + 1):
        for name, command in commands.items():
            times[name].append(spent(command))
    return {name: statistics.median(values[1:]) for name, values in times.items()}  # one to warm up


def page(imports: dict[str, float], command: dict[str, float], calls: dict[str, float]) -> str:
    """The whole page."""
    base = imports["nothing"]
    lines = [
        "# Python: what it costs",
        "",
        "Written by `bench/python.py`; do not edit. Processor time (user and system), medians",
        "of runs in turn, one thread.",
        f"Sample: `examples/data/gpt_bf16.json.gz`. Python {sys.version.split()[0]}.",
        "",
        "## Importing",
        "",
        "| an interpreter that imports | ms | beyond the bare one |",
        "| --- | ---: | ---: |",
    ]
    lines += [f"| {n} | {s * 1e3:.0f} | {(s - base) * 1e3:.0f} |" for n, s in imports.items()]
    lines += [
        "",
        "pandas, pyarrow, polars, plotly and torch are not imported before they are asked for,",
        "numpy not before the first column is.",
        "",
        "## A question",
        "",
        "The program opens the file anew for each question; a run in Python is opened once"
        f" ({calls['open'] * 1e3:.1f} ms here).",
        "",
        "| question | `stepscope analyze` ms | asked in Python ms | its tables as pandas ms |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {q} | {command[q] * 1e3:.1f} | {calls[q] * 1e3:.2f} "
        f"| {calls[q + ' to_pandas'] * 1e3:.2f} |"
        for q in QUESTIONS
    ]
    today = datetime.date.today().isoformat()
    lines += ["", f"{today}, commit {commit()}. {machine()}.", ""]
    return "\n".join(lines)


def main() -> int:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=21, help="turns (default 21)")
    options = parser.parse_args()
    imports = in_turn({n: [sys.executable, "-c", c] for n, c in IMPORTS.items()}, options.runs)
    sample = os.fspath(SAMPLE)
    command = in_turn(
        {q: [os.fspath(PROGRAM), "analyze", q, sample, "-f", "json"] for q in QUESTIONS},
        options.runs,
    )
    asked = subprocess.run(
        [sys.executable, "-c", CALLS, sample, ",".join(QUESTIONS), str(options.runs)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    PAGE.write_text(page(imports, command, json.loads(asked)))
    print(Path(PAGE).relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
