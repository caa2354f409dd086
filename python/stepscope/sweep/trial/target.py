"""What the user named: a function that makes a loader, and what it makes."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


class TargetError(Exception):
    """A sentence for the user."""


def find_target(text: str) -> Callable[..., Any]:
    """The function that `module:function` or `path/to/file.py:function` names."""
    where, colon, name = text.rpartition(":")
    if not colon or not where or not name:
        raise TargetError(f"'{text}' is not module:function or path/to/file.py:function")
    sys.argv = [where]  # a script that reads its arguments when it is imported finds none
    found: Any = _module(where)
    for part in name.split("."):
        if not hasattr(found, part):
            raise TargetError(_no_such_name(found, where, name))
        found = getattr(found, part)
    if not callable(found):
        raise TargetError(f"{text} is a {type(found).__name__}, not a function")
    return found  # type: ignore[no-any-return]


def _module(where: str) -> Any:
    if where.endswith(".py") or "/" in where:
        file = Path(where)
        if not file.is_file():
            raise TargetError(f"there is no file {where}")
        if not file.stem.isidentifier():
            raise TargetError(f"{where} cannot be imported: its name is no name of a module")
        # As `python file.py` has it; by its own name, so that workers can import it too.
        sys.path.insert(0, str(file.resolve().parent))
        where = file.stem
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        if error.name and (where == error.name or where.startswith(error.name + ".")):
            raise TargetError(f"there is no module '{error.name}' here or on PYTHONPATH") from None
        raise


def _no_such_name(found: Any, where: str, name: str) -> str:
    text = f"{where} has no '{name}'"
    near = difflib.get_close_matches(name, [n for n in dir(found) if not n.startswith("_")], 1)
    return f"{text}; did you mean '{near[0]}'?" if near else text


def taken(target: Callable[..., Any], keywords: Iterable[str]) -> list[str]:
    """Those of the keywords that the function takes."""
    try:
        parameters = inspect.signature(target).parameters
    except (TypeError, ValueError):  # written in C: unknown
        return list(keywords)
    kinds = inspect.Parameter
    for parameter in parameters.values():
        if parameter.name in keywords or parameter.default is not kinds.empty:
            continue
        if parameter.kind not in (kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL):
            raise TargetError(
                f"{getattr(target, '__qualname__', target)} wants '{parameter.name}', "
                "which is no setting of a loader: give it a default"
            )
    if any(parameter.kind is kinds.VAR_KEYWORD for parameter in parameters.values()):
        return list(keywords)
    by_name = {kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY}
    return [name for name in keywords if name in parameters and parameters[name].kind in by_name]


def loader_and_step(made: Any) -> tuple[Any, Callable[[Any], Any] | None]:
    """What the function returned, apart."""
    loader, step = made, None
    if isinstance(made, tuple):
        if len(made) != 2:
            raise TargetError(f"returned {len(made)} things: {_WANTED}")
        loader, step = made
        if not callable(step):
            raise TargetError(f"returned a {type(step).__name__} as train_step: {_WANTED}")
    if not hasattr(loader, "__iter__") or isinstance(loader, str | bytes | dict | set):
        raise TargetError(f"returned {_kind(loader)}: {_WANTED}")
    return loader, step


_WANTED = "it must return a DataLoader, or a pair (loader, train_step)"


def _kind(thing: Any) -> str:
    return "None" if thing is None else f"a {type(thing).__name__}"


SETTINGS = (
    "num_workers",
    "prefetch_factor",
    "pin_memory",
    "persistent_workers",
    "drop_last",
    "batch_size",
)


def settings_of(loader: Any) -> dict[str, int]:
    """As the loader itself has them, whatever it was asked for; what it does not tell is left out.

    Switches are 0 and 1.
    """
    found: dict[str, int] = {}
    for name in SETTINGS:
        with contextlib.suppress(Exception):  # the user's class may do anything
            value = getattr(loader, name, None)
            if value is None:
                value = getattr(getattr(loader, "batch_sampler", None), name, None)
            if isinstance(value, int):
                found[name] = int(value)
    return found
