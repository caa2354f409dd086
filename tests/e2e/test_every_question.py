"""Every question asked of every bundled sample, alone and together.

Answers are checked elsewhere. Here it counts that there is one, also in the build with sanitizers.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from program import ROOT, Program

DATA = ROOT / "examples" / "data"
SAMPLES = [
    DATA / "gpt_bf16.json.gz",
    DATA / "ddp",
    DATA / "snap_gpt_leak.pickle.gz",
    DATA / "snap_expandable.pickle.gz",
]
TOGETHER = [
    DATA / "gpt_bf16.json.gz",
    DATA / "snap_gpt_leak.pickle.gz",
    DATA / "snap_oracle.pickle.gz",
]
# Options that lead elsewhere in the code than their defaults do.
OPTIONS = {"device-memory": "80GiB", "batch-size": "16"}


@pytest.mark.parametrize(
    "paths",
    [*([path] for path in SAMPLES), TOGETHER],
    ids=lambda paths: "+".join(p.stem for p in paths),
)
def test_every_analysis_answers(program: Program, paths: list[object]) -> None:
    listed = json.loads(program.run("analyze", "--list", "-f", "json").stdout)["analyses"]
    asked = 0
    for about in listed:
        options = [
            word
            for parameter in about["parameters"]
            if parameter["name"] in OPTIONS
            for word in (f"--{parameter['name']}", OPTIONS[parameter["name"]])
        ]
        for chosen in [[], options] if options else [[]]:
            outcome = program.run(
                "analyze", about["name"], "-f", "json", *chosen, *map(str, paths), timeout=300
            )
            said = outcome.stderr.decode()
            if outcome.exit_status == 3:  # of a trace what needs a snapshot, or the other way round
                assert "needs" in said, said
                continue
            assert outcome.exit_status == 0, (about["name"], chosen, said)
            assert list(json.loads(outcome.stdout)["tables"]) == [
                t["name"] for t in about["tables"]
            ]
            asked += 1
    assert asked > 8


@pytest.mark.parametrize("command", ["report", "memory"])
def test_pages_of_everything(program: Program, command: str) -> None:
    outcome = program.run(command, str(DATA), timeout=300)
    assert outcome.exit_status == 0, outcome.stderr
    assert len(outcome.stdout) > 1000


def first_step_of(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As good as all of them here, and read for every question anew."""
    step = next(one for one in events if str(one.get("name")).startswith("ProfilerStep#"))
    end = step["ts"] + step["dur"]
    return [one for one in events if one["ph"] == "M" or step["ts"] <= one.get("ts", end) <= end]


@pytest.mark.parametrize("sample", ["gpt_bf16", "gpt_stack"])
@pytest.mark.parametrize("share", [1, 2])
def test_events_without_a_name(program: Program, tmp_path: Path, sample: str, share: int) -> None:
    trace = json.loads(gzip.decompress((DATA / f"{sample}.json.gz").read_bytes()))
    trace["traceEvents"] = first_step_of(trace["traceEvents"])
    for event in trace["traceEvents"][::share]:
        if event["ph"] in "XiC":
            event.pop("name", None)
    path = tmp_path / "nameless.json"
    path.write_text(json.dumps(trace))
    listed = json.loads(program.run("analyze", "--list", "-f", "json").stdout)["analyses"]
    for about in listed:
        outcome = program.run("analyze", about["name"], "-f", "json", str(path), timeout=300)
        assert outcome.exit_status in (0, 3), (about["name"], outcome.stderr.decode())
