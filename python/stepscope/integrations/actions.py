"""The time report: a framework's actions and the user's ranges as one tree, of every rank.

Read from recordings by the analysis `time`. Actions lie in each other, so each has a total and a
self time; only self times add up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepscope.integrations.recorded import RecordedRun

_INSIDE = " > "  # between the names of a path, in the analysis `time`

MAIN_THREAD = "main thread"
_WIDEST_NAME = 72  # of the text: its other columns take as much again


@dataclass
class Action:
    """One action below the one it was called in; sums over its calls, in nanoseconds."""

    name: str
    calls: int = 0
    total_ns: int = 0
    inside: dict[str, Action] = field(default_factory=dict)

    @property
    def self_ns(self) -> int:
        """Without the actions inside it that are in this tree."""
        return self.total_ns - sum(one.total_ns for one in self.inside.values())

    @property
    def mean_ns(self) -> float:
        """Of a call."""
        return self.total_ns / self.calls if self.calls else 0.0

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Action]]:
        """Itself, then what is inside, the longest first, each with its depth."""
        yield depth, self
        for one in sorted(self.inside.values(), key=lambda one: (-one.total_ns, one.name)):
            yield from one.walk(depth + 1)


# The actions of one place (main thread, async tasks, …): those that are in no other.
Tree = dict[str, Action]


@dataclass
class RankActions:
    """What one rank recorded: a tree for each place, and for how long it was recorded."""

    rank: int
    trees: dict[str, Tree]
    recorded_ns: int


def read_actions(run: RecordedRun) -> list[RankActions]:
    """Of every rank of a run."""
    return ranks_of(run.events.time(top=0).tables["ranges"].rows())


def ranks_of(rows: Iterable[dict[str, Any]]) -> list[RankActions]:
    """From rows of the table `ranges`; a row comes after the one that it is inside of, if any."""
    ranks: dict[int, RankActions] = {}
    found: dict[tuple[int, str, str], Action] = {}
    for row in sorted(rows, key=lambda row: int(row["depth"])):
        rank, where, path, name = row["rank"], row["where"], row["path"], row["range"]
        action = Action(name, row["calls"], row["total_ns"])
        found[rank, where, path] = action
        actions = ranks.setdefault(rank, RankActions(rank, {}, 0))
        above = found.get((rank, where, path[: -len(_INSIDE + name)])) if row["depth"] else None
        (actions.trees.setdefault(where, {}) if above is None else above.inside)[name] = action
        if where == MAIN_THREAD and row["share"]:
            actions.recorded_ns = max(actions.recorded_ns, round(row["total_ns"] / row["share"]))
    return [ranks[rank] for rank in sorted(ranks)]


def kept_tree(tree: Tree, keep: Callable[[str], bool]) -> Tree:
    """The tree without some actions; what was inside of those is inside of what they were in."""
    kept: Tree = {}

    def add(into: Tree, one: Action) -> None:
        target = into
        if keep(one.name):
            same = into.setdefault(one.name, Action(one.name))
            same.calls += one.calls
            same.total_ns += one.total_ns
            target = same.inside
        for below in one.inside.values():
            add(target, below)

    for one in tree.values():
        add(kept, one)
    return kept


# What a concise report shows of Lightning's own actions; the user's ranges are always shown.
_OF_INTEREST = re.compile(
    r"""\[Strategy\]\w+\.(batch_to_device|backward|training_step|validation_step|test_step)
    | \[_(TrainingEpoch|Evaluation|Prediction)Loop\]\..*
    | \[LightningDataModule\]\w+\.((train|val)_dataloader|state_dict|setup|prepare_data|teardown)
    | \[LightningModule\]\w+\.(optimizer_step|optimizer_zero_grad|configure_gradient_clipping
        |configure_optimizers|configure_sharded_model|configure_model|lr_scheduler_step
        |on_validation_model_(eval|train)|transfer_batch_to_device|setup|prepare_data)""",
    re.VERBOSE,
)
_CALLBACK = re.compile(r"\[Callback\]([^.{]*)")


def callback_of(name: str) -> str | None:
    """The class of a callback, where this is one of its hooks."""
    found = _CALLBACK.match(name)
    return found[1] if found else None


def callback_row(kind: str) -> str:
    """How the hooks of a callback of this class are called together."""
    return f"*Callback_{kind}"


def without_state(name: str) -> str:
    """Lightning puts the state of a callback into the names of its hooks."""
    return re.sub(r"\{.*?\}", "", name)


def is_of_interest(name: str) -> bool:
    """Whether a concise report shows this action; callbacks are shown apart."""
    return not name.startswith("[") or _OF_INTEREST.fullmatch(name) is not None


def callbacks_in(tree: Tree) -> dict[str, Action]:
    """By class: the hooks of a callback, added up. One hook within another counts once."""
    classes: dict[str, Action] = {}

    def add(one: Action, around: frozenset[str]) -> None:
        kind = callback_of(one.name)
        if kind is not None and kind not in around:
            sums = classes.setdefault(kind, Action(callback_row(kind)))
            sums.calls += one.calls
            sums.total_ns += one.total_ns
            around = around | {kind}
        for below in one.inside.values():
            add(below, around)

    for one in tree.values():
        add(one, frozenset())
    return classes


def time_report(
    ranks: Sequence[RankActions],
    verbose: bool = False,
    keep: Callable[[str], bool] = is_of_interest,
) -> str:
    """As text: the actions of the lowest rank, and beside them the slowest rank of each.

    Args:
        ranks: as `read_actions` gives them.
        verbose: every action; else the usual ones, with callbacks added up.
        keep: which ones are the usual ones.
    """
    if not ranks:
        return "Time report: nothing was recorded."
    first = ranks[0]
    lines = _Lines([*_HEAD, "slowest rank"] if len(ranks) > 1 else _HEAD)
    for where in sorted(first.trees, key=lambda one: (one != MAIN_THREAD, one)):
        all_trees = [actions.trees.get(where, {}) for actions in ranks]
        trees = all_trees if verbose else [kept_tree(tree, keep) for tree in all_trees]
        if where != MAIN_THREAD:
            lines.heading(f"in {where}")
        for top in sorted(trees[0].values(), key=lambda one: (-one.total_ns, one.name)):
            _add(
                lines, top, 0, first.recorded_ns, [(of.rank, t) for of, t in _beside(ranks, trees)]
            )
    if not verbose:
        sums = callbacks_in(first.trees.get(MAIN_THREAD, {}))
        sums = {kind: one for kind, one in sums.items() if not keep(f"[Callback]{kind}.")}
        if sums:
            lines.heading("callbacks, all hooks of each: part of the self times above")
        for one in sorted(sums.values(), key=lambda one: -one.total_ns):
            lines.row(_cells(one, 0, one.total_ns, first.recorded_ns))
    of_all = f"rank {first.rank} of {len(ranks)}" if len(ranks) > 1 else f"rank {first.rank}"
    return "\n".join(
        [
            f"Time report of {of_all}, {first.recorded_ns / 1e9:.3f} s recorded",
            *lines.text(),
            "Seconds of the host; self: without the actions shown inside. A GPU may still be at "
            "work when an action ends.",
        ]
    )


_HEAD = ["action", "calls", "total s", "self s", "mean s", "share"]


def _beside(ranks: Sequence[RankActions], trees: Sequence[Tree]) -> list[tuple[RankActions, Tree]]:
    return list(zip(ranks, trees, strict=True))


def _add(
    lines: _Lines, one: Action, depth: int, recorded_ns: int, others: list[tuple[int, Tree]]
) -> None:
    """A row and those inside it; `others` are the trees of all ranks at this place."""
    same = [(rank, tree[one.name]) for rank, tree in others if one.name in tree]
    cells = _cells(one, depth, one.self_ns, recorded_ns)
    if len(others) > 1:
        rank, slowest = max(same, key=lambda pair: (pair[1].total_ns, -pair[0]))
        cells.append(f"{rank}: {slowest.total_ns / 1e9:.5f}")
    lines.row(cells)
    for below in sorted(one.inside.values(), key=lambda one: (-one.total_ns, one.name)):
        _add(lines, below, depth + 1, recorded_ns, [(rank, a.inside) for rank, a in same])


def _cells(one: Action, depth: int, self_ns: int, recorded_ns: int) -> list[str]:
    share = f"{100 * one.total_ns / recorded_ns:.1f} %" if recorded_ns else ""
    seconds = (f"{ns / 1e9:.5f}" for ns in (one.total_ns, self_ns, one.mean_ns))
    return [_shown_name("  " * depth + one.name), f"{one.calls}", *seconds, share]


def _shown_name(name: str) -> str:
    """Without state, and not wider than that."""
    name = without_state(name)
    return name if len(name) <= _WIDEST_NAME else name[: _WIDEST_NAME - 1] + "…"


class _Lines:
    """Cells in columns: the first to the left, numbers to the right."""

    def __init__(self, head: list[str]) -> None:
        self._rows: list[list[str] | str] = [head]

    def row(self, cells: list[str]) -> None:
        self._rows.append(cells)

    def heading(self, text: str) -> None:
        self._rows.append(text)

    def text(self) -> Iterator[str]:
        cells = [row for row in self._rows if isinstance(row, list)]
        columns = len(self._rows[0])
        widths = [max(len(row[i]) for row in cells if i < len(row)) for i in range(columns)]
        for row in self._rows:
            if isinstance(row, str):
                yield f"({row})"
                continue
            first, *others = row
            numbers = (cell.rjust(widths[i + 1]) for i, cell in enumerate(others))
            yield "  ".join([first.ljust(widths[0]), *numbers]).rstrip()
