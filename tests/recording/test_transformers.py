"""Hugging Face's Trainer with our callback, and by `stepscope run` without it."""

import json
import subprocess
from pathlib import Path

from framework_page import need, page_script, script_of
from program import Program
from recorded_program import environment, ranges_of, rank_facts, rank_folder

import stepscope

MORE = """
    import json
    kept = [
        {name: line[name] for name in ("step", "training_rate", "validation_rate") if name in line}
        for line in trainer.state.log_history
    ]
    print(json.dumps({"log": kept, "iter": torch.utils.data.DataLoader.__iter__.__module__}))
"""


def test_the_page(training_python: str, tmp_path: Path) -> None:
    need(training_python, "transformers", "accelerate")
    done = page_script(training_python, "transformers.md", tmp_path, MORE).run()
    assert done.returncode == 0, done.stderr
    assert "RecordingWarning" not in done.stderr
    assert "USDT:" not in done.stderr  # torch's tracer, which runs because of us
    run = tmp_path / "runs" / "transformers"
    facts = rank_facts(run)
    # 80 sentences by 4, two batches a step: 10 steps in each of two epochs.
    assert (facts["steps"], facts["epochs"], facts["finished"]) == (20, 2, "stop")
    assert [(w["first_step"], w["steps"]) for w in facts["windows"]] == [(5, 3)]
    found = ranges_of(rank_folder(run) / "events.scope")
    assert found["validation"] == 2
    loaders = stepscope.open(run).loader()["loaders"].rows()  # each evaluation makes one anew
    assert [(row["phase"], row["batches"]) for row in loaders] == [
        ("training", 40),
        ("validation", 8),
    ]
    (model,) = stepscope.open(run).model()["summary"].rows()
    assert model["model"] == "GPT2LMHeadModel"
    assert model["parameters"] > 20_000
    # Of one batch, 4 sentences of 16: two layers with attention (32 to 96, to 32) and two products
    # with 128, five norms of 32, and 100 words.
    of_layers = 2 * (32 * 96 + 32 * 32 + 2 * 32 * 128) + 5 * 32
    assert (model["mult_adds"], model["uncounted"]) == (4 * 16 * (of_layers + 32 * 100), 0)
    assert 0 <= model["input_bytes"] - 2 * 4 * 16 * 8 <= 8  # the trainer adds a count
    phases = {row["phase"]: row for row in stepscope.open(run).throughput()["phases"].rows()}
    # The loader is a batch of 4 ahead of the steps: what counts is where a batch is used.
    assert phases["training"]["samples"] == 8 * phases["training"]["measured"]

    said = json.loads(done.stdout.splitlines()[-1])
    assert said["iter"] == "torch.utils.data.dataloader"
    rates = [(line["step"], sorted(line)) for line in said["log"] if len(line) > 1]
    assert rates == [
        (5, ["step", "training_rate"]),
        (10, ["step", "training_rate"]),
        (10, ["step", "validation_rate"]),
        (15, ["step", "training_rate"]),
        (20, ["step", "training_rate"]),
        (20, ["step", "validation_rate"]),
    ]
    assert all(value > 0 for line in said["log"] for value in line.values())
    evaluated = [line for line in done.stdout.splitlines() if "'eval_loss'" in line]
    assert len(evaluated) == 2 and all("'validation_rate'" in line for line in evaluated)


def test_without_the_callback(program: Program, training_python: str, tmp_path: Path) -> None:
    """The trainer switches gradients off late, and its loader is a batch ahead of the steps."""
    need(training_python, "transformers", "accelerate")
    text = script_of("transformers.md")
    ours = [line for line in text.splitlines() if "callbacks=[" in line or "stepscope" in line]
    assert len(ours) == 3
    file = tmp_path / "train.py"
    file.write_text("\n".join(line for line in text.splitlines() if line not in ours))
    words = [
        "run",
        "--steps",
        "5:8",
        "--no-report",
        "--out",
        "run",
        "--",
        training_python,
        str(file),
    ]
    done = subprocess.run(
        [program.path, *words], cwd=tmp_path, env=environment(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"USDT:" not in done.stderr  # torch's tracer, which runs because of us
    phases = {
        row["phase"]: row for row in stepscope.open(tmp_path / "run").throughput()["phases"].rows()
    }
    assert phases["training"]["samples"] == 8 * phases["training"]["measured"]
    facts = rank_facts(tmp_path / "run")
    assert (facts["steps"], facts["epochs"], facts["finished"]) == (20, 2, "exit")
    assert [(w["first_step"], w["steps"]) for w in facts["windows"]] == [(5, 3)]
    loaders = stepscope.open(tmp_path / "run").loader()["loaders"].rows()
    assert [(row["phase"], row["batches"]) for row in loaders] == [
        ("training", 40),
        ("validation", 8),
    ]
