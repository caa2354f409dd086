"""Plain words: counts those that readers stumble over, and finds lines of prose that are too long.

    tools/check_words.py            prints the counts by folder; fails above the limit

Counted are whole words, in any case, in sources and docs. Golden files, samples and other data are
not: they hold what programs print, which the sources are counted for.
"""

import re
import sys
from collections import Counter
from pathlib import Path

from check_docs import DATA, FENCE
from sources import ROOT, project_files, report, with_suffix

WORDS = ("told", "behind", "nobody", "somebody")
MOST_WORDS = 150
LONGEST_LINE = 200

CODE = ("src", "include", "python", "web", "tests", "tools", "bench", "cmake")
FOLDERS = (*CODE, "examples", "docs")
SUFFIXES = (".cpp", ".h", ".py", ".pyi", ".sh", ".ts", ".tsx", ".css", ".mjs", ".md", ".cmake")
NAMES = ("Makefile", "CMakeLists.txt")

WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


def counted(files: list[Path]) -> list[Path]:
    """The files in which words count: sources and docs, but not this script, which names them."""
    return [
        path
        for path in files
        if (path.suffix in SUFFIXES or path.name in NAMES)
        and (len(path.parts) == 1 or path.parts[0] in FOLDERS)
        and not path.as_posix().startswith(DATA)
        and path.name not in ("check_words.py", "test_check_words.py")
    ]


def words_by_folder(files: list[Path], root: Path) -> Counter[str]:
    """How many of the words stand in each folder at the top; files outside of any are one."""
    counts: Counter[str] = Counter()
    for path in counted(files):
        folder = path.parts[0] if len(path.parts) > 1 else "."
        counts[folder] += len(WORD.findall((root / path).read_text(encoding="utf-8")))
    return counts


def long_lines(page: Path, root: Path) -> list[str]:
    """The lines of prose of a page that are too long: not tables, not fenced blocks."""
    problems = []
    fence = ""
    for number, line in enumerate((root / page).read_text(encoding="utf-8").splitlines(), 1):
        match = FENCE.match(line.strip())
        if match and not fence:
            fence = match[1]
        elif fence:
            fence = "" if line.strip() == fence else fence
        elif len(line) > LONGEST_LINE and not line.lstrip().startswith("|"):
            problems.append(f"{page}:{number}: {len(line)} characters; break it at {LONGEST_LINE}")
    return problems


def check(root: Path, most: int = MOST_WORDS) -> list[str]:
    """Every problem below root; prints the counts."""
    files = project_files(root)
    problems = []
    for page in with_suffix(files, (".md",)):
        if not page.as_posix().startswith(DATA):
            problems += long_lines(page, root)
    counts = words_by_folder(files, root)
    shown = ", ".join(f"{folder} {count}" for folder, count in counts.most_common() if count)
    print(f"words: {counts.total()} of {', '.join(WORDS)} (at most {most}): {shown or 'none'}")
    if counts.total() > most:
        problems.append(f"{counts.total()} words that readers stumble over; at most {most}")
    return problems


if __name__ == "__main__":
    sys.exit(report("words", check(ROOT)))
