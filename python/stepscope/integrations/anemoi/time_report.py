"""Anemoi's Time report: time_profiler.csv.

Its columns are Anemoi's, with more behind them. A row is an action, whatever it was called in; a
callback is one row. Figures are means over the ranks; an average is total / calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stepscope.integrations.actions import (
    Action,
    RankActions,
    callback_of,
    callbacks_in,
    is_of_interest,
    kept_tree,
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


@dataclass
class _Row:
    """One action of one rank, all its places together."""

    calls: int = 0
    total_ns: int = 0
    self_ns: int = 0
    depth: int = 0
    inside: str = ""
    longest_ns: int = -1  # at the place that depth and inside are of


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
        name = _clean(one.name)
        row = rows.setdefault(name, _Row())
        row.self_ns += one.self_ns
        if name not in around:  # an action within itself is time that passed once
            row.calls += one.calls
            row.total_ns += one.total_ns
        if one.total_ns > row.longest_ns:
            row.longest_ns, row.depth, row.inside = one.total_ns, depth, inside
        for below in one.inside.values():
            take(below, depth + 1, name, around | {name})

    for tree in of.trees.values():
        for kind, sums in callbacks_in(tree).items():
            if verbose or "Plot" in kind or "Checkpoint" in kind:
                row = rows.setdefault(sums.name, _Row())
                row.calls += sums.calls
                row.total_ns += sums.total_ns
                row.self_ns += sums.total_ns
        for top in kept_tree(tree, lambda name: _is_kept(name, verbose)).values():
            take(top, 0, "", frozenset())
    return rows


def _is_kept(name: str, verbose: bool) -> bool:
    return callback_of(name) is None and (verbose or is_of_interest(name))


def _clean(name: str) -> str:
    """Without the state of what is called."""
    return re.sub(r"\{.*?\}", "", name)


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
        first.depth,
        first.inside,
        count,
        slowest,
        _seconds(by_rank[slowest].total_ns),
    ]


def _seconds(ns: float) -> float:
    return round(ns / 1e9, 5)
