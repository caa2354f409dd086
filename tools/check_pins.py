"""Everything that a build fetches has a version and a hash.

    tools/check_pins.py [ROOT]

Checked are the lists of Python packages (`tools/requirements*.txt`, written by `tools/pin`), what
`pip install .` builds with (`pyproject.toml`: its format has versions only, which must be those of
the lists), and the packages of the page (`web/package-lock.json`). Debian's packages are in no such
list: their archive is signed.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

from sources import ROOT, report

PIN = re.compile(r"([\w.-]+)==([\w.!+-]+)(?:\s*;[^\\]*?)?((?:\s+--hash=sha256:[0-9a-f]{64})*)\s*")
INTEGRITY = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")


def plain(name: str) -> str:
    """A package's name as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lines_of(path: Path) -> list[tuple[int, str]]:
    """The requirements of a list, each with the line it begins at; continued lines are one."""
    found: list[tuple[int, str]] = []
    continues = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = re.sub(r"(^|\s)#.*", "", line).strip()
        if not text:
            continue
        part = text.removesuffix("\\").strip()
        if continues:
            found[-1] = (found[-1][0], f"{found[-1][1]} {part}")
        else:
            found.append((number, part))
        continues = text.endswith("\\")
    return found


def check_list(path: Path, name: str, pins: dict[str, str]) -> list[str]:
    """What is wrong with one list; its versions go into pins."""
    problems = []
    for number, line in lines_of(path):
        match = PIN.fullmatch(line)
        if not match:
            problems.append(f"{name}:{number}: not NAME==VERSION with its hashes: {line[:60]}")
        elif not match[3]:
            problems.append(f"{name}:{number}: {match[1]} has no hash; run tools/pin")
        else:
            pins[plain(match[1])] = match[2]
    return problems


def check_wanted(wanted: str, where: str, pins: dict[str, str], *, must_pin: bool) -> list[str]:
    """Whether a requirement that a person wrote is the one of the list."""
    match = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?(?:==([\w.!+-]+))?", wanted.strip())
    if not match or (must_pin and not match[2]):
        return [f"{where}: not NAME==VERSION: {wanted}"]
    pinned = pins.get(plain(match[1]))
    if pinned is None:
        return [f"{where}: {match[1]} is not in the list; run tools/pin"]
    if match[2] and match[2] != pinned:
        return [f"{where}: {match[1]} is {pinned} in the list; run tools/pin"]
    return []


def check_page(folder: Path) -> list[str]:
    """What is wrong with the packages of the page."""
    problems = []
    wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    for kind in ("dependencies", "devDependencies"):
        for name, version in wanted.get(kind, {}).items():
            if not re.fullmatch(r"\d[\w.-]*", version):
                problems.append(f"web/package.json: {name}: not one version: {version}")
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    for path, entry in lock["packages"].items():
        if path and not INTEGRITY.fullmatch(entry.get("integrity", "")):
            problems.append(f"web/package-lock.json: {path} has no sha512")
    return problems


def check(root: Path) -> list[str]:
    """Every problem below root."""
    problems = []
    gate: dict[str, str] = {}
    for path in sorted((root / "tools").glob("requirements*.txt")):
        pins: dict[str, str] = {}
        problems += check_list(path, f"tools/{path.name}", pins)
        source = path.with_suffix(".in")
        for number, line in lines_of(source) if source.exists() else []:
            problems += check_wanted(line, f"tools/{source.name}:{number}", pins, must_pin=False)
        if path.name == "requirements.txt":
            gate = pins
    build = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    for wanted in build["requires"]:
        problems += check_wanted(wanted, "pyproject.toml: build-system", gate, must_pin=True)
    return problems + check_page(root / "web")


if __name__ == "__main__":
    sys.exit(report("pins", check(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)))
