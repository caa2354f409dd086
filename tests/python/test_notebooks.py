"""The notebooks run from top to bottom as Jupyter runs them, offline."""

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from program import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


@pytest.fixture
def quiet_jupyter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Finds the package; leaves nothing in anybody's home."""
    monkeypatch.setenv("PYTHONPATH", os.fspath(ROOT / "python"))
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, os.fspath(tmp_path / name))


def shown(notebook: Any) -> list[dict[str, Any]]:
    """What the cells show, by kind of content."""
    outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    return [output["data"] for output in outputs if "data" in output]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, quiet_jupyter: None) -> None:
    notebook = nbformat.reads(path.read_text(), as_version=4)  # type: ignore[no-untyped-call]
    assert shown(notebook) == [], "notebooks are kept without output"
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": path.parent}})
    client.execute()
    pages = [data["text/html"] for data in shown(notebook) if "text/html" in data]
    assert any("<svg" in page for page in pages), "no chart was shown"
    assert not any(
        "http://" in p.replace("http://www.w3.org", "") or "https://" in p for p in pages
    )


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["distributed_run", "first_look", "memory"]
