"""Runs clang-tidy over the C++ sources that changed, or over all.

    tools/tidy.py [--all] [--build DIR] [-j N] [FILE...]

Changed is what differs from the point where this branch left origin/main, what is not committed
included. On main itself, where nothing differs, it is the latest commit. For a changed header one
source is read that includes it: the one of the same name, else the first.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sources import CPP, ROOT, project_files

CLANG_TIDY = Path(sys.executable).parent / "clang-tidy"
# The build parses common headers once (cmake/rooms.cmake); clang-tidy reads each file as if it did
# not, and so sees which file forgets an include.
PRECOMPILED = re.compile(
    r" -fpch-preprocess| -Winvalid-pch| -include \S*cmake_pch\.hxx"
    r"| -Wno-(array-bounds|restrict|stringop-overread|stringop-overflow)"
)


def git(*words: str, root: Path = ROOT) -> str | None:
    """What git prints; None where it fails."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def base_commit(root: Path = ROOT) -> str | None:
    """The commit to compare with; None where there is no earlier one."""
    head = git("rev-parse", "HEAD", root=root)
    base = git("merge-base", "HEAD", "origin/main", root=root)
    return base if base != head and base else git("rev-parse", "--verify", "HEAD~1", root=root)


def changed_files(base: str, root: Path = ROOT) -> list[Path]:
    """C++ files that differ from the commit and are still there."""
    listed = (git("diff", "--name-only", base, root=root) or "").splitlines()
    listed += (git("ls-files", "--others", "--exclude-standard", root=root) or "").splitlines()
    return [
        root / name
        for name in sorted(set(listed))
        if name.endswith(CPP) and (root / name).is_file()
    ]


def sources_to_read(changed: list[Path], sources: list[Path], root: Path = ROOT) -> list[Path]:
    """The changed sources, and one for each changed header that none of them is beside."""
    wanted = [path for path in changed if path in sources]
    for header in (path for path in changed if path.suffix == ".h"):
        beside = header.with_suffix(".cpp")
        if beside in sources:
            wanted.append(beside)
            continue
        name = os.path.relpath(header, root / "src")
        line = f'#include "{name}"'
        wanted += [path for path in sources if line in path.read_text(encoding="utf-8")][:1]
    return sorted(set(wanted))


def tidy(source: Path, build: Path) -> str:
    """What clang-tidy says about the source; empty when it is content."""
    done = subprocess.run(
        [CLANG_TIDY, "--quiet", "-p", plain_commands(build), source],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout if done.returncode else ""


def plain_commands(build: Path) -> Path:
    """The folder with the compile commands that clang-tidy reads."""
    return build / "tidy-commands"


def compile_commands(build: Path) -> dict[Path, str]:
    """The compile command of every project source that the build knows; clang-tidy's copy too."""
    ours = {(ROOT / path).resolve() for path in project_files()}
    entries = [
        entry | {"command": PRECOMPILED.sub("", entry["command"])}
        for entry in json.loads((build / "compile_commands.json").read_text())
    ]
    entries = [entry for entry in entries if Path(entry["file"]).resolve() in ours]
    plain_commands(build).mkdir(exist_ok=True)
    (plain_commands(build) / "compile_commands.json").write_text(json.dumps(entries, indent=1))
    return dict(sorted((Path(entry["file"]).resolve(), entry["command"]) for entry in entries))


def main() -> int:
    """Returns the exit status: 1 when clang-tidy complains."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="every source of the project")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "plain")
    parser.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("files", type=Path, nargs="*")
    options = parser.parse_args()

    sources = [(ROOT / path).resolve() for path in project_files() if path.suffix == ".cpp"]
    compared = ""
    if options.files:
        wanted = [path.resolve() for path in options.files]
    elif options.all:
        wanted = sources
    else:
        base = base_commit()
        if base is None:
            print("clang-tidy: there is no earlier commit to compare with; --all reads every file")
            return 0
        wanted = sources_to_read(changed_files(base), sources)
        compared = f" changed since {base[:10]}"
    if wanted:
        subprocess.run(
            ["cmake", "--preset", "plain"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True
        )
        known = compile_commands(options.build)
        wanted = [path for path in wanted if path in known]

    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for complaint in pool.map(lambda path: tidy(path, options.build), wanted):
            if complaint:
                failed += 1
                print(complaint, flush=True)
    print(f"clang-tidy: {len(wanted)} files{compared}, {failed} with complaints")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
