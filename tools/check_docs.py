"""Docs that cannot lie: links that lead somewhere, output that the program really prints.

    tools/check_docs.py            fails and names what is wrong
    tools/check_docs.py --update   writes the real output into the verified blocks

- README.md has at most 120 lines.
- Relative links in Markdown files lead to files of the project, anchors to headings; from
  README.md they lead to every page of docs/.
- A fenced block of kind `console` under `<!-- verified -->` is run again: each line that begins
  with `$ ` is a command, the lines below it are its output (both streams), byte for byte. Under
  `<!-- verified: timings vary -->` times, sizes and rates are compared by kind only, and white
  space by words. Commands run in the repository with build/stepscope first in PATH.
- No file carries marks of unfinished work, or paths of one machine.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from sources import ROOT, project_files, report, with_suffix

README_LINES = 120

# Data is kept as it was recorded, whatever it mentions.
DATA = ("tests/golden/", "tests/fixtures/", "tests/fuzz/corpus/", "examples/data/")

# Written so that this file does not find itself.
UNFINISHED = re.compile(r"\b(TO[D]O|FIX[M]E|X[X]X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(?:work|root|home/\w+)/")

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```+|~~~+)(.*)$")
VERIFIED = re.compile(r"^<!-- verified(: timings vary)? -->$")

UNITS = {
    "rate": r"(?:[kMGT]i?)?B/s|(?:[kMGT]\s?)?events/s",
    "time": r"ns|us|µs|ms|min|s|h",
    "size": r"(?:[kMGT]i?)?B|bytes",
}


@dataclass(frozen=True)
class Example:
    """A command in a verified block: its lines are output[begin:end] of the page, 0-based."""

    command: str
    begin: int
    end: int
    exact: bool


def normalised(text: str) -> str:
    """The text with times, sizes and rates replaced by their kind and white space by one space."""
    for kind, units in UNITS.items():
        text = re.sub(rf"\b\d[\d,.]*\s?(?:{units})(?![\w/])", f"<{kind}>", text)
    return " ".join(text.split())


def prose_lines(text: str) -> list[tuple[int, str]]:
    """The numbered lines outside of fenced blocks, without code spans."""
    lines = []
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line.strip())
        if match and not fence:
            fence = match[1]
        elif fence:
            fence = "" if line.strip() == fence else fence
        else:
            lines.append((number, re.sub(r"`[^`]*`", "", line)))
    return lines


def anchors(text: str) -> set[str]:
    """The anchors that headings make, as code hosts spell them."""
    found = set()
    for line in text.splitlines():
        if line.startswith("#"):
            title = re.sub(r"[^\w\s-]", "", line.lstrip("#").strip().lower())
            found.add(re.sub(r"\s", "-", title))
    return found


def links(page: Path, root: Path) -> list[tuple[int, str]]:
    """What a page links to in the project, as it is written, with the numbers of the lines."""
    return [
        (number, target)
        for number, line in prose_lines((root / page).read_text(encoding="utf-8"))
        for target in LINK.findall(line)
        if not re.match(r"[a-z]+:", target)
    ]


def link_problems(page: Path, root: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    problems = []
    for number, target in links(page, root):
        name, _, anchor = target.partition("#")
        path = (root / page.parent / name) if name else root / page
        if not path.exists():
            problems.append(f"{page}:{number}: there is no {target}")
        elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text()):
            problems.append(f"{page}:{number}: no heading #{anchor} in {name or page}")
    return problems


def unreachable(pages: list[Path], root: Path) -> list[str]:
    """Pages of docs/ to which no links lead from README.md."""
    start = Path("README.md")
    if start not in pages:
        return []
    seen, next_ones = {start}, [start]
    while next_ones:
        page = next_ones.pop()
        names = (target.partition("#")[0] for _, target in links(page, root))
        linked = {Path(os.path.normpath(page.parent / name)) for name in names if name}
        fresh = linked.intersection(pages) - seen
        seen |= fresh
        next_ones += fresh
    return [
        f"{page}: no link leads here from README.md; docs/README.md lists pages"
        for page in pages
        if page.parts[0] == "docs" and page not in seen
    ]


def mark_problems(path: Path, text: str) -> list[str]:
    """Marks of unfinished work and paths of one machine."""
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := UNFINISHED.search(line):
            problems.append(f"{path}:{number}: {match[0]}: finish it, or make it an issue")
        if match := MACHINE_PATH.search(line):
            problems.append(f"{path}:{number}: {match[0]} is a path of one machine")
    return problems


def examples(lines: list[str]) -> list[Example]:
    """The commands of all verified blocks of a page, from top to bottom."""
    found: list[Example] = []
    number = 0
    while number < len(lines):
        marked = VERIFIED.match(lines[number])
        number += 1
        if not marked or number == len(lines) or lines[number] != "```console":
            continue
        number += 1
        begin = number
        while number < len(lines) and lines[number] != "```":
            number += 1
        commands = [i for i in range(begin, number) if lines[i].startswith("$ ")]
        for command, following in zip(commands, [*commands[1:], number], strict=True):
            exact = not marked[1]
            found.append(Example(lines[command][2:], command + 1, following, exact))
    return found


def output_of(command: str, root: Path) -> str:
    """What the command prints, run as the reader would."""
    path = f"{root / 'build'}:{os.environ['PATH']}"
    settings = {k: v for k, v in os.environ.items() if not k.startswith("STEPSCOPE_")}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=root,
        env={**settings, "PATH": path, "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout


def output_problems(page: Path, root: Path, update: bool) -> list[str]:
    """The verified commands of a page that print something else by now; update mends them."""
    lines = (root / page).read_text(encoding="utf-8").split("\n")
    problems = []
    for example in reversed(examples(lines)):
        shown = "".join(f"{line}\n" for line in lines[example.begin : example.end])
        printed = output_of(example.command, root)
        same = printed == shown if example.exact else normalised(printed) == normalised(shown)
        if same:
            continue
        if update:
            lines[example.begin : example.end] = printed.splitlines()
        else:
            problems.append(f"{page}:{example.begin}: `{example.command}` now prints:\n{printed}")
    if update:
        (root / page).write_text("\n".join(lines), encoding="utf-8")
    return problems[::-1]


def check(root: Path, update: bool = False) -> list[str]:
    """Every problem below root."""
    problems = []
    files = project_files(root)
    pages = [p for p in with_suffix(files, (".md",)) if not p.as_posix().startswith(DATA)]
    for page in pages:
        problems += link_problems(page, root)
        problems += output_problems(page, root, update)
    problems += unreachable(pages, root)
    for path in files:
        if path.as_posix().startswith(DATA):
            continue
        try:
            problems += mark_problems(path, (root / path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue  # not text
    readme = root / "README.md"
    if readme.exists() and (length := len(readme.read_text().splitlines())) > README_LINES:
        problems.append(f"README.md: {length} lines; it has at most {README_LINES}")
    return problems


if __name__ == "__main__":
    sys.exit(report("docs", check(ROOT, update="--update" in sys.argv[1:])))
