"""Which sources can be compiled together as one: groups of files that define no private name twice.

    tools/unity.py BUILD

Most of what compiling a file takes is the headers, and the templates that each makes anew; a few
files in one compilation pay for them once. CMake lists the targets and their files in
BUILD/unity/targets.txt (cmake/unity.cmake); the groups go to BUILD/unity/groups.cmake, which is
written only where it changes: CMake runs again then.
"""

import re
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from headers import reached_headers

SOURCES = Path(__file__).resolve().parent.parent / "src"

MOST_FILES = 8
MOST_LINES = 1600

TYPE = re.compile(r"(?:struct|class|enum class|enum|using)\s+(\w+)")
TEST = re.compile(r"(TEST\w*)\((\w+), (\w+)\)")
BEHIND_A_NAME = re.compile(r"[(={\[;]")


@dataclass
class Source:
    """A file, and what it calls things."""

    path: str
    private: set[str]  # in its nameless namespace, and by `using`
    seen: set[str]  # what the headers it includes declare
    lines: int
    has_macro: bool


@dataclass
class Group:
    """Files that can be compiled as one."""

    paths: list[str] = field(default_factory=list)
    private: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    lines: int = 0

    def takes(self, source: Source) -> bool:
        """Whether it can be one of them."""
        return (
            len(self.paths) < MOST_FILES
            and self.lines + source.lines <= MOST_LINES
            and not source.private & (self.private | self.seen)
            and not self.private & source.seen
        )

    def add(self, source: Source) -> None:
        """Makes it one of them."""
        self.paths.append(source.path)
        self.private |= source.private
        self.seen |= source.seen
        self.lines += source.lines


def name_in(line: str) -> str:
    """What a line at the left edge defines."""
    if test := TEST.match(line):
        return "{}_{}_{}".format(*test.groups())
    if type_name := TYPE.match(line):
        return type_name[1]
    return re.split(r"[\s*&]", BEHIND_A_NAME.split(line)[0].strip())[-1]


def private_names(text: str) -> set[str]:
    """What a source defines for itself."""
    names = set()
    inside = False
    for line in text.splitlines():
        if line in ("namespace {", "}  // namespace"):
            inside = line == "namespace {"
        elif line[:1].isalpha() and (inside or line.startswith(("using ", "static ", "TEST"))):
            names.add(name_in(line))
    return names


@cache
def public_names(header: Path) -> frozenset[str]:
    """What a header declares."""
    lines = header.read_text().splitlines()
    return frozenset(
        name_in(line) for line in lines if line[:1].isalpha() and not line.startswith("namespace")
    )


def read(path: str) -> Source:
    """A source of the project."""
    text = Path(path).read_text()
    seen: set[str] = set()
    for header in reached_headers(Path(path), SOURCES):
        seen |= public_names(header)
    has_macro = re.search(r"^\s*#\s*define", text, re.MULTILINE) is not None
    return Source(path, private_names(text), seen, text.count("\n"), has_macro)


def groups(paths: list[str]) -> list[list[str]]:
    """The files in as few groups as one look finds; those that stay alone are left out."""
    made: list[Group] = []
    for source in map(read, sorted(paths)):
        if source.has_macro:  # which is for this file
            continue
        group = next((group for group in made if group.takes(source)), None)
        if group is None:
            group = Group()
            made.append(group)
        group.add(source)
    return [group.paths for group in made if len(group.paths) > 1]


def main() -> None:
    """Writes the groups of all targets."""
    folder = Path(sys.argv[1]) / "unity"
    if not (folder / "targets.txt").exists():
        return
    lines = []
    for line in (folder / "targets.txt").read_text().splitlines():
        target, *files = line.split()
        for number, members in enumerate(groups([file for file in files if Path(file).exists()])):
            names = " ".join(members)
            lines.append(
                f"set_source_files_properties({names} PROPERTIES UNITY_GROUP {target}_{number})"
            )
    text = "\n".join(lines) + "\n"
    out = folder / "groups.cmake"
    if not out.exists() or out.read_text() != text:
        out.write_text(text)


if __name__ == "__main__":
    main()
