"""Which sources can be compiled together as one: groups of files that define no private name twice.

    tools/unity.py BUILD

Most of what compiling a file takes is the headers, and the templates that each makes anew; a few
files in one compilation pay for them once. CMake lists the targets and their files in
BUILD/unity/targets.txt (cmake/unity.cmake); the groups go to BUILD/unity/groups.cmake, which is
written only where it changes: CMake runs again then.
"""

import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from headers import reached_headers

SOURCES = Path(__file__).resolve().parent.parent / "src"

MOST_FILES = 8
MOST_LINES = 1600

TYPE = re.compile(r"(?:struct|class|enum class|enum|using)\s+(\w+)")
BORROWED = re.compile(r"using (?:\w+::)+(\w+);$")
ALIAS = re.compile(r"using (\w+) = .*;$")
TEST = re.compile(r"(TEST\w*)\((\w+), (\w+)\)")
BEHIND_A_NAME = re.compile(r"[(={\[;]")


@dataclass
class Source:
    """A file, and what it calls things."""

    path: str
    private: dict[str, str]  # in its nameless namespace, and by `using`: names, and what says so
    seen: set[str]  # what the headers it includes declare
    lines: int
    stays_alone: bool  # it has names for itself that are not written there
    declared: set[str] = field(init=False)  # of the private names those that no header may have

    def __post_init__(self) -> None:
        self.declared = {name for name, says in self.private.items() if not BORROWED.match(says)}


@dataclass
class Group:
    """Files that can be compiled as one."""

    paths: list[str] = field(default_factory=list)
    private: dict[str, str] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    lines: int = 0

    def takes(self, source: Source) -> bool:
        """Whether it can be one of them."""
        return (
            len(self.paths) < MOST_FILES
            and self.lines + source.lines <= MOST_LINES
            and self.seen.isdisjoint(source.declared)
            and self.declared.isdisjoint(source.seen)
            and not any(map(self.has_other, source.private.items()))
        )

    def has_other(self, named: tuple[str, str]) -> bool:
        """Whether the name is one of theirs for something else: `using` may say the same twice."""
        name, says = named
        return name in self.private and not (says and self.private[name] == says)

    def add(self, source: Source) -> None:
        """Makes it one of them."""
        self.paths.append(source.path)
        self.private |= source.private
        self.declared |= source.declared
        self.seen |= source.seen
        self.lines += source.lines


def name_in(line: str) -> str:
    """What a line at the left edge defines."""
    if test := TEST.match(line):
        return "{}_{}_{}".format(*test.groups())
    if type_name := TYPE.match(line):
        return type_name[1]
    return re.split(r"[\s*&]", BEHIND_A_NAME.split(line)[0].strip())[-1]


def private_names(text: str) -> dict[str, str]:
    """What a source defines for itself."""
    names: dict[str, str] = {}
    inside = False
    for line in text.splitlines():
        if line in ("namespace {", "}  // namespace"):
            inside = line == "namespace {"
        elif line[:1].isalpha() and (inside or line.startswith(("using ", "static ", "TEST"))):
            borrowed = BORROWED.match(line)
            says = line if borrowed or ALIAS.match(line) else ""
            names[borrowed[1] if borrowed else name_in(line)] = says
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
    stays_alone = re.search(r"^\s*#\s*define|^using (?:enum|namespace)", text, re.MULTILINE)
    return Source(path, private_names(text), seen, text.count("\n"), stays_alone is not None)


def groups(paths: list[str]) -> list[list[str]]:
    """The files in as few groups as one look finds; those that stay alone are left out."""
    sources = [source for source in map(read, sorted(paths)) if not source.stays_alone]
    uses = Counter(name for source in sources for name, says in source.private.items() if not says)
    # Files with a name that many have are not for one group, and begin groups for the others.
    sources.sort(key=lambda source: -max((uses[name] for name in source.private), default=0))
    made: list[Group] = []
    for source in sources:
        takers = [group for group in made if group.takes(source)]
        group = min(takers, key=lambda group: group.lines, default=None)
        if group is None:
            group = Group()
            made.append(group)
        group.add(source)
    return [sorted(group.paths) for group in made if len(group.paths) > 1]


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
