"""Waits in a program until torch is imported, at the cost of one look into a dictionary per import.

Loaded by its path, without the package around it: most processes never come to train.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Any

NOTES = "STEPSCOPE_RUN_NOTES"  # a folder; a file for each process
_MOST_ERROR = 300  # of an error's text

# By the module that was imported: the function of `stepscope.launched` that is called.
_AWAITED: dict[str, tuple[str, str]] = {
    "torch.optim.optimizer": ("stepscope.launched.torch_hooks", "on_optimizer"),
    "torch.utils.data.dataloader": ("stepscope.launched.torch_hooks", "on_dataloader"),
    "torch.serialization": ("stepscope.launched.save_hooks", "on_serialization"),
    "torch.distributed.checkpoint.state_dict_saver": (
        "stepscope.launched.save_hooks",
        "on_functions",
    ),
    "safetensors.torch": ("stepscope.launched.save_hooks", "on_functions"),
    "accelerate.accelerator": ("stepscope.launched.save_hooks", "on_accelerator"),
    "torch.autograd": ("stepscope.launched.torch_hooks", "on_autograd"),
    "transformers.trainer_callback": ("stepscope.launched.transformers_hooks", "on_callbacks"),
    "transformers.trainer": ("stepscope.launched.transformers_hooks", "on_trainer"),
    "lightning.pytorch.trainer.trainer": ("stepscope.launched.lightning_trainer", "on_trainer"),
    "pytorch_lightning.trainer.trainer": ("stepscope.launched.lightning_trainer", "on_trainer"),
    "logging": ("", "keep_early_logs"),  # a function of this file: nothing else is loaded for it
}

_EARLY = "_stepscope_early"  # on the function that stands in logging's place
_MOST_EARLY = 1000  # lines, the first ones


def note(kind: str, text: str) -> None:
    """For the command that started this: one line in this process's file."""
    folder = os.environ.get(NOTES)
    if not folder:
        return
    line = f"{kind}\t{' '.join(text.split())}\n"
    # As bytes: paths may hold some that are no UTF-8, and the command opens them again.
    try:
        raw = line.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a character, as in a text that was cut
        raw = line.encode("utf-8", "backslashreplace")
    with contextlib.suppress(OSError), open(f"{folder}/{os.getpid()}", "ab") as file:  # noqa: PTH123
        file.write(raw)


class PackageFinder:
    """Finds stepscope, and nothing else, where the command has it."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Of the package; what is in it is found by the package's own path."""
        if name != "stepscope":
            return None
        return spec_from_file_location(
            name, f"{self._folder}/__init__.py", submodule_search_locations=[self._folder]
        )


class ImportWatch:
    """Stands in front of the finders and wraps the loader of what is waited for."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for nearly everything: others find it."""
        if name not in _AWAITED:
            return None
        with contextlib.suppress(Exception):
            spec = PathFinder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = NotifyingLoader(spec.loader, _AWAITED[name])  # type: ignore[assignment]
                return spec
        return None


class NotifyingLoader:
    """A module's loader until the module is there; afterwards it has left no trace."""

    def __init__(self, loader: Any, function: tuple[str, str]) -> None:
        self._loader, self._function = loader, function

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the loader does."""
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """As the loader does; then the function that waited is called."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _call(self._function, module)


class EarlyLogs:
    """Lines of `logging` between the beginning of the process and that of its recording."""

    def __init__(self, logging: Any) -> None:
        # When it was logged, level, logger and text.
        self._lines: list[tuple[int, int, str, str]] = []
        self._is_on = True
        self._kind = logging.Logger
        before: Callable[..., Any] = logging.Logger.callHandlers
        self._before = before

        def call_handlers(logger: Any, record: Any) -> None:
            before(logger, record)
            if self._is_on and len(self._lines) < _MOST_EARLY:
                with contextlib.suppress(Exception):  # bad arguments: logging reports them
                    line = (record.levelno, record.name, record.getMessage())
                    self._lines.append((time.time_ns(), *line))

        setattr(call_handlers, _EARLY, self)
        self._mine = call_handlers
        self._kind.callHandlers = call_handlers

    def take(self) -> list[tuple[int, int, str, str]]:
        """All of them; from now on none is kept."""
        if self._kind.callHandlers is self._mine:
            self._kind.callHandlers = self._before
        self._is_on = False
        taken, self._lines = self._lines, []
        return taken


def keep_early_logs(logging: Any) -> None:
    """Called when `logging` is there."""
    EarlyLogs(logging)


def take_early_logs() -> list[tuple[int, int, str, str]]:
    """When, level, logger and text of each line so far; this file may be loaded twice."""
    kind = getattr(sys.modules.get("logging"), "Logger", None)
    early = getattr(getattr(kind, "callHandlers", None), _EARLY, None)
    return early.take() if early is not None else []


def _call(function: tuple[str, str], module: ModuleType) -> None:
    where, name = function
    try:
        act: Callable[[ModuleType], None] = (
            getattr(importlib.import_module(where), name) if where else globals()[name]
        )
        act(module)
    except Exception as error:
        note("failed", f"{_explain(error, module.__name__)} ({sys.executable})")


def _explain(error: Exception, module: str) -> str:
    if isinstance(error, ImportError) and "_capture" in str(error):
        version = "{}.{}".format(*sys.version_info)
        return (
            f"the recorder is not built for Python {version}; install stepscope into the "
            "environment of the program"
        )
    package = module.partition(".")[0]
    known = (sys.modules.get(f"{package}.version"), sys.modules.get(package))
    versions = (getattr(one, "__version__", None) for one in known)
    version = next((one for one in versions if one), "of unknown version")
    return (
        f"{package} {version} is not as this stepscope knows it, so it is not recorded: {module}: "
        f"{type(error).__name__}: {error}"
    )


def _note_error(process: int) -> None:
    """The uncaught error, which Python keeps when it has printed it."""
    error = getattr(sys, "last_value", None)
    if error is None or os.getpid() != process:
        return
    lines = [line for line in str(error).splitlines() if line.strip()] or [""]
    # A process that prints another's error ends with it, as tracebacks do.
    line = lines[-1] if any("Traceback (most recent" in one for one in lines) else lines[0]
    text = f"{type(error).__name__}: {line}".removesuffix(": ")
    note("error", f"{time.time_ns()} {text[:_MOST_ERROR]}")


def begin(package: str) -> None:
    """Of the process: it is noted, and torch is waited for."""
    atexit.register(_note_error, os.getpid())
    note("python", "{}.{}.{} {}".format(*sys.version_info[:3], sys.executable))
    sys.meta_path.append(PackageFinder(package))
    sys.meta_path.insert(0, ImportWatch())
    if (logging := sys.modules.get("logging")) is not None:
        keep_early_logs(logging)
