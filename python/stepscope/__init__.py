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
    UsageError,
)
from stepscope.run import Run, open, open_memory
from stepscope.table import Answer, Column, Table

__all__ = [
    "Answer",
    "CancelledError",
    "Column",
    "Error",
    "FormatError",
    "LimitError",
    "NotFoundError",
    "ReadError",
    "Run",
    "Table",
    "UsageError",
    "__version__",
    "open",
    "open_memory",
]
