"""The architecture as a table that fails the build: which room of src/ may include which.

    tools/check_layers.py [ROOT]

Checks every C++ file in src/, unit tests included. Tests in tests/ and programs in bench/ may cross
rooms, but include like everyone: rooted, in quotes.
"""

import re
import sys
from pathlib import Path

from sources import CPP, ROOT, project_files, report, with_suffix

MODELS = {"trace", "memory", "series"}
BELOW_SESSION = {"bytes", "wire", *MODELS, "ingest", "emit", "analysis", "advice", "report", "runs"}

# A room sees itself, the rooms named here, and nothing else. Rooms that are not built yet have
# their row already, so that the direction is settled before the first file.
ALLOWED: dict[str, set[str]] = {
    "base": set(),
    "bytes": {"base"},
    "wire": {"base"},
    "trace": {"base"},
    "memory": {"base"},
    "series": {"base"},
    "ingest": {"base", "bytes", "wire", *MODELS},
    "emit": {"base", "trace"},
    "analysis": {"base", *MODELS},
    "advice": {"base", "analysis"},
    "report": {"base", "trace", "memory", "analysis", "advice"},
    "runs": {"base", "wire"},
    "session": {"base", *BELOW_SESSION},
    "server": {"base", "session", "report"},
    "doctor": {"base"},
    "cli": {"base", "session", "report", "server", "doctor", "capture"},
    "python": {"base", "session", "report", "cli"},
    "capture": {"base", "wire"},
}

# Folders of a room that use each other in one direction only: each sees those before it, in the
# same tuple its neighbours not. Files beside them, and tests, see all.
FOLDERS: dict[str, list[tuple[str, ...]]] = {
    "emit": [("redaction",), ("json",), ("chrome", "jsonl", "perfetto")],
    "report": [
        ("writing",),
        ("tables",),
        ("charts",),
        ("info", "findings"),
        ("help",),
        ("page",),
        ("compare",),
    ],
}

# Names that say nothing about what is inside.
EMPTY_NAMES = re.compile(r"(^|_)(commons?|utils?|utilit(y|ies)|helpers?|managers?|misc)($|_)")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def folder_problem(path: Path, target: str) -> str | None:
    """What is wrong with a file of a room that includes another of the same room, if anything."""
    order = FOLDERS.get(path.parts[1], [])
    place = {folder: number for number, group in enumerate(order) for folder in group}
    own, other = path.parts[2], target.split("/")[1]
    if own == other or own not in place or other not in place or path.stem.endswith("_test"):
        return None
    if place[other] < place[own]:
        return None
    return f"{path.parts[1]}/{own} may not include {path.parts[1]}/{other}"


def include_problems(path: Path, text: str) -> list[str]:
    """What is wrong with the includes of one file, which lies at path relative to the root."""
    room = path.parts[1] if path.parts[0] == "src" else None
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        target_room = target.split("/")[0]
        where = f"{path}:{number}"
        if quote == "<":
            if "/" in target and target_room in ALLOWED:
                problems.append(f'{where}: own files are included in quotes: "{target}"')
        elif ".." in target.split("/"):
            problems.append(f'{where}: includes start at src/, without "..": "{target}"')
        elif room is None:
            continue
        elif "/" not in target or target_room not in ALLOWED:
            problems.append(f'{where}: includes start with a room: "{target}"')
        elif target_room != room and target_room not in ALLOWED[room]:
            sees = ", ".join(sorted(ALLOWED[room])) or "no other room"
            problems.append(f"{where}: {room} may not include {target_room} (it sees {sees})")
        elif target_room == room and (problem := folder_problem(path, target)):
            problems.append(f"{where}: {problem}")
    return problems


def name_problems(path: Path) -> list[str]:
    """Folders that are no room, and names without a meaning."""
    problems = []
    if path.parts[0] == "src" and len(path.parts) > 2 and path.parts[1] not in ALLOWED:
        problems.append(f"{path}: src/{path.parts[1]} is not a room of tools/check_layers.py")
    if path.parts[0] == "src" and len(path.parts) == 2 and path.suffix in CPP:
        problems.append(f"{path}: every source file lives in a room")
    problems += [
        f"{path}: '{part}' says nothing about what is inside"
        for part in path.parts
        if EMPTY_NAMES.search(part.split(".")[0].lower().replace("-", "_"))
    ]
    return problems


def check(root: Path) -> list[str]:
    """Every problem below root."""
    problems = []
    files = project_files(root)
    for path in files:
        problems += name_problems(path)
    for path in with_suffix(files, CPP):
        room = path.parts[1] if path.parts[0] == "src" else None
        if room is None or room in ALLOWED:
            problems += include_problems(path, (root / path).read_text(encoding="utf-8"))
    return problems


if __name__ == "__main__":
    sys.exit(report("layers", check(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)))
