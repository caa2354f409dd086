"""The settings file as arguments of `stepscope.profile`.

The file is read and checked by the program's own reader (`stepscope config` prints every key);
what it means arrives here as JSON, also in programs that `stepscope run` starts.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

from stepscope.arguments import path_text
from stepscope.recording.schedule import Schedule, schedule
from stepscope.recording.snapshot_options import SnapshotOptions, snapshot

Init = TypeVar("Init", bound=Callable[..., None])

# Of the plan, but no arguments of `profile`: the command that started the program uses them.
_OF_OTHERS = ("stage", "watch", "benchmark_profiler")


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What the file says, checked."""
    from stepscope import _core  # the engine: needed only for a file

    plan: dict[str, Any] = json.loads(_core.config_json(path_text("config", path)))
    return plan


def arguments_of(plan: dict[str, Any]) -> dict[str, Any]:
    """Of `profile`."""
    chosen = {name: value for name, value in plan.items() if name not in _OF_OTHERS}
    if "schedule" in chosen:
        chosen["schedule"] = _schedule(chosen["schedule"])
    if isinstance(chosen.get("snapshot"), dict):
        chosen["snapshot"] = _snapshot(chosen["snapshot"])
    return chosen


def _schedule(words: dict[str, Any]) -> Schedule:
    if "batches" in words:
        words = {**words, "batches": tuple(words["batches"])}
    return schedule(**words)


def _snapshot(words: dict[str, Any]) -> SnapshotOptions:
    rest = {name: value for name, value in words.items() if name not in ("window", "schedule")}
    if "schedule" in words:
        rest["schedule"] = _schedule(words["schedule"])
    return dataclasses.replace(snapshot(**rest), window=words["window"])


def takes_a_file(init: Init) -> Init:
    """Of `profile`: where `config` is a path, arguments that are not given are the file's."""

    @functools.wraps(init)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
        config = kwargs.get("config")
        plan: dict[str, Any] = {}
        if isinstance(config, str | os.PathLike):
            plan = read(config)
            given = {name: value for name, value in kwargs.items() if name != "config"}
            from_file = arguments_of(plan)
            if args or "folder" in given:
                from_file.pop("folder", None)
            if "epochs" in given:
                from_file.pop("schedule", None)
            kwargs = {**from_file, **given}
        init(self, *args, **kwargs)
        self.plan = plan

    return cast(Init, wrapper)
