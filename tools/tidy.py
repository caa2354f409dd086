"""Runs clang-tidy over the project's sources, and only over what changed since it last passed.

    tools/tidy.py [--build DIR] [-j N] [--record] [FILE...]

A file passes again without being looked at while its text, the project headers it reaches, its
compile command, .clang-tidy and clang-tidy itself are the same. Passes are kept in DIR/tidy;
--record writes those of the whole tree to tools/tidy_passed.txt as well, so that a machine that
has never seen the tree looks only at what changed since.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

from headers import reached_headers
from sources import ROOT, project_files

CLANG_TIDY = Path(sys.executable).parent / "clang-tidy"
RECORD = Path(__file__).with_name("tidy_passed.txt")
# The build parses common headers once (cmake/rooms.cmake); clang-tidy reads each file as if it did
# not, and so sees which file forgets an include.
PRECOMPILED = re.compile(
    r" -fpch-preprocess| -Winvalid-pch| -include \S*cmake_pch\.hxx"
    r"| -Wno-(array-bounds|restrict|stringop-overread|stringop-overflow)"
)


def fingerprint(
    source: Path, command: str, settings: bytes, include_folder: Path, root: Path = ROOT
) -> str:
    """A hash of all that decides what clang-tidy says about the source, wherever the tree lies."""
    digest = hashlib.sha256(settings)
    digest.update(command.replace(f"{root}/", "").encode())
    for path in [source, *reached_headers(source, include_folder)]:
        name = os.path.relpath(path, root)
        digest.update(b"\0" + name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:32]


def recorded_passes(record: Path = RECORD) -> set[str]:
    """Fingerprints that the repository keeps; none where there is no record."""
    if not record.exists():
        return set()
    return {line.split()[0] for line in record.read_text().splitlines() if line}


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
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "plain")
    parser.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--record", action="store_true")
    parser.add_argument("files", type=Path, nargs="*")
    options = parser.parse_args()

    commands = compile_commands(options.build)
    if options.files:
        wanted = {path.resolve() for path in options.files}
        commands = {path: command for path, command in commands.items() if path in wanted}
    settings = (ROOT / ".clang-tidy").read_bytes() + version("clang-tidy").encode()
    passes = options.build / "tidy"
    passes.mkdir(exist_ok=True)
    stamps = {
        path: passes / fingerprint(path, command, settings, ROOT / "src")
        for path, command in commands.items()
    }
    recorded = recorded_passes()
    changed = [
        path for path, stamp in stamps.items() if stamp.name not in recorded and not stamp.exists()
    ]

    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        complaints = pool.map(lambda path: tidy(path, options.build), changed)
        for path, complaint in zip(changed, complaints, strict=True):
            if complaint:
                failed += 1
                print(complaint, flush=True)
            else:
                stamps[path].touch()
    if not options.files:
        for stale in set(passes.iterdir()) - set(stamps.values()):
            stale.unlink()
        if options.record and not failed:
            passed = (f"{stamp.name} {path.relative_to(ROOT)}" for path, stamp in stamps.items())
            RECORD.write_text("\n".join(passed) + "\n")
    print(f"clang-tidy: {len(commands)} files, {len(changed)} looked at, {failed} with complaints")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
