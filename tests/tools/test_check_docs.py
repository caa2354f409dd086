"""The docs check can fail, and says where."""

from pathlib import Path

import check_docs
import pytest

BLOCK = "<!-- verified{kind} -->\n```console\n$ {command}\n{output}```\n"


def page(root: Path, text: str, name: str = "docs/page.md") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("see [x](missing.md)", "docs/page.md:1: there is no missing.md"),
        ("# Title\n\n[x](#other)", "docs/page.md:3: no heading #other"),
        ("FIX" + "ME later", "finish it"),
        ("in /ro" + "ot/data", "one machine"),
        (BLOCK.format(kind="", command="echo new", output="old\n"), "`echo new` now prints:\nnew"),
        (BLOCK.format(kind="", command="echo 3 ms", output="4 ms\n"), "now prints"),
        (
            BLOCK.format(kind=": timings vary", command="echo 3 ms 7", output="4 ms 8\n"),
            "now prints",
        ),
    ],
)
def test_docs(tmp_path: Path, text: str, problem: str) -> None:
    page(tmp_path, text)
    (found,) = check_docs.check(tmp_path)
    assert problem in found


def test_every_page_is_linked(tmp_path: Path) -> None:
    page(tmp_path, "[a](docs/a.md#a)", "README.md")
    page(tmp_path, "# a\n[b](../docs/b.md)", "docs/a.md")
    page(tmp_path, "", "docs/b.md")
    page(tmp_path, "[itself](c.md)", "docs/c.md")
    page(tmp_path, "", "src/README.md")
    (problem,) = check_docs.check(tmp_path)
    assert problem.startswith("docs/c.md: no link leads here")


def test_true_docs_pass(tmp_path: Path) -> None:
    page(
        tmp_path,
        "# A title, in words\n[a](other.md) [b](#a-title-in-words) [c](https://example.org)\n"
        "`[not](a-link)`\n```\n[nor](this)\n```\n"
        + BLOCK.format(kind="", command="echo one; echo two >&2", output="one\ntwo\n")
        + BLOCK.format(
            kind=": timings vary", command="echo '1.5 GB/s in  12 ms'", output="2 GB/s in 1 s\n"
        ),
    )
    page(tmp_path, "", "docs/other.md")
    page(tmp_path, "/ro" + "ot/x", "examples/data/trace.json")
    assert check_docs.check(tmp_path) == []


def test_readme_is_short(tmp_path: Path) -> None:
    page(tmp_path, "x\n" * 121, "README.md")
    assert check_docs.check(tmp_path) == ["README.md: 121 lines; it has at most 120"]


def test_update_writes_the_real_output(tmp_path: Path) -> None:
    two = "<!-- verified -->\n```console\n$ echo a\nold\n$ printf 'b\\nc\\n'\n```\nafter\n"
    page(tmp_path, two)
    assert check_docs.check(tmp_path, update=True) == []
    assert check_docs.check(tmp_path) == []
    shown = (tmp_path / "docs/page.md").read_text()
    assert "$ echo a\na\n$ printf 'b\\nc\\n'\nb\nc\n```\nafter\n" in shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("loaded in 1.25 s", "loaded in <time>"),
        ("187 MB at 1.10 GB/s", "<size> at <rate>"),
        ("3 steps, 12 kernels", "3 steps, 12 kernels"),
    ],
)
def test_normaliser(text: str, expected: str) -> None:
    assert check_docs.normalised(text) == expected
