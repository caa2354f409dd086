"""Rows of a table are Python's own values."""

import subprocess
import sys

from program import ROOT

# What the program `stepscope` starts may be a Python without numpy.
WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
import stepscope
run = stepscope.open(sys.argv[1])
rows = [row for answer in (run.steps(), run.time(), run.kernels()) for table in answer
        for row in table.rows()]
print(len(rows), sorted({type(value).__name__ for row in rows for value in row.values()}))
"""


def test_rows_need_no_numpy() -> None:
    sample = ROOT / "examples" / "data" / "gpt_bf16.json.gz"
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMPY, sample],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT / "python"), "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    rows, types = done.stdout.strip().split(" ", 1)
    assert int(rows) > 10
    assert types == "['NoneType', 'float', 'int', 'str']", types
