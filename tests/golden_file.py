"""Reads and rewrites golden tests: input files, commands and exact output in one text file.

The format is described in docs/dev/goldens.md. Text is kept as UTF-8 with surrogate escapes, so
that any byte a program prints survives reading and writing.
"""

import gzip
import json
import pickle
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import zstandard

OUTPUTS = ("stdout", "stderr")
OPTIONS = {"hex", "escaped", "cut", "pickle", "gzip", "zstd"}
OUTPUT_OPTIONS = {"cut"}


class GoldenError(Exception):
    """A golden test that is not written as docs/dev/goldens.md says."""


@dataclass(frozen=True)
class Command:
    """One `run` line and the exit status it must end with."""

    arguments: tuple[str, ...]
    exit_status: int = 0


@dataclass(frozen=True)
class Section:
    """What stands below a `-- NAME OPTIONS` line."""

    name: str
    options: frozenset[str]
    text: str

    def content(self) -> bytes:
        """The bytes of the file that this section describes."""
        text = self.text
        if "cut" in self.options:
            text = text.removesuffix("\n")
        if "hex" in self.options:
            data = bytes.fromhex(text)
        else:
            data = text.encode("utf-8", "surrogateescape")
        if "escaped" in self.options:
            data = re.sub(rb"\\x([0-9a-fA-F]{2})", lambda m: bytes.fromhex(m[1].decode()), data)
        if "pickle" in self.options:
            data = pickle.dumps(json.loads(data), protocol=4)
        if "gzip" in self.options:
            data = gzip.compress(data, mtime=0)
        if "zstd" in self.options:
            data = zstandard.ZstdCompressor().compress(data)
        return data


@dataclass
class Golden:
    """A golden test as parsed; `head` are the lines before the first section."""

    head: list[str]
    commands: list[Command]
    sections: list[Section] = field(default_factory=list)

    def inputs(self) -> list[Section]:
        """The files to lay out before the commands run."""
        return [s for s in self.sections if s.name not in (*OUTPUTS, "stdin")]

    def section(self, name: str) -> Section | None:
        """The section of that name."""
        return next((s for s in self.sections if s.name == name), None)

    def expected(self, name: str) -> bytes | None:
        """What the output must be; None where it is not compared.

        Standard output is always compared, and expected to be empty when not given.
        """
        section = self.section(name)
        if section is None:
            return b"" if name == "stdout" else None
        return section.content()

    def with_output(self, name: str, output: bytes) -> "Golden":
        """The same test, expecting this output."""
        text = output.decode("utf-8", "surrogateescape")
        options = frozenset[str]()
        if text and not text.endswith("\n"):
            text += "\n"
            options = frozenset({"cut"})
        replaced = Section(name, options, text)
        sections = [replaced if s.name == name else s for s in self.sections]
        if self.section(name) is None and output:
            sections.append(replaced)
        return Golden(self.head, self.commands, sections)

    def render(self) -> str:
        """The text of the file."""
        parts = [f"{line}\n" for line in self.head]
        for section in self.sections:
            options = "".join(f" {option}" for option in sorted(section.options))
            parts.append(f"-- {section.name}{options}\n{section.text}")
        return "".join(parts)


def parse(text: str) -> Golden:
    """Parses a golden test.

    Raises:
        GoldenError: the text is not a golden test; says in which line and why.
    """
    # Not splitlines(): it also breaks at carriage returns and at what Unicode calls a line.
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    first = next((i for i, line in enumerate(lines) if line.startswith("-- ")), len(lines))
    golden = Golden([line.rstrip("\n") for line in lines[:first]], parse_head(lines[:first]))
    start = first
    for end in range(first + 1, len(lines) + 1):
        if end == len(lines) or lines[end].startswith("-- "):
            add_section(golden, lines[start], start + 1, "".join(lines[start + 1 : end]))
            start = end
    return golden


def parse_head(lines: list[str]) -> list[Command]:
    """The commands before the first section."""
    commands: list[Command] = []
    for number, line in enumerate(lines, 1):
        word, _, rest = line.strip().partition(" ")
        if word.startswith("#") or not word:
            continue
        if word == "run":
            commands.append(Command(tuple(shlex.split(rest))))
        elif word == "exit" and commands and rest.isdecimal():
            commands[-1] = Command(commands[-1].arguments, int(rest))
        else:
            raise GoldenError(f"line {number}: expected '# …', 'run ARGS…' or 'exit N' after a run")
    if not commands:
        raise GoldenError("there is no 'run' line")
    return commands


def add_section(golden: Golden, header: str, number: int, text: str) -> None:
    """Appends the section that header begins."""
    name, *options = header.split()[1:] or [""]
    path = PurePosixPath(name)
    known = OUTPUT_OPTIONS if name in OUTPUTS else OPTIONS
    if not name or path.is_absolute() or ".." in path.parts:
        raise GoldenError(f"line {number}: '{name}' is not a relative file name")
    if unknown := set(options) - known:
        raise GoldenError(f"line {number}: unknown option {', '.join(sorted(unknown))}")
    if golden.section(name):
        raise GoldenError(f"line {number}: a second section '{name}'")
    if text and not text.endswith("\n"):
        raise GoldenError(f"section '{name}': the last line has no end; say 'cut' to leave it out")
    golden.sections.append(Section(name, frozenset(options), text))


def read(path: Path) -> Golden:
    """Reads a golden test from its file."""
    try:
        return parse(path.read_bytes().decode("utf-8", "surrogateescape"))
    except GoldenError as error:
        raise GoldenError(f"{path}: {error}") from None
