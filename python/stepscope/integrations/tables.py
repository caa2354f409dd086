"""The tables of a run that are worth keeping beside it in a tracker, by name."""

from __future__ import annotations

from typing import Any

from stepscope.integrations.recorded import RecordedRun

# Analysis, table, and the name it gets.
_TABLES = (
    ("time", "ranges", "time"),
    ("throughput", "phases", "speed"),
    ("loader", "loaders", "loaders"),
    ("system", "machines", "machines"),
    ("system", "gpus", "gpus"),
    ("model", "summary", "model"),
)


def tables_of(run: RecordedRun) -> dict[str, dict[str, list[Any]]]:
    """Columns by name, of each table that has rows."""
    found = {}
    for analysis, table, name in _TABLES:
        options = {"top": 0} if analysis == "time" else {}
        source = run.with_traces if analysis == "throughput" else run.recordings
        rows = list(source.ask(analysis, **options)[table].rows())
        if rows:
            found[name] = {key: [_plain(row[key]) for row in rows] for key in rows[0]}
    return found


def sent_text(values: int, tables: int = 0) -> str:
    """For the line that says what was sent: "120 values and 4 tables"."""
    text = f"{values:,} value{'' if values == 1 else 's'}"
    return f"{text} and {tables} table{'' if tables == 1 else 's'}" if tables else text


def _plain(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list) else value
