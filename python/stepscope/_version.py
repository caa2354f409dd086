"""The version of the extensions, which is that of the program."""

from stepscope import _capture

__version__: str = _capture.version
