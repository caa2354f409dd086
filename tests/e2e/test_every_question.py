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
    ["gpt_bf16.json.gz"],
    ["ddp/rank0.json.gz", "ddp/rank1.json.gz"],
    ["snap_gpt_leak.pickle.gz"],
    ["snap_expandable.pickle.gz"],
    ["gpt_bf16.json.gz", "snap_gpt_leak.pickle.gz", "snap_oracle.pickle.gz"],
]
# Options that lead elsewhere in the code than their defaults do.
OPTIONS = {"device-memory": "80GiB", "batch-size": "16"}


def first_steps_of(path: Path, count: int) -> dict[str, Any]:
    """As good as all of them here: they are read for every question anew."""
    trace: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    events = trace["traceEvents"]
    steps = [one for one in events if str(one.get("name")).startswith("ProfilerStep#")]
    first, last = steps[0]["ts"], sorted(one["ts"] + one["dur"] for one in steps)[:count][-1]
    trace["traceEvents"] = [
        one for one in events if one["ph"] == "M" or first <= one.get("ts", last) <= last
    ]
    return trace


def short_sample(name: str, folder: Path) -> Path:
    """The file, or its first two steps where it is a trace."""
    if not name.endswith(".json.gz"):
        return DATA / name
    path = folder / Path(name).with_suffix("").name
    path.write_text(json.dumps(first_steps_of(DATA / name, 2)))
    return path


@pytest.mark.parametrize("names", SAMPLES, ids="+".join)
def test_every_analysis_answers(program: Program, tmp_path: Path, names: list[str]) -> None:
    paths = [short_sample(name, tmp_path) for name in names]
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


@pytest.mark.parametrize(("sample", "share"), [("gpt_bf16", 2), ("gpt_stack", 1)])
def test_events_without_a_name(program: Program, tmp_path: Path, sample: str, share: int) -> None:
    trace = first_steps_of(DATA / f"{sample}.json.gz", 1)
    for event in trace["traceEvents"][::share]:
        if event["ph"] in "XiC":
            event.pop("name", None)
    path = tmp_path / "nameless.json"
    path.write_text(json.dumps(trace))
    listed = json.loads(program.run("analyze", "--list", "-f", "json").stdout)["analyses"]
    for about in listed:
        outcome = program.run("analyze", about["name"], "-f", "json", str(path), timeout=300)
        assert outcome.exit_status in (0, 3), (about["name"], outcome.stderr.decode())
