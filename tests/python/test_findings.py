"""`run.findings()` says what the command says."""

import json
from pathlib import Path

import pytest
from program import ROOT, Program

import stepscope

DATA = ROOT / "examples" / "data"


@pytest.mark.parametrize("sample", ["gpt_stack.json.gz", "ddp", "snap_gpt_leak.pickle.gz"])
def test_findings_are_those_of_the_command(sample: str, program: Program) -> None:
    findings = stepscope.open(DATA / sample).findings()
    advice = json.loads(program.run("advise", "--json", DATA / sample).stdout)
    assert [one.rule for one in findings] == [one["rule"] for one in advice["findings"]]
    assert [one.title for one in findings] == [one["title"] for one in advice["findings"]]
    assert findings.verdict == advice["verdict"]
    assert findings.healthy == advice["healthy"]
    assert [one.rule for one in findings.not_judged] == [
        one["rule"] for one in advice["not_judged"]
    ]


def test_the_table_has_a_row_per_finding() -> None:
    findings = stepscope.open(DATA / "gpt_stack.json.gz").findings()
    rows = list(findings.table.rows())
    assert len(rows) == len(findings) > 1
    for row, finding in zip(rows, findings, strict=True):
        assert (row["rule"], row["level"]) == (finding.rule, finding.level)
        assert (row["gain_low_ns"], row["gain_high_ns"]) == (finding.gain_ns or (None, None))
        assert tuple(row["ranks"]) == finding.ranks
    assert rows[0]["remaining_low_ns"] is None
    assert rows[1]["remaining_high_ns"] == findings[1].remaining_ns[1]  # type: ignore[index]


def test_findings_of_some_ranks_and_steps() -> None:
    run = stepscope.open(DATA / "ddp")
    assert run.findings(ranks=1)[0].ranks == (1,)
    assert "input-bound" not in [one.rule for one in run.findings(ranks=0)]
    assert stepscope.open(DATA / "gpt_bf16.json.gz").findings(steps=[3]).step_ns > 0


def test_thresholds_of_the_user(tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("precision: {notice: 0.9, warning: 0.95, critical: 0.99}\n")
    run = stepscope.open(DATA / "gpt_stack.json.gz")
    assert "precision" not in [one.rule for one in run.findings(thresholds=rules)]
    rules.write_text("precision: {warn: 1}\n")
    with pytest.raises(stepscope.FormatError, match="has no threshold 'warn'"):
        run.findings(thresholds=rules)


def test_the_size_of_the_device_tells_how_full_it_is() -> None:
    memory = stepscope.open_memory(DATA / "snap_gpt_leak.pickle.gz")
    tight = memory.findings(device_memory="900MiB")
    assert {"memory-leak", "memory-pressure"} <= {one.rule for one in tight}
    assert "more steps" in next(one for one in tight if one.rule == "memory-leak").detail
