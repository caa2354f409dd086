"""clang-tidy is asked again when anything it would see has changed, and its rules have teeth."""

import json
import shutil
import subprocess
from pathlib import Path

import headers
import pytest
import tidy
from program import ROOT


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "a.h").write_text('#include "base/b.h"\n')
    (tmp_path / "base" / "b.h").write_text('#include "base/a.h"\n')
    (tmp_path / "base" / "other.h").write_text("")
    (tmp_path / "base" / "a.cpp").write_text('#include <vector>\n#include "base/a.h"\n')
    return tmp_path


def fingerprint(tree: Path, command: str = "c++", settings: bytes = b"") -> str:
    return tidy.fingerprint(tree / "base" / "a.cpp", command, settings, tree, tree)


def test_headers_are_reached_through_headers(tree: Path) -> None:
    reached = headers.reached_headers(tree / "base" / "a.cpp", tree)
    assert [path.name for path in reached] == ["a.h", "b.h"]


@pytest.mark.parametrize("name", ["a.cpp", "a.h", "b.h"])
def test_a_change_in_what_is_reached_counts(tree: Path, name: str) -> None:
    before = fingerprint(tree)
    with (tree / "base" / name).open("a") as file:
        file.write("int x;\n")
    assert fingerprint(tree) != before


def test_other_changes_count_only_where_they_matter(tree: Path) -> None:
    before = fingerprint(tree)
    (tree / "base" / "other.h").write_text("int x;\n")
    assert fingerprint(tree) == before
    assert fingerprint(tree, command="c++ -O3") != before
    assert fingerprint(tree, settings=b"new") != before


def test_the_same_tree_elsewhere_is_the_same(
    tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other") / "tree"
    shutil.copytree(tree, other)
    assert fingerprint(other, f"c++ -I{other}/base") == fingerprint(tree, f"c++ -I{tree}/base")


def test_every_file_is_read_without_the_common_headers(tmp_path: Path) -> None:
    source = next((ROOT / "src" / "base").glob("*.cpp"))
    common = "-fpch-preprocess -Wno-restrict -Winvalid-pch -include /x/cmake_pch.hxx"
    command = f"c++ -O3 {common} -c {source}"
    entry = {"directory": str(tmp_path), "command": command, "file": str(source)}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    assert tidy.compile_commands(tmp_path) == {source: f"c++ -O3 -c {source}"}
    copy = tidy.plain_commands(tmp_path) / "compile_commands.json"
    assert json.loads(copy.read_text())[0]["command"] == f"c++ -O3 -c {source}"


def test_the_record_names_what_passed(tmp_path: Path) -> None:
    record = tmp_path / "passed.txt"
    assert tidy.recorded_passes(record) == set()
    record.write_text("0a base/a.cpp\n0b base/b.cpp\n")
    assert tidy.recorded_passes(record) == {"0a", "0b"}


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
