"""Anemoi's Time report: time_profiler.csv.

Its columns are Anemoi's, followed by more. A row is an action, whatever it was called in; a
callback is one row. Figures are means over the ranks; an average is total / calls. Self times add
up to what was spent in actions: time in a row that is shown is in no other row's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from stepscope.integrations.actions import (
    Action,
    RankActions,
    callback_of,
    callback_row,
    is_of_interest,
    kept_tree,
    without_state,
)
from stepscope.integrations.frame import Frame

COLUMNS = (
    "name",
    "total_time",
    "n_calls",
    "avg_time",
    "category",
    "self_time",
    "depth",
    "inside",
    "ranks",
    "slowest_rank",
    "slowest_total_time",
)


_NOTHING = "no other"  # of calls that were in no action


@dataclass
class _Row:
    """One action of one rank, all its places together."""

    calls: int = 0
    total_ns: int = 0
    self_ns: int = 0
    depths: set[int] = field(default_factory=set)
    inside: dict[str, int] = field(default_factory=dict)  # calls, by what it was called in


def time_frame(ranks: Iterable[RankActions], verbose: bool) -> Frame:
    """Of all ranks."""
    by_name: dict[str, dict[int, _Row]] = {}
    for of in ranks:
        for name, row in _rows_of(of, verbose).items():
            by_name.setdefault(name, {})[of.rank] = row
    rows = [_cells(name, rows) for name, rows in by_name.items()]
    # Anemoi's order; within a category the longest first.
    rows.sort(key=lambda row: -float(row[1]))
    rows.sort(key=lambda row: str(row[4]), reverse=True)
    return Frame(COLUMNS, rows)


def _rows_of(of: RankActions, verbose: bool) -> dict[str, _Row]:
    rows: dict[str, _Row] = {}

    def take(one: Action, depth: int, inside: str, around: frozenset[str]) -> None:
        name = _row_name(one.name)
        row = rows.setdefault(name, _Row())
        row.self_ns += one.self_ns
        if name not in around:  # an action within itself is time that passed once
            row.calls += one.calls
            row.total_ns += one.total_ns
            row.depths.add(depth)
            row.inside[inside] = row.inside.get(inside, 0) + one.calls
        for below in one.inside.values():
            take(below, depth + 1, name, around | {name})

    for tree in of.trees.values():
        for top in (tree if verbose else kept_tree(tree, is_kept)).values():
            take(top, 0, "", frozenset())
    return rows


def is_kept(name: str) -> bool:
    """Whether the concise report has this action, as Anemoi's does."""
    kind = callback_of(name)
    if kind is not None:
        return "Plot" in kind or "Checkpoint" in kind
    return is_of_interest(name)


def _row_name(name: str) -> str:
    """Without the state of what is called; the hooks of a callback are one row."""
    kind = callback_of(name)
    return callback_row(kind) if kind is not None else without_state(name)


def _inside_text(row: _Row) -> str:
    """What it was called in; where that was several, with the calls in each, most calls first."""
    if len(row.inside) == 1:
        return next(iter(row.inside))
    places = sorted(row.inside.items(), key=lambda place: (-place[1], place[0]))
    return "; ".join(f"{name or _NOTHING} ({calls})" for name, calls in places)


def _category(name: str) -> str:
    found = re.match(r"\[(.*?)\]", name)
    return found[1] if found else name


def _cells(name: str, by_rank: dict[int, _Row]) -> list[Any]:
    count = len(by_rank)
    first = by_rank[min(by_rank)]
    calls = sum(row.calls for row in by_rank.values())
    total = sum(row.total_ns for row in by_rank.values())
    own = sum(row.self_ns for row in by_rank.values())
    slowest = max(by_rank, key=lambda rank: (by_rank[rank].total_ns, -rank))
    return [
        name,
        _seconds(total / count),
        calls // count if calls % count == 0 else round(calls / count, 2),
        _seconds(total / calls if calls else 0),
        _category(name),
        _seconds(own / count),
        next(iter(first.depths)) if len(first.depths) == 1 else "",
        _inside_text(first),
        count,
        slowest,
        _seconds(by_rank[slowest].total_ns),
    ]


def _seconds(ns: float) -> float:
    return round(ns / 1e9, 5)
