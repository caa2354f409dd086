"""What `stepscope.lines` measured is in the rank's folder."""

import json
from collections.abc import Callable
from pathlib import Path

from program import Program
from recorded_program import Script, rank_folder

import stepscope

MakeScript = Callable[[str], Script]

PROGRAM = """
import os, sys
import stepscope as ss

class Data:
    @ss.lines
    def load(self, count):
        found = 0
        for i in range(count):
            found += i
        return found

@ss.lines(name="a/b c")
def other():
    return 1

@ss.lines
def never():
    return 1

data = Data()
never()  # within the recording
data.load(7)
with ss.profile(sys.argv[1], trace=False) as prof:
    for step in range(3):
        assert data.load(4) == 6
        other()
        prof.step()
    if os.fork() == 0:
        data.load(1000)
        os._exit(0)
    os.wait()
"""


def test_functions_that_were_called_have_a_file(
    script: MakeScript, program: Program, tmp_path: Path
) -> None:
    done = script(PROGRAM).run(str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    files = sorted(path.name for path in rank_folder(tmp_path / "run").glob("lines-*"))
    assert files == ["lines-Data.load.json", "lines-a_b_c.json"]
    found = json.loads((rank_folder(tmp_path / "run") / files[0]).read_text())
    assert found["schema"] == "stepscope.lines/1"
    assert (found["function"], found["calls"]) == ("Data.load", 3)
    assert [row["hits"] for row in found["lines"]] == [3, 15, 12, 3]
    assert found["lines"][2]["text"].strip() == "found += i"
    assert found["lines"][2]["line"] == found["first_line"] + 4
    assert all(row["time_ns"] > 0 for row in found["lines"])
    (record,) = stepscope.open(tmp_path / "run").info["rank_records"]
    assert record["lines"] == files
    for command in ("info", "report"):
        said = " ".join(program.run(command, tmp_path / "run").stdout.decode().split())
        assert f"time by line of 2 functions: {rank_folder(tmp_path / 'run')}/{files[0]}" in said
