"""Loops of Accelerate, DDP, FSDP and Keras: scripts that users copy, all ranks in one folder."""

from pathlib import Path

import pytest
from framework_page import need, torchrun
from program import ROOT
from recorded_program import Script, ranges_of, rank_facts, rank_folder

import stepscope

EXAMPLES = ROOT / "examples" / "frameworks"


@pytest.mark.parametrize(
    ("name", "module", "steps"),
    [
        ("ddp", "torch", 10),
        ("fsdp", "torch", 8),
        ("accelerate_loop", "accelerate", 10),
    ],
)
def test_two_ranks(
    training_python: str, tmp_path: Path, name: str, module: str, steps: int
) -> None:
    need(training_python, module)
    run = tmp_path / "run"
    done = torchrun(training_python, EXAMPLES / f"{name}.py", str(run))
    assert done.returncode == 0, done.stderr
    assert "RecordingWarning" not in done.stderr
    assert sorted(folder.name for folder in run.glob("attempt-*/rank*")) == [
        "rank00000",
        "rank00001",
    ]
    for rank in (0, 1):
        facts = rank_facts(run, rank)
        assert (facts["rank_from"], facts["world_size"]) == ("torch.distributed", 2)
        assert (facts["steps"], facts["warnings"]) == (steps, [])
        found = ranges_of(rank_folder(run, rank) / "events.scope")
        assert found["forward"] == found["backward"] == found["update"]
    opened = stepscope.open(run)
    assert opened.ranks == [0, 1]
    (job,) = opened.throughput()["job"].rows()
    assert (job["phase"], job["ranks"]) == ("training", 2)
    assert [
        row["ranks"] for row in opened.time()["across"].rows() if row["range"] == "forward"
    ] == [2]


def test_keras(training_python: str, tmp_path: Path) -> None:
    need(training_python, "keras")
    done = Script(training_python, EXAMPLES / "keras_fit.py").run(str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert "RecordingWarning" not in done.stderr
    assert all(name in done.stdout for name in ("'loss'", "'training_rate'", "'validation_rate'"))
    facts = rank_facts(tmp_path / "run")
    # 128 of 160 samples are for training: 8 batches of 16 an epoch.
    assert (facts["steps"], facts["epochs"], facts["warnings"]) == (16, 2, [])
    assert [(w["first_step"], w["steps"]) for w in facts["windows"]] == [(3, 3)]
    assert ranges_of(rank_folder(tmp_path / "run") / "events.scope")["validation"] == 2
    for phase in stepscope.open(tmp_path / "run").throughput()["job"].rows():
        assert phase["samples_per_second"] == pytest.approx(16 * phase["iterations_per_second"])
