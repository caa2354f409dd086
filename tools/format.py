"""Runs clang-format over the project's C++ files.

tools/format.py            fails and names what is not formatted
tools/format.py --write    formats
"""

import subprocess
import sys
from pathlib import Path

from sources import CPP, ROOT, project_files, with_suffix

CLANG_FORMAT = Path(sys.executable).parent / "clang-format"


def main(arguments: list[str]) -> int:
    """Returns the exit status: 1 when a file is not formatted."""
    files = with_suffix(project_files(), CPP)
    if not files:
        return 0
    mode = ["-i"] if "--write" in arguments else ["--dry-run", "-Werror"]
    done = subprocess.run([CLANG_FORMAT, *mode, *files], cwd=ROOT, check=False)
    if done.returncode:
        print("format: run `make format`")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
