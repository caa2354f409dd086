"""bench/verdicts.py: which findings it calls right, wrong, or neither."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from program import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import labelled  # noqa: E402  (lies beside the programs it tells of)
import verdicts  # noqa: E402

MS = 1_000_000


def finding(rule: str, cause: str, low: int, high: int, **more: Any) -> dict[str, Any]:
    gain = {"low_ns": low * MS, "high_ns": high * MS}
    texts = {"title": "", "detail": "", "verify": "", "evidence": [], "changes": []}
    base = {"rule": rule, "cause": cause, "level": "warning", "confidence": "high"}
    return base | texts | {"gain_per_step": gain} | more


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the program says of every recording."""
    findings: list[dict[str, Any]] = []
    advice = {"findings": findings, "healthy": None, "verdict": ["Fine."], "step_ns": 100 * MS}
    monkeypatch.setattr(labelled, "advice_of", lambda _: advice)
    monkeypatch.setattr(verdicts, "advice_of", lambda _: advice)
    return findings


def case(*causes: str, **more: Any) -> labelled.Case:
    return labelled.Case("set", "name", Path("name"), causes=list(causes), **more)


def test_a_finding_is_right_by_its_cause_and_its_gain(said: list[dict[str, Any]]) -> None:
    said.append(finding("host-sync", "sync", 10, 20))
    for cost, right in ((10, True), (20, True), (9, False), (21, False)):
        assert labelled.is_right(case("sync", cost=cost), said[0]) is right
    assert labelled.is_right(case("host-sync"), said[0])  # by its rule; nothing was measured
    assert labelled.is_right(case("sync", cost=9, error=1), said[0])  # within two errors
    assert labelled.is_right(case("launch"), said[0]) is False


def test_on_a_healthy_run_every_warning_is_false_but_what_was_measured(
    said: list[dict[str, Any]],
) -> None:
    said.append(finding("unfused-chains", "fusion", 10, 20))
    assert labelled.false_warnings(case()) == ["unfused-chains"]
    assert labelled.false_warnings(case(also=["fusion"], also_gains=15)) == []
    assert labelled.false_warnings(case(also=["fusion"], also_gains=9)) == ["unfused-chains"]
    said[0] |= {"level": "notice"}
    assert labelled.false_warnings(case()) == []
    assert labelled.is_right(case(), said[0]) is False  # a gain that is sure is a claim, too
    said[0]["gain_per_step"]["low_ns"] = 0
    assert labelled.is_right(case(), said[0]) is None


def test_of_a_file_without_labels_only_what_is_known_is_judged(said: list[dict[str, Any]]) -> None:
    said.append(finding("precision", "precision", 10, 20, detail="Round the vocabulary"))
    rules: dict[str, Any] = {"never": ["[Vv]ocabulary"], "said": ["attention", "Fine"]}
    one = case(is_labelled=False, rules=rules)
    assert labelled.is_right(one, said[0]) is None
    assert labelled.wrongly_said(one) == ["says /[Vv]ocabulary/", "lacks /attention/"]
    rules |= {"wrong": ["precision"], "first": ["fusion"]}
    assert labelled.is_right(one, said[0]) is False
    assert "first is not fusion" in labelled.wrongly_said(one)


def test_high_confidence_counts_what_can_be_judged(said: list[dict[str, Any]]) -> None:
    said += [
        finding("host-sync", "sync", 10, 20),
        finding("launch-bound", "launch", 10, 20),
        finding("small-batch", "launch", 0, 20, level="notice"),
        finding("precision", "precision", 10, 20, confidence="low"),
    ]
    judged, wrong = verdicts.confidence_of([case("sync", cost=15)], "high")
    assert judged == 2
    assert wrong == ["name: launch-bound (warning)"]


def test_both_forms_of_labels(tmp_path: Path) -> None:
    """A dictionary by name, and a list with names."""
    label = {"cause": "host-sync", "step_ms_without_profiler": 30.0, "reference_step_ms": 10.0}
    sides = {"fault_step_ms": {"median": 30.0, "all": [29.0, 31.0]}}
    sides |= {"reference_step_ms": {"median": 10.0, "all": [10.0, 10.0]}}
    for labels in ([label | {"name": "one"}], {"faults": {"one": {"cause": "host-sync"} | sides}}):
        (tmp_path / "labels.json").write_text(json.dumps(labels))
        (tmp_path / "one.json.zst").touch()
        (one,) = labelled.cases_of_labels("set", tmp_path)
        assert one.path.name == "one.json.zst"
        assert (one.causes[0], one.cost) == ("sync", 20)
        assert one.error == (0 if isinstance(labels, list) else 1)


def test_every_cause_that_labels_have_is_one_of_findings() -> None:
    """A cause that no rule has can never be right."""
    rules = ROOT / "src" / "advice" / "rules"
    sources = "\n".join(one.read_text() for one in sorted(rules.glob("*.cpp")))
    labels = labelled.labels_of(ROOT / "tests" / "fixtures" / "faults")
    for name, label in labels.items():
        right = labelled.right_causes(label)
        assert not right or any(f'"{cause}"' in sources for cause in right), name
