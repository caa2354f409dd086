"""The core rules: what the rooms below cli, server, python and capture never do.

    tools/check_core.py [ROOT]

They do not print, exit, throw, read the environment or look at the wall clock; the rooms at the
edge do that for them. A line that must break a rule says why in `// core: <reason>`. Tests
(`*_test.cpp`) and what they share (`*_for_tests.h`) are free.
"""

import re
import sys
from pathlib import Path

from sources import CPP, ROOT, project_files, report, with_suffix

EDGE = {"cli", "server", "capture", "python"}

RULES: dict[str, re.Pattern[str]] = {
    "prints": re.compile(
        r"\bstd::(cout|cerr|clog)\b|(?<![\w:])(std::)?(printf|fprintf|puts|fputs|perror)\s*\("
        r"|\bfmt::print(ln)?\s*\("
    ),
    "ends the process": re.compile(
        r"(?<![\w:.>])(std::)?(exit|_Exit|_exit|quick_exit|abort|terminate)\s*\("
    ),
    # Memory that runs out is the one exception, as in the standard library's containers.
    "throws": re.compile(r"\bthrow\b(?!\s+std::bad_alloc\b)"),
    "reads the environment": re.compile(r"(?<![\w.>])(std::)?(secure_)?getenv\s*\("),
    "reads the wall clock": re.compile(
        r"\bsystem_clock::now\b|(?<![\w.>:])(std::)?time\s*\(\s*(nullptr|NULL|0)"
    ),
}

LITERAL = re.compile(r'"(?:\\.|[^"\\])*"')


def core_problems(path: Path, text: str) -> list[str]:
    """The lines of one file that break a core rule."""
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        if "// core: " in line:
            continue
        code = LITERAL.sub('""', line).split("//")[0]
        problems += [
            f"{path}:{number}: {path.parts[1]} {rule}: {line.strip()}"
            for rule, pattern in RULES.items()
            if pattern.search(code)
        ]
    return problems


def check(root: Path) -> list[str]:
    """Every problem below root."""
    problems = []
    for path in with_suffix(project_files(root), CPP):
        is_core = path.parts[0] == "src" and path.parts[1] not in EDGE
        if is_core and not path.stem.endswith(("_test", "_for_tests")):
            problems += core_problems(path, (root / path).read_text(encoding="utf-8"))
    return problems


if __name__ == "__main__":
    sys.exit(report("core rules", check(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)))
