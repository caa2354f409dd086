"""Findings as SARIF, which code-review tools read: what the standard asks, and where they are."""

import json
import re
from pathlib import Path

import pytest
from program import Program


def test_sarif_names_the_lines(samples: Path, program: Program) -> None:
    path = samples / "gpt_stack.json.gz"
    sarif = json.loads(program.run("advise", "--sarif", path).stdout)
    assert sarif["version"] == "2.1.0"
    (run,) = sarif["runs"]
    findings = json.loads(program.run("advise", "--json", path).stdout)["findings"]
    assert [one["ruleId"] for one in run["results"]] == [one["rule"] for one in findings]
    known = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {one["ruleId"] for one in run["results"]} <= known
    loading = next(one for one in run["results"] if one["ruleId"] == "input-bound")
    assert all(one["locations"] for one in run["results"])  # code-review tools refuse the others
    place = loading["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "gen.py"}, "region": {"startLine": 47}}
    for result, finding in zip(run["results"], findings, strict=True):
        for change in finding["changes"]:  # a reviewer has nothing but the message
            assert change["why"] in result["message"]["text"]
            assert change["code"] in result["message"]["text"]
        assert finding["verify"] in result["message"]["text"]


# What SARIF 2.1.0 asks of the parts that are written.
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {"type": "object", "required": ["id"]},
                                    }
                                },
                            }
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["message", "locations"],
                            "properties": {
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {
                                    "type": "object",
                                    "required": ["text"],
                                    "properties": {"text": {"type": "string", "minLength": 1}},
                                },
                                "locations": {
                                    "type": "array",
                                    "minItems": 1,
                                    "items": {
                                        "type": "object",
                                        "required": ["physicalLocation"],
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}


@pytest.mark.parametrize("sample", ["gpt_stack.json.gz", "ddp", "snap_gpt_leak.pickle.gz"])
def test_sarif_is_what_the_standard_asks_for(sample: str, samples: Path, program: Program) -> None:
    import jsonschema

    sarif = json.loads(program.run("advise", "--sarif", samples / sample).stdout)
    jsonschema.validate(sarif, SARIF)
    for result in sarif["runs"][0]["results"]:
        for location in result["locations"]:
            place = location["physicalLocation"]
            assert place["region"]["startLine"] >= 1
            uri = place["artifactLocation"]["uri"]
            assert re.fullmatch(r"(file://)?[A-Za-z0-9._~/%-]+", uri)


def test_sarif_without_stacks_names_the_recording(
    corpus: Path, program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As code-review tools find it: from the working folder, where it lies below that."""
    corpus = corpus.resolve()

    def places(path: Path | str) -> set[str]:
        sarif = json.loads(program.run("advise", "--sarif", path).stdout)
        (run,) = sarif["runs"]
        assert run["results"]
        return {
            location["physicalLocation"]["artifactLocation"]["uri"]
            for result in run["results"]
            for location in result["locations"]
        }

    file = corpus / "planted" / "gpt__host_sync.json.gz"
    monkeypatch.chdir(corpus)
    assert places(file) == {"planted/gpt__host_sync.json.gz"}
    assert places("./planted/gpt__host_sync.json.gz") == {"planted/gpt__host_sync.json.gz"}
    linked = tmp_path / "linked"
    linked.symlink_to(corpus)
    linked_file = linked / "planted" / file.name
    assert places(linked_file) == {"planted/gpt__host_sync.json.gz"}
    monkeypatch.chdir(Path(__file__).parent)
    assert places(linked_file) == {linked_file.as_uri()}
    assert places(file) == {file.as_uri()}
