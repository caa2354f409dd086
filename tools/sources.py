"""The files of the project, as git sees them: tracked ones and new ones that are not ignored."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CPP = (".cpp", ".h")
GENERATED = re.compile(r"\.|build$|build-|__pycache__$|node_modules$")
SCRIPTS = (".py", ".sh", ".js", ".ts", ".tsx", ".css")


def project_files(root: Path = ROOT) -> list[Path]:
    """Paths relative to root, sorted; deleted and ignored files are left out.

    Outside a git work tree (a release tarball, a test's folder) every file below root counts that
    is not in a hidden folder or one that was built.
    """
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listing.returncode == 0:
        paths = {Path(name.decode()) for name in listing.stdout.split(b"\0") if name}
    else:
        found = (path.relative_to(root) for path in root.rglob("*"))
        paths = {path for path in found if not any(GENERATED.match(part) for part in path.parts)}
    return sorted(path for path in paths if (root / path).is_file())


def with_suffix(paths: Iterable[Path], suffixes: tuple[str, ...]) -> list[Path]:
    """The paths that end in one of the suffixes, in the same order."""
    return [path for path in paths if path.suffix in suffixes]


def report(check: str, problems: list[str]) -> int:
    """Prints the problems, one a line, and returns the exit status of the check."""
    for problem in problems:
        print(problem)
    if problems:
        print(f"{check}: {len(problems)} to mend")
    return 1 if problems else 0
