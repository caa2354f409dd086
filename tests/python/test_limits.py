"""Memory that runs out while a trace is read is an exception, and the process goes on."""

import subprocess
import sys
from pathlib import Path

import pytest
from program import ROOT

EVENT = '{"ph":"X","cat":"cpu_op","name":"aten::add_%d","pid":1,"tid":%d,"ts":%d,"dur":5}'
READER = """
import resource, sys
import stepscope
stepscope.open  # imported with what it needs
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
kept = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (size + int(sys.argv[1]), kept[1]))
try:
    stepscope.open(sys.argv[3:], jobs=int(sys.argv[2]), max_memory=1 << 40)
except MemoryError:
    print("no memory")
resource.setrlimit(resource.RLIMIT_AS, kept)
print(stepscope.open(sys.argv[3], jobs=2).info["windows"][0]["events"])
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("limits") / "large.json"
    body = ",\n".join(EVENT % (i % 1000, i % 7, i) for i in range(400_000))
    path.write_text('{"traceEvents":[' + body + "]}")
    return path


@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize(("jobs", "more"), [(1, 8), (1, 20), (2, 30), (4, 40)])
def test_memory_that_runs_out(trace: Path, jobs: int, more: int, files: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READER, str(more << 20), str(jobs), *([trace] * files)],
        capture_output=True,
        text=True,
        cwd=ROOT / "python",
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["no memory", "400000"]
