"""What the package holds of others is listed, and each licence has its text (tools/sbom.py)."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import sbom
from program import ROOT

PAGE = f"""{sbom.RULE}
@font/a 5.3.0, OFL-1.1

The text of a.
-------------
More of it, with a rule that is shorter.

{sbom.RULE}
b 1.0.0, MIT

The text of b.
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "licenses.txt").write_text(PAGE)
    return folder


def listed(out: Path) -> list[dict[str, Any]]:
    document = json.loads((out / "sboms" / "stepscope.cdx.json").read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    components: list[dict[str, Any]] = document["components"]
    (root,) = document["dependencies"]
    assert root["ref"] == document["metadata"]["component"]["bom-ref"]
    assert root["dependsOn"] == [each["bom-ref"] for each in components]
    return components


def test_every_library_that_is_linked_is_listed_with_its_licence(tmp_path: Path) -> None:
    sbom.write(tmp_path, None)
    components = listed(tmp_path)
    names = {each["name"] for each in components}
    linked = {each.name for each in sbom.LIBRARIES if each.target in sbom.linked_targets(ROOT)}
    assert names == linked | {"nanobind", "robin-map"}
    assert len({each["bom-ref"] for each in components}) == len(components)
    for each in components:
        assert each["purl"].startswith("pkg:")
        text = (tmp_path / each["properties"][0]["value"]).read_text()
        assert len(text) > 500, each["name"]


def test_no_library_is_listed_that_nothing_links() -> None:
    assert {each.target for each in sbom.LIBRARIES} == sbom.linked_targets(ROOT)
    assert {path.name for path in (ROOT / "licenses").iterdir()} == {
        *(each.text for each in sbom.LIBRARIES),
        "robin-map.txt",
    }


def test_packages_of_the_page_are_those_that_it_names(tmp_path: Path, page: Path) -> None:
    sbom.write(tmp_path, page)
    of_page = [each for each in listed(tmp_path) if each["purl"].startswith("pkg:npm/")]
    assert [(each["name"], each["version"], each["purl"]) for each in of_page] == [
        ("@font/a", "5.3.0", "pkg:npm/%40font/a@5.3.0"),
        ("b", "1.0.0", "pkg:npm/b@1.0.0"),
    ]
    assert (tmp_path / "licenses" / "page.txt").read_text() == PAGE


def failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> str:
    monkeypatch.setattr(sys, "argv", ["sbom.py", *words])
    assert sbom.main() == 1
    return capsys.readouterr().err


def test_a_page_without_licences_is_an_error(
    tmp_path: Path, page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--out", str(tmp_path), "--page", str(page))
    (page / "licenses.txt").write_text("")
    assert "the list of licences is empty" in failure(monkeypatch, capsys, *words)
    (page / "licenses.txt").unlink()
    assert "the page has no list of licences" in failure(monkeypatch, capsys, *words)


def test_a_licence_without_a_text_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = sbom.Library("lost", "fmt::fmt", "no/such/header.h", "", "MIT", "lost.txt")
    monkeypatch.setattr(sbom, "LIBRARIES", (*sbom.LIBRARIES, lost))
    assert "lost: no licence text" in failure(monkeypatch, capsys, "--out", str(tmp_path))


def test_a_linked_library_that_is_unknown_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    less = tuple(each for each in sbom.LIBRARIES if each.name != "fmt")
    monkeypatch.setattr(sbom, "LIBRARIES", less)
    assert "fmt::fmt: linked, and not in sbom.py" in failure(
        monkeypatch, capsys, "--out", str(tmp_path)
    )


def test_where_debian_is_not_the_texts_of_the_repository_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sbom, "installed_path", lambda name: None)
    sbom.write(tmp_path, None)
    for each in sbom.LIBRARIES:
        text = (tmp_path / "licenses" / each.text).read_text()
        assert text == (ROOT / "licenses" / each.text).read_text()
    purls = {each["purl"].split("@")[0] for each in listed(tmp_path)}
    assert "pkg:generic/boost" in purls
