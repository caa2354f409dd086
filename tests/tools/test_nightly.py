"""`make nightly` runs each part once for a commit, and says which failed."""

import subprocess
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest
from program import ROOT


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def nightly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script in a repository of its own, with two parts that count how often they ran."""
    loader = SourceFileLoader("nightly", str(ROOT / "tools" / "nightly"))
    spec = spec_from_loader("nightly", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    root = tmp_path / "repository"
    root.mkdir()
    (root / ".gitignore").write_text("build\n")
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", "one")
    count = tmp_path / "count"
    monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.setattr(module, "FOLDER", root / "build" / "nightly")
    parts = {
        "good": ("passes", f"echo good >> {count}"),
        "bad": ("fails", f"echo bad >> {count}; echo because; false; true"),
    }
    monkeypatch.setattr(module, "PARTS", parts)
    return module


def run(nightly: ModuleType, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["nightly", *words])
    status: int = nightly.main()
    return status


def ran(tmp_path: Path) -> list[str]:
    return (tmp_path / "count").read_text().split()


def test_what_passed_for_this_commit_is_not_run_again(
    nightly: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(nightly, monkeypatch) == 1
    shown = capsys.readouterr().out
    assert "bad          0:00  FAILED" in shown
    assert "  | because" in shown
    assert "2 parts, 1 failed" in shown
    assert run(nightly, monkeypatch) == 1
    assert "good         0:00  passed before" in capsys.readouterr().out
    assert ran(tmp_path) == ["good", "bad", "bad"]
    git(nightly.ROOT, "commit", "--allow-empty", "-m", "two")
    assert run(nightly, monkeypatch, "good") == 0
    assert ran(tmp_path) == ["good", "bad", "bad", "good"]


def test_with_changes_nothing_is_remembered(
    nightly: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (nightly.ROOT / "new").write_text("")
    assert run(nightly, monkeypatch, "good") == 0
    assert run(nightly, monkeypatch, "good") == 0
    assert ran(tmp_path) == ["good", "good"]


def test_a_part_that_is_not_there_is_named(
    nightly: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(nightly, monkeypatch, "tsan")
    assert "no part is called tsan" in capsys.readouterr().err
