"""Which sources are compiled together: none that would see a name of another twice."""

from pathlib import Path

import pytest
import unity
from unity import groups

HEAD = "namespace stepscope {\nnamespace {\n"
FOOT = "}  // namespace\n}  // namespace stepscope\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(unity, "SOURCES", tmp_path)
    unity.public_names.cache_clear()
    return tmp_path


def grouped(folder: Path, **sources: str) -> list[list[str]]:
    """The groups of the sources, by their names."""
    for name, text in sources.items():
        (folder / f"{name}.cpp").write_text(text)
    made = groups([str(folder / f"{name}.cpp") for name in sources])
    return [[Path(path).stem for path in group] for group in made]


def private(line: str) -> str:
    return HEAD + line + "\n" + FOOT


def test_files_that_share_no_name_are_one_group(folder: Path) -> None:
    one, other = private("int a() { return 1; }"), private("int b() { return 1; }")
    assert grouped(folder, one=one, other=other) == [["one", "other"]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("int a(int x) {", "double a() {"),
        ("constexpr int kMost = 3;", "constexpr std::size_t kMost{4};"),
        ("struct Row {", "using Row = int;"),
        ("const Rule* rule(int x) {", "Rule& rule = other;"),
        ("TEST(Rows, AreRead) {", "TEST(Rows, AreRead) {"),
    ],
)
def test_a_private_name_is_of_one_file_of_a_group(folder: Path, one: str, other: str) -> None:
    assert grouped(folder, one=private(one), other=private(other)) == []


def test_a_private_name_is_none_that_a_neighbour_includes(folder: Path) -> None:
    (folder / "place.h").write_text("namespace stepscope {\nstruct Place {\n};\n}\n")
    uses, has = '#include "place.h"\n', private("enum class Place {")
    assert grouped(folder, uses=uses, has=has) == []
    assert grouped(folder, has=has, uses=uses) == []
    assert grouped(folder, uses=uses, other=private("int b = 1;")) == [["other", "uses"]]


def test_a_file_with_a_macro_stays_alone(folder: Path) -> None:
    assert grouped(folder, one="#define A 1\n", other="", third="") == [["other", "third"]]


def test_groups_stay_small(folder: Path) -> None:
    names = [f"f{i:02}" for i in range(2 * unity.MOST_FILES)]
    made = grouped(folder, **dict.fromkeys(names, "int x;\n"))
    assert [len(group) for group in made] == [unity.MOST_FILES] * 2
    long = "\n" * (unity.MOST_LINES // 2 + 1)
    assert grouped(folder, one=long, other=long) == []


def test_the_groups_are_written_only_when_they_change(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "other"):
        (folder / f"{name}.cpp").write_text(private(f"int {name}_name = 1;"))
    (folder / "unity").mkdir()
    files = f"{folder}/one.cpp {folder}/other.cpp"
    (folder / "unity" / "targets.txt").write_text(f"room {files} {folder}/gone.cpp\n")
    monkeypatch.setattr("sys.argv", ["unity.py", str(folder)])
    unity.main()
    written = folder / "unity" / "groups.cmake"
    assert written.read_text() == (
        f"set_source_files_properties({files} PROPERTIES UNITY_GROUP room_0)\n"
    )
    before = written.stat().st_mtime_ns
    unity.main()
    assert written.stat().st_mtime_ns == before
    (folder / "other.cpp").write_text(private("int one_name = 1;"))
    unity.main()
    assert written.read_text() == "\n"
