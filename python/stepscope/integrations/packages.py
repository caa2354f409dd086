"""Packages that an integration is for, and that stepscope does not install."""

from __future__ import annotations

import sys
from typing import NoReturn


def explain_missing(error: ImportError, package: str, here: str, install: str = "") -> NoReturn:
    """Says what to install, or that this version is unknown; called where the import failed.

    Args:
        error: of the import. Where another package is missing, it is raised as it is.
        package: as it is imported.
        here: `__name__` of the integration; run as a program, it ends with one line.
        install: as pip knows it, where that is another name.

    Example:
        >>> try:
        ...     import no_such_package
        ... except ImportError as error:
        ...     explain_missing(error, "no_such_package", "stepscope.integrations.none")
        Traceback (most recent call last):
        ImportError: stepscope.integrations.none needs the package no_such_package, which is not
        installed here: pip install no_such_package
    """
    if error.name is not None and error.name.partition(".")[0] != package:
        raise error
    if package in sys.modules:
        version = getattr(sys.modules[package], "__version__", "of unknown version")
        raise ImportError(
            f"{here} does not know {package} {version}, which is installed here: {error}",
            name=package,
        ) from None
    text = f"the package {package}, which is not installed here: pip install {install or package}"
    if here == "__main__":
        raise SystemExit(f"this needs {text}")
    raise ImportError(f"{here} needs {text}", name=package) from None
