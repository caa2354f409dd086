"""What is printed is short, and names that were cut still differ from each other."""

import json
from pathlib import Path

import pytest
from program import ROOT, Program

SAMPLES = ROOT / "examples" / "data"
RECORDED = ROOT / "tests" / "fixtures" / "faults"
MOST_LINES = 60

# `samples` and `corpus` may not be there: what is in the repository always is.
TRACES = [
    *sorted(RECORDED.glob("*.json.gz")),
    *sorted(SAMPLES.glob("gpt*.json.gz")),
    SAMPLES / "ddp",
    SAMPLES / "run",
]


def further(corpus: Path) -> list[Path]:
    return sorted(
        path
        for folder in ("h200", "hta", "kineto", "planted", "tracelens")
        for path in (corpus / folder).glob("*.json.gz")
        if path.stat().st_size < 3_000_000
    )


def assert_brief(program: Program, path: Path) -> None:
    for width in ("80", "120"):
        done = program.run("report", "--brief", "--width", width, path)
        assert done.exit_status in (0, 4), (path, done.stderr)
        text = done.stdout.decode()
        assert 10 < len(text.splitlines()) <= MOST_LINES, (path, width)
        assert "What to look at next" in text, path
        assert "Findings" in text, path


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
def test_the_report_after_a_run_is_short(path: Path, program: Program) -> None:
    assert_brief(program, path)


def test_the_report_after_any_run_is_short(corpus: Path, program: Program) -> None:
    for path in further(corpus):
        assert_brief(program, path)


def assert_names_differ(program: Program, path: Path) -> None:
    asked = ("analyze", "kernels", "--table", "kernels", "--columns", "name,count", path)
    whole = program.run(*asked, "--format", "json", "--top", "50")
    assert whole.exit_status in (0, 4), (path, whole.stderr)
    rows = json.loads(whole.stdout)["tables"]["kernels"]
    names = [row["name"] for row in rows if row["name"] is not None]
    for width in ("40", "60", "80", "120"):
        text = program.run(*asked, "--top", "50", "--width", width).stdout.decode()
        lines = text.partition("· a row is")[2].splitlines()
        shown = [line.strip().rsplit("  ", 1)[0].strip() for line in lines if line[:2] == "  "]
        begin = shown.index("name") + 1 if "name" in shown else 0
        texts = [each for each in shown[begin:] if not each.startswith(("(", "…"))][: len(names)]
        assert len(texts) >= min(len(names), 40), (path, width, text)
        first = names[: len(texts)]
        assert len(set(zip(first, texts, strict=True))) == len(set(first)), (path, width)
        assert len(set(texts)) == len(set(first)), (path, width)


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
def test_different_kernels_have_different_names(path: Path, program: Program) -> None:
    assert_names_differ(program, path)


def test_different_kernels_of_all_have_different_names(corpus: Path, program: Program) -> None:
    for path in further(corpus):
        assert_names_differ(program, path)
