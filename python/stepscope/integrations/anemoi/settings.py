"""The mapping `benchmark_profiler` of an Anemoi config, and what it means for a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
    """What is left out has its default; keys that nobody knows are left to who reads configs."""
    parts = {name: dict(keys) for name, keys in DEFAULTS.items()}
    for name, keys in (given or {}).items():
        if name not in parts:
            continue
        if isinstance(keys, bool):
            keys = {"enabled": keys}
        for key, value in dict(keys or {}).items():
            parts[name][_ALIASES.get(str(key), str(key))] = value
    return AnemoiSettings(parts)


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
    return schedule(wait=0, warmup=int(part["warmup"] or 0), active=int(part["steps"]))
