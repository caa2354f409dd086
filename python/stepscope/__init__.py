"""stepscope: where a training run's time and memory go.

>>> import stepscope
>>> run = stepscope.open("examples/data/gpt_bf16.json.gz")
>>> run.steps()["steps"]["step"].tolist()
[2, 3, 4]
>>> biggest = next(run.kernels().table.rows())
>>> biggest["count"]
249

The guide is docs/python/README.md of the project.
"""

from stepscope._version import __version__
from stepscope.errors import (
    CancelledError,
    Error,
    FormatError,
    LimitError,
    NotFoundError,
    ReadError,
    RecordingError,
    RecordingWarning,
    UsageError,
)
from stepscope.run import Run, open, open_memory
from stepscope.table import Answer, Column, Table

TYPE_CHECKING = False  # as in analyses.py
if TYPE_CHECKING:
    from stepscope.ranges import counter, instant, log, range, step
    from stepscope.recording.profile import profile
    from stepscope.recording.schedule import Schedule, schedule

# What records is loaded when it is first asked for: who only reads a run does without.
_RECORDING = {
    "Schedule": "stepscope.recording.schedule",
    "counter": "stepscope.ranges",
    "instant": "stepscope.ranges",
    "log": "stepscope.ranges",
    "profile": "stepscope.recording.profile",
    "range": "stepscope.ranges",
    "schedule": "stepscope.recording.schedule",
    "step": "stepscope.ranges",
}


def __getattr__(name: str) -> object:
    module = _RECORDING.get(name)
    if module is None:
        raise AttributeError(f"module 'stepscope' has no attribute {name!r}")
    import importlib

    found = globals()[name] = getattr(importlib.import_module(module), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_RECORDING})


__all__ = [
    "Answer",
    "CancelledError",
    "Column",
    "Error",
    "FormatError",
    "LimitError",
    "NotFoundError",
    "ReadError",
    "RecordingError",
    "RecordingWarning",
    "Run",
    "Schedule",
    "Table",
    "UsageError",
    "__version__",
    "counter",
    "instant",
    "log",
    "open",
    "open_memory",
    "profile",
    "range",
    "schedule",
    "step",
]
