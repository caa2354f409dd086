"""A source file over 700 lines is split by noun, and so is a folder of more files than one can see.

tools/check_sizes.py [ROOT]
"""

import sys
from collections import Counter
from pathlib import Path

from sources import CPP, ROOT, SCRIPTS, project_files, report, with_suffix

LIMIT = 700

# Of one folder, without those below it. Tests stand side by side and are found by name.
MOST_FILES = 70
SEARCHED = ("src", "python", "web")

# Debt: file -> lines it may have. Numbers only fall, and a file that fits loses its row.
RATCHET: dict[str, int] = {}


def size_problem(path: Path, lines: int, ratchet: dict[str, int]) -> str | None:
    """What is wrong with a file of that many lines, if anything."""
    allowed = ratchet.get(path.as_posix())
    if allowed is None:
        if lines > LIMIT:
            return f"{path}: {lines} lines; a file has at most {LIMIT}"
    elif lines <= LIMIT:
        return f"{path}: fits now; remove its row from the ratchet"
    elif lines > allowed:
        return f"{path}: {lines} lines; the ratchet allows {allowed}"
    return None


def folder_problems(paths: list[Path]) -> list[str]:
    """Folders that hold too many of these files."""
    counts = Counter(path.parent for path in paths if path.parts[0] in SEARCHED)
    return [
        f"{folder}: {count} files; a folder has at most {MOST_FILES}"
        for folder, count in sorted(counts.items())
        if count > MOST_FILES
    ]


def check(root: Path, ratchet: dict[str, int] = RATCHET) -> list[str]:
    """Every problem below root."""
    paths = with_suffix(project_files(root), CPP + SCRIPTS)
    problems = folder_problems(paths)
    for path in paths:
        lines = (root / path).read_bytes().count(b"\n")
        if problem := size_problem(path, lines, ratchet):
            problems.append(problem)
    return problems


if __name__ == "__main__":
    sys.exit(report("sizes", check(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)))
