"""A source file over 500 lines is split by noun.

tools/check_sizes.py [ROOT]
"""

import sys
from pathlib import Path

from sources import CPP, ROOT, SCRIPTS, project_files, report, with_suffix

LIMIT = 500

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


def check(root: Path, ratchet: dict[str, int] = RATCHET) -> list[str]:
    """Every problem below root."""
    problems = []
    for path in with_suffix(project_files(root), CPP + SCRIPTS):
        lines = (root / path).read_bytes().count(b"\n")
        if problem := size_problem(path, lines, ratchet):
            problems.append(problem)
    return problems


if __name__ == "__main__":
    sys.exit(report("sizes", check(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)))
