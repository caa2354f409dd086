"""What `stepscope.profile` was asked for, checked at the call and not in mid-training."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from stepscope.errors import UsageError
from stepscope.recording.schedule import Schedule
from stepscope.recording.schedule import schedule as make_schedule
from stepscope.recording.snapshot_options import SnapshotOptions
from stepscope.recording.trace_options import TraceOptions, trace_options

# The recorder counts in 64 bits: from here on no training comes to their end.
_MOST_FIRST = 2**62

Trace = bool | Collection[str] | Mapping[str, bool] | str | None


@dataclass(frozen=True)
class Settings:
    """The arguments of `profile`, which explains them."""

    folder: str
    schedule: Schedule
    trace: TraceOptions | None
    trace_wanted: bool  # it was asked for, so its lack is worth a warning
    snapshot: SnapshotOptions | None
    ranges: bool
    log_level: int | None
    system_hz: float | None
    rank0_only: bool
    max_bytes: float
    max_seconds: float
    config: Mapping[str, Any]
    tags: tuple[str, ...]
    run_id: str | None
    first_step: int
    first_epoch: int
    arguments: bool


def window_schedule(schedule: object, epochs: int | Collection[int] | None) -> Schedule:
    """The schedule of windows; three steps after ten others and a warm-up when nothing is said."""
    if schedule is None:
        return make_schedule(wait=0 if epochs is not None else 10, epochs=epochs)
    if not isinstance(schedule, Schedule):
        raise UsageError(
            f"schedule is made by stepscope.schedule(wait, warmup, active, …); it is {schedule!r}"
        )
    if epochs is not None:
        raise UsageError("give epochs to the schedule: schedule(…, epochs=…)")
    return schedule


def window_trace(trace: Trace) -> TraceOptions | None:
    """What traces hold; None for no traces."""
    if trace is False:
        return None
    if trace is None or trace is True:
        return trace_options([])
    if not isinstance(trace, Collection):
        raise UsageError(f"trace is True, False or a list such as ['shapes'], not {trace!r}")
    return trace_options(trace)


def log_level(logs: bool | int | str) -> int | None:
    """The least level that is recorded; None for none."""
    if logs is False:
        return None
    if logs is True:
        return logging.NOTSET
    # A number for the name of a level it knows.
    level = logging.getLevelName(logs.upper()) if isinstance(logs, str) else logs
    if not isinstance(level, int) or level < 0:
        raise UsageError(f"logs is True, False or a level such as logging.INFO, not {logs!r}")
    return level


def yes_or_no(name: str, value: object) -> bool:
    """What is wanted or not."""
    if not isinstance(value, bool):
        raise UsageError(f"{name} is True or False, not {value!r}")
    return value


def settings_of_training(config: object) -> Mapping[str, Any]:
    """What `config=` holds where it is no settings file."""
    if config is None:
        return {}
    if isinstance(config, Mapping):
        return config
    raise UsageError(f"config is a settings file or a dictionary, not {config!r}")


def folder_name(folder: str | os.PathLike[str] | None) -> str:
    """The folder as text."""
    if folder is None:
        raise UsageError(
            "the folder of the run is missing: profile(folder), or `folder:` in a file"
        )
    try:
        text = os.fspath(folder)
    except TypeError:
        raise UsageError(f"the folder of a run is a path, not {folder!r}") from None
    if not isinstance(text, str) or not text or "\0" in text:
        raise UsageError(f"the folder of a run is a path, not {folder!r}")
    return text


def iterable(batches: object) -> None:
    """What `watch` is given."""
    if not any(hasattr(batches, name) for name in ("__iter__", "__next__", "__getitem__")):
        raise UsageError(f"watch takes a loader, or what else can be iterated, not {batches!r}")


def positive(name: str, value: float) -> float:
    """A limit or a number that makes sense."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise UsageError(f"{name} is a number above 0, not {value!r}")
    return value


def words(name: str, value: str | Collection[str]) -> tuple[str, ...]:
    """Several, or one."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Collection):
        raise UsageError(f"{name} is a list of texts, not {value!r}")
    return tuple(value)


def optional_text(name: str, value: object) -> str | None:
    """A text, where one is given."""
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name} is a text, not {value!r}")
    if value == "":
        raise UsageError(f"{name} is empty; leave it out, or give a text")
    return value


def counted_from(name: str, value: int) -> int:
    """Where steps or epochs are counted from."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UsageError(f"{name} is a whole number from 0, not {value!r}")
    if value > _MOST_FIRST:
        raise UsageError(f"{name} is a whole number up to {_MOST_FIRST}, not {value}")
    return value
