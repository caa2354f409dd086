"""What a build fetches has a version and a hash: tools/check_pins.py says where one is missing."""

import json
import re
from pathlib import Path

import check_pins
import pytest
from program import ROOT

HASH = f"--hash=sha256:{'0a' * 32}"
LOCKED = {"node_modules/a": {"version": "1.0.0", "integrity": f"sha512-{'A' * 86}=="}}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project in which everything is pinned."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "web").mkdir()
    (tmp_path / "tools/requirements.in").write_text("# Why.\nOne_two==1.0\nthree\n")
    (tmp_path / "tools/requirements.txt").write_text(
        f"# Written.\none-two==1.0 \\\n    {HASH} \\\n    {HASH}\n"
        f"three==3 ; python_version < '4' \\\n    {HASH}\n"
    )
    (tmp_path / "pyproject.toml").write_text('[build-system]\nrequires = ["one.two==1.0"]\n')
    (tmp_path / "web/package.json").write_text('{"dependencies": {"a": "1.0.0"}}')
    (tmp_path / "web/package-lock.json").write_text(
        json.dumps({"packages": {"": {"name": "page"}, **LOCKED}})
    )
    return tmp_path


def test_a_pinned_project_has_no_problem(tree: Path) -> None:
    assert check_pins.check(tree) == []


def test_the_benchmark_of_snapshots_reads_the_torch_of_the_list() -> None:
    (torch,) = re.findall(r'"(torch==.*)"', (ROOT / "bench/torch_memory_viz.py").read_text())
    assert f"\n{torch} " in (ROOT / "tools/requirements-training.txt").read_text()


def test_this_project_is_pinned() -> None:
    assert check_pins.check(ROOT) == []
    assert len(list((ROOT / "tools").glob("requirements*.txt"))) == 5


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("tools/requirements.txt", "three==3", "three>=3", "requirements.txt:5: not NAME==VERSION"),
        ("tools/requirements.txt", "three==3", "three", "requirements.txt:5: not NAME==VERSION"),
        ("tools/requirements.txt", f" \\\n    {HASH}\nth", "\nth", None),
        (
            "tools/requirements.txt",
            f" \\\n    {HASH} \\\n    {HASH}",
            "",
            ":2: one-two has no hash",
        ),
        ("tools/requirements.txt", "0a0a", "0a", "not NAME==VERSION"),
        (
            "tools/requirements.in",
            "==1.0",
            "==1.1",
            "requirements.in:2: One_two is 1.0 in the list",
        ),
        ("tools/requirements.in", "three", "four", "requirements.in:3: four is not in the list"),
        ("pyproject.toml", "==1.0", ">=1.0", "pyproject.toml: build-system: not NAME==VERSION"),
        ("pyproject.toml", "==1.0", "", "pyproject.toml: build-system: not NAME==VERSION"),
        ("pyproject.toml", "==1.0", "==2.0", "pyproject.toml: build-system: one.two is 1.0"),
        ("web/package.json", "1.0.0", "^1.0.0", "web/package.json: a: not one version"),
        (
            "web/package-lock.json",
            "sha512-",
            "sha1-",
            "package-lock.json: node_modules/a has no sha512",
        ),
    ],
)
def test_what_is_not_pinned_is_found(
    tree: Path, name: str, old: str, new: str, problem: str | None
) -> None:
    text = (tree / name).read_text()
    assert old in text
    (tree / name).write_text(text.replace(old, new, 1))
    found = check_pins.check(tree)
    if problem is None:  # one hash of two is enough
        assert found == []
    else:
        assert any(problem in line for line in found), found
