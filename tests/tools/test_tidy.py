"""clang-tidy reads what changed, and its rules have teeth."""

import json
import subprocess
from pathlib import Path

import pytest
import tidy
from program import ROOT


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository whose main is at origin, and a branch of one commit."""
    folder = tmp_path / "src" / "base"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / f"{name}.h").write_text("")
        (folder / f"{name}.cpp").write_text(f'#include "base/{name}.h"\n')
    (folder / "only.h").write_text("")
    (folder / "c.cpp").write_text('#include "base/only.h"\n')
    git(tmp_path, "init", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "one")
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(tmp_path, "switch", "-c", "branch")
    with (folder / "a.cpp").open("a") as file:
        file.write("int a;\n")
    git(tmp_path, "commit", "-am", "two")
    return tmp_path


def names(tree: Path) -> list[str]:
    base = tidy.base_commit(tree)
    assert base is not None
    sources = sorted((tree / "src" / "base").glob("*.cpp"))
    changed = tidy.changed_files(base, tree)
    return [path.name for path in tidy.sources_to_read(changed, sources, tree)]


def test_what_a_branch_changed_is_read(tree: Path) -> None:
    assert names(tree) == ["a.cpp"]


def test_what_is_not_committed_is_read_too(tree: Path) -> None:
    (tree / "src" / "base" / "b.cpp").write_text("int b;\n")
    (tree / "src" / "base" / "new.cpp").write_text("int c;\n")
    (tree / "src" / "base" / "text.md").write_text("")
    assert names(tree) == ["a.cpp", "b.cpp", "new.cpp"]


def test_a_header_is_read_with_a_source_that_includes_it(tree: Path) -> None:
    (tree / "src" / "base" / "b.h").write_text("int b;\n")
    (tree / "src" / "base" / "only.h").write_text("int c;\n")
    assert names(tree) == ["a.cpp", "b.cpp", "c.cpp"]


def test_on_main_it_is_the_latest_commit(tree: Path) -> None:
    git(tree, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert names(tree) == ["a.cpp"]


def test_without_an_earlier_commit_there_is_nothing_to_compare_with(tree: Path) -> None:
    git(tree, "switch", "main")
    assert tidy.base_commit(tree) is None


def test_every_file_is_read_without_the_common_headers(tmp_path: Path) -> None:
    source = next((ROOT / "src" / "base").glob("*.cpp"))
    common = "-fpch-preprocess -Wno-restrict -Winvalid-pch -include /x/cmake_pch.hxx"
    command = f"c++ -O3 {common} -c {source}"
    entry = {"directory": str(tmp_path), "command": command, "file": str(source)}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    assert tidy.compile_commands(tmp_path) == {source: f"c++ -O3 -c {source}"}
    copy = tidy.plain_commands(tmp_path) / "compile_commands.json"
    assert json.loads(copy.read_text())[0]["command"] == f"c++ -O3 -c {source}"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("struct bad_name {};", "struct 'bad_name'"),
        ("int BadFunction();", "function 'BadFunction'"),
        ("class Thing { int value = 0; };", "private member 'value'"),
        ("constexpr int limit = 3;", "constexpr variable 'limit'"),
        ("enum class Kind { Red };", "enum constant 'Red'"),
        ("inline int f(int* p) { return sizeof(p) / sizeof(*p); }", "bugprone-sizeof-expression"),
    ],
)
def test_rules_have_teeth(tmp_path: Path, line: str, complaint: str) -> None:
    source = tmp_path / "a.cpp"
    source.write_text(f"{line}\n")
    config = f"--config-file={ROOT / '.clang-tidy'}"
    done = subprocess.run(
        [tidy.CLANG_TIDY, "--quiet", config, source, "--", "-std=c++20"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert complaint in done.stdout
