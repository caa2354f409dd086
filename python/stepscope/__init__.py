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

TYPE_CHECKING = False  # as in analyses.py
if TYPE_CHECKING:
    from stepscope.advice import Finding, Findings
    from stepscope.check import Check, check_steps
    from stepscope.ranges import counter, instant, log, range, step
    from stepscope.recording.lines import lines, lines_report
    from stepscope.recording.profile import profile
    from stepscope.recording.schedule import Schedule, schedule
    from stepscope.recording.snapshot_options import snapshot
    from stepscope.run import Run, open, open_memory
    from stepscope.table import Answer, Column, Diff, Table

# Loaded when first asked for: a training does without the engine, a reader without the recorder.
_LATER = {
    "Answer": "stepscope.table",
    "Check": "stepscope.check",
    "Column": "stepscope.table",
    "Diff": "stepscope.table",
    "Finding": "stepscope.advice",
    "Findings": "stepscope.advice",
    "Run": "stepscope.run",
    "Schedule": "stepscope.recording.schedule",
    "Table": "stepscope.table",
    "check_steps": "stepscope.check",
    "counter": "stepscope.ranges",
    "instant": "stepscope.ranges",
    "lines": "stepscope.recording.lines",
    "lines_report": "stepscope.recording.lines",
    "log": "stepscope.ranges",
    "open": "stepscope.run",
    "open_memory": "stepscope.run",
    "profile": "stepscope.recording.profile",
    "range": "stepscope.ranges",
    "schedule": "stepscope.recording.schedule",
    "snapshot": "stepscope.recording.snapshot_options",
    "step": "stepscope.ranges",
}


def __getattr__(name: str) -> object:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'stepscope' has no attribute {name!r}")
    import importlib

    found = globals()[name] = getattr(importlib.import_module(module), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "Answer",
    "CancelledError",
    "Check",
    "Column",
    "Diff",
    "Error",
    "Finding",
    "Findings",
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
    "check_steps",
    "counter",
    "instant",
    "lines",
    "lines_report",
    "log",
    "open",
    "open_memory",
    "profile",
    "range",
    "schedule",
    "snapshot",
    "step",
]
