"""Writes what type checkers see of the methods that are made from descriptors.

    tools/make_stubs.py [--check]

Reads the descriptors from the built package. With --check it writes nothing and fails when
python/stepscope/analyses.pyi is out of date.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

from sources import ROOT

sys.path.insert(0, str(ROOT / "python"))
try:
    from stepscope.analyses import descriptors, docstring, python_name
except ImportError as error:
    sys.exit(f"the extension of the Python package is not built ({error}): run `make python`")

STUB = ROOT / "python/stepscope/analyses.pyi"

TYPES = {
    "count": "int",
    "number": "float | str",
    "duration": "Duration",
    "share": "float | str",
    "size": "int | str",
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


def type_of(parameter: Mapping[str, Any]) -> str:
    """The annotation of an option."""
    if parameter["type"] == "choice":
        return f"Literal[{', '.join(json.dumps(choice) for choice in parameter['choices'])}]"
    return TYPES[str(parameter["type"])]


def stub_text(analyses: list[dict[str, Any]]) -> str:
    """The whole file."""
    text = HEAD
    for about in analyses:
        name = python_name(about["name"])
        text += f"    def {name}(\n        self,\n        *,\n"
        text += "        ranks: Numbers = None,\n        steps: Numbers = None,\n"
        for parameter in about["parameters"]:
            option = python_name(parameter["name"])
            text += f"        {option}: {type_of(parameter)} | None = None,\n"
        documented = "\n".join(f"        {line}".rstrip() for line in docstring(about).split("\n"))
        text += f'    ) -> Answer:\n        r"""{documented.lstrip()}\n        """\n'
    return text


def main() -> int:
    """Writes or checks."""
    text = stub_text(descriptors())
    if "--check" not in sys.argv:
        STUB.write_text(text)
        return 0
    if STUB.exists() and STUB.read_text() == text:
        return 0
    print(f"{STUB.relative_to(ROOT)} is not up to date: run tools/make_stubs.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
