"""The tests of the package need its extension; without it they fail with what to do."""

import pytest

try:
    from stepscope import _capture, _core  # noqa: F401
except ImportError as error:
    pytest.exit(f"the extension of the Python package is not there ({error}): run `make python`", 1)
