"""The example that users copy works."""

from pathlib import Path

from program import ROOT
from recorded_program import Script, ranges_of, rank_facts, rank_folder

import stepscope


def test_the_example_records(training_python: str, tmp_path: Path) -> None:
    done = Script(training_python, ROOT / "examples" / "record_training.py").run(
        str(tmp_path / "run")
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        f"Recorded 48 steps. Look at them with: stepscope report {tmp_path / 'run'}\n"
    )
    assert "Warning" not in done.stderr
    facts = rank_facts(tmp_path / "run")
    assert (facts["steps"], facts["epochs"], facts["warnings"]) == (48, 3, [])
    found = ranges_of(rank_folder(tmp_path / "run") / "events.scope")
    assert found["update"] == found["forward"] == 48
    trace = stepscope.open(rank_folder(tmp_path / "run") / "trace-0.json.gz")
    assert trace.step_numbers == [20, 21, 22, 23]
