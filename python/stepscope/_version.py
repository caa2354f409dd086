"""The version of the extension, which is that of the program."""

from stepscope import _core

__version__: str = _core.version().removeprefix("stepscope ")
