"""The check of words counts what it says, and can fail."""

from pathlib import Path

import check_words
import pytest
from sources import project_files

LONG = "word " * 41  # 205 characters


def plant(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_whole_words_count_in_sources_and_docs(tmp_path: Path) -> None:
    plant(tmp_path, "src/base/a.cpp", "// Nobody is told; toldness is not.\n")
    plant(tmp_path, "docs/page.md", "behind, Behind\n")
    plant(tmp_path, "Makefile", "# somebody\n")
    plant(tmp_path, "tests/golden/a.md", "told\n")
    plant(tmp_path, "examples/data/a.py", "told\n")
    plant(tmp_path, "docs/picture.svg", "told\n")
    files = project_files(tmp_path)
    assert check_words.words_by_folder(files, tmp_path) == {"src": 2, "docs": 2, ".": 1}


def test_too_many_words_are_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path, "src/a.cpp", "// told behind\n")
    assert check_words.check(tmp_path, most=2) == []
    (problem,) = check_words.check(tmp_path, most=1)
    assert problem.startswith("2 words")
    assert "src 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (LONG, ["docs/page.md:1: 205 characters; break it at 200"]),
        (f"Short.\n\n- {LONG}", ["docs/page.md:3: 207 characters; break it at 200"]),
        (f"    {LONG}", ["docs/page.md:1: 209 characters; break it at 200"]),
        (f"| {LONG} |", []),
        (f"```\n{LONG}\n```\n", []),
        (f"```\nx\n```\n{LONG}", ["docs/page.md:4: 205 characters; break it at 200"]),
    ],
)
def test_long_lines_of_prose(tmp_path: Path, text: str, problems: list[str]) -> None:
    plant(tmp_path, "docs/page.md", text)
    assert check_words.check(tmp_path) == problems
