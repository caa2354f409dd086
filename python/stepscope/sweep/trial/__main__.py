"""Started by `stepscope sweep` as a file, under a name that hides nothing of the user's.

Worker processes that are spawned read this file too; it does nothing then.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

_NAME = "_stepscope_sweeping"


def _trial() -> Any:
    """The package beside this file, without the one it lies in."""
    here = Path(__file__).resolve().parent
    spec = spec_from_file_location(
        _NAME, here / "__init__.py", submodule_search_locations=[str(here)]
    )
    assert spec is not None and spec.loader is not None
    package = module_from_spec(spec)
    sys.modules[_NAME] = package
    spec.loader.exec_module(package)
    return import_module(f"{_NAME}.trial")


if __name__ == "__main__":
    sys.path[0] = os.getcwd()  # noqa: PTH109, as `python -m` has it, not the folder of this file
    sys.exit(_trial().main(sys.argv[1]))
