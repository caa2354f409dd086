"""Writes what type checkers see of the methods that are made from descriptors.

    tools/make_stubs.py [--check]

Reads the descriptors from the built program, so that neither the extension nor numpy is needed.
With --check it writes nothing and fails when python/stepscope/analyses.pyi is out of date.
"""

import json
import subprocess
import sys
from keyword import iskeyword

from sources import ROOT

STUB = ROOT / "python/stepscope/analyses.pyi"
PROGRAM = ROOT / "build" / "stepscope"

TYPES = {
    "count": "int",
    "duration": "Duration",
    "share": "float | str",
    "text": "str",
    "switch": "bool",
}

HEAD = '''"""Made by tools/make_stubs.py from the descriptors of the analyses."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Literal

from stepscope import _core
from stepscope.table import Answer

Numbers = int | Iterable[int] | None
Duration = int | str | timedelta

def descriptors() -> list[dict[str, Any]]: ...
def python_name(name: str) -> str: ...
def option_text(parameter: Mapping[str, Any], value: object) -> str: ...
def numbers(value: Numbers, name: str) -> list[int]: ...
def docstring(about: Mapping[str, Any]) -> str: ...

class Analyses:
    _core: _core.Recording
    def ask(
        self, analysis: str, *, ranks: Numbers = None, steps: Numbers = None, **options: Any
    ) -> Answer: ...
'''


def python_name(name: str) -> str:
    """As stepscope.analyses.python_name."""
    plain = name.replace("-", "_")
    return plain + "_" if iskeyword(plain) else plain


def type_of(parameter: dict[str, object]) -> str:
    """The annotation of an option."""
    if parameter["type"] == "choice":
        choices = parameter["choices"]
        assert isinstance(choices, list)
        return f"Literal[{', '.join(json.dumps(choice) for choice in choices)}]"
    return TYPES[str(parameter["type"])]


def stub_text(analyses: list[dict[str, list[dict[str, object]]]]) -> str:
    """The whole file."""
    text = HEAD
    for about in analyses:
        name = python_name(str(about["name"]))
        text += f"    def {name}(\n        self,\n        *,\n"
        text += "        ranks: Numbers = None,\n        steps: Numbers = None,\n"
        for parameter in about["parameters"]:
            option = python_name(str(parameter["name"]))
            text += f"        {option}: {type_of(parameter)} | None = None,\n"
        text += "    ) -> Answer: ...\n"
    return text


def main() -> int:
    """Writes or checks."""
    listed = subprocess.run(
        [PROGRAM, "analyze", "--list", "-f", "json"], check=True, capture_output=True, text=True
    ).stdout
    text = stub_text(json.loads(listed)["analyses"])
    if "--check" not in sys.argv:
        STUB.write_text(text)
        return 0
    if STUB.exists() and STUB.read_text() == text:
        return 0
    print(f"{STUB.relative_to(ROOT)} is not up to date: run tools/make_stubs.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
