"""The mapping `benchmark_profiler` of an Anemoi config, and what it means for a recording."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stepscope.errors import UsageError
from stepscope.recording.schedule import schedule

# Of Anemoi's `detailed`.
DEFAULTS: dict[str, dict[str, Any]] = {
    "memory": {
        "enabled": True,
        "steps": 5,
        "warmup": 2,
        "extra_plots": False,
        "trace_rank0_only": False,
    },
    "time": {"enabled": True, "verbose": False},
    "speed": {"enabled": True},
    "system": {"enabled": True},
    "model_summary": {"enabled": True},
    "snapshot": {"enabled": True, "steps": 4, "warmup": 0},
}
_ALIASES = {"track_rank0_only": "trace_rank0_only"}
_LEAST = {"steps": 1, "warmup": 0}  # of the keys that count; the others are switches


@dataclass(frozen=True)
class AnemoiSettings:
    """Which reports are wanted, with all keys."""

    parts: dict[str, dict[str, Any]]

    def wants(self, part: str) -> bool:
        """Whether it is switched on."""
        return bool(self.parts[part]["enabled"])

    def __getitem__(self, part: str) -> dict[str, Any]:
        return self.parts[part]


def settings_of(given: Mapping[str, Any] | None) -> AnemoiSettings:
    """What is left out, or None, has its default.

    Raises:
        UsageError: an unknown key, with the nearest right one, or a value it cannot have;
            as `stepscope run --config` says it of a file.
    """
    parts = {name: dict(keys) for name, keys in DEFAULTS.items()}
    for part, keys in _mapping("settings", given).items():
        name = str(part)
        if name not in parts:
            raise UsageError(f"settings: unknown key '{name}'{_meant(name, parts)}")
        if isinstance(keys, bool):
            keys = {"enabled": keys}
        for said, value in _mapping(name, keys).items():
            key = _ALIASES.get(str(said), str(said))
            if key not in parts[name]:
                raise UsageError(
                    f"settings: unknown key '{key}' in '{name}'{_meant(key, parts[name])}"
                )
            if value is not None:
                parts[name][key] = _value(name, key, value)
    return AnemoiSettings(parts)


def _mapping(name: str, keys: Any) -> Mapping[Any, Any]:
    if keys is None:
        return {}
    if not isinstance(keys, Mapping):
        where = "" if name == "settings" else "settings: "
        raise UsageError(f"{where}'{name}' takes keys of its own, not {keys!r}")
    return keys


def _meant(word: str, words: Iterable[str]) -> str:
    known = list(words)
    near = difflib.get_close_matches(word, known, 1)
    return f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(known)}"


def _value(part: str, key: str, value: Any) -> int | bool:
    least = _LEAST.get(key)
    if least is None:
        if isinstance(value, bool):
            return value
        raise UsageError(f"settings: '{key}' in '{part}' takes True or False, not {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool) or number < least:
        raise UsageError(
            f"settings: '{key}' in '{part}' takes a whole number from {least}, not {value!r}"
        )
    return number


def profile_options(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Arguments of `stepscope.profile` that record what these reports need.

    Steps are steps of the optimizer, for both windows.
    """
    wanted = settings_of(given)
    options: dict[str, Any] = {"system": wanted.wants("system")}
    memory, snapshot = wanted["memory"], wanted["snapshot"]
    if wanted.wants("memory"):
        options["schedule"] = _window(memory)
        options["trace"] = ["shapes", "memory", "stacks"]
        options["rank0_only"] = bool(memory["trace_rank0_only"])
    else:
        options["trace"] = False
    if wanted.wants("snapshot"):
        options["snapshot"] = _window(snapshot)
    return options


def _window(part: Mapping[str, Any]) -> Any:
    return schedule(wait=0, warmup=part["warmup"], active=part["steps"])
