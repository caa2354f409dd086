"""A name of a namespace is defined once: types and constants of the C++ sources.

    tools/check_names.py [ROOT]

Two definitions that are never seen together compile and link; the program then uses one of them
for both, and which one is luck. What only one file needs is in its anonymous namespace.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

from sources import CPP, ROOT, project_files, report, with_suffix

NAMESPACE = re.compile(r"(?:inline\s+)?namespace\s*([\w:]*)\s*\{")
TYPE = re.compile(
    r"(?:struct|class|union|enum(?:\s+class)?)\s+(?:alignas\([^)]*\)\s*)?(\w+(?:::\w+)*)[^;=()]*\{"
)
CONSTANT = re.compile(
    r"(?:inline\s+|constinit\s+|static\s+)*(?:constexpr|const)\s+[\w:<>,&*\s]+?\b(k[A-Z]\w*)\s*[={\[]"
)
NOISE = re.compile(
    r'R"(\w*)\((?s:.*?)\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*(?s:.*?)\*/'
)


def without_noise(text: str) -> str:
    """The text without literals and comments, on the same lines."""
    return NOISE.sub(lambda match: "\n" * match.group().count("\n"), text)


def definitions(text: str) -> list[tuple[str, int]]:
    """Names that a file gives to the types and constants of its named namespaces, with lines."""
    found = []
    open_namespaces: list[str] = []
    depth = 0  # of braces that are no namespace's
    statement = ""
    line = 1
    for character in without_noise(text):
        line += character == "\n"
        statement += character
        if character == "{":
            head = statement.strip()
            namespace = NAMESPACE.fullmatch(head)
            if depth == 0 and namespace:
                open_namespaces.append(namespace.group(1))
            else:
                if depth == 0 and open_namespaces and all(open_namespaces):
                    name = TYPE.match(head) or CONSTANT.match(head)
                    if name:
                        found.append(("::".join([*open_namespaces, name.group(1)]), line))
                depth += 1
            statement = ""
        elif character == "}":
            if depth > 0:
                depth -= 1
            elif open_namespaces:
                open_namespaces.pop()
            statement = ""
        elif character == ";":
            name = CONSTANT.match(statement.strip())
            if depth == 0 and name and open_namespaces and all(open_namespaces):
                found.append(("::".join([*open_namespaces, name.group(1)]), line))
            statement = ""
        elif character == "\n" and statement.lstrip().startswith("#"):
            statement = ""
    return found


def check(root: Path) -> list[str]:
    """Every name below src/ that two places define."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in with_suffix(project_files(root), CPP):
        if path.parts[0] == "src":
            for name, line in definitions((root / path).read_text(encoding="utf-8")):
                places[name].append(f"{path}:{line}")
    return [
        f"{where[-1]}: {name} is defined in {where[0]} as well"
        for name, where in sorted(places.items())
        if len(where) > 1
    ]


if __name__ == "__main__":
    sys.exit(report("names", check(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)))
