"""What `run.findings()` gives: what is wrong, what to change, what it would bring."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from stepscope.table import Table

TYPE_CHECKING = False  # as in analyses.py
if TYPE_CHECKING:
    from typing import Any

    import pandas as pd

    from stepscope import _core


@dataclass(frozen=True)
class Evidence:
    """Something to look at: a text, and the event it is about where there is one."""

    text: str
    rank: int | None
    window: int | None
    step: int | None
    event: int | None  # its place in traceEvents
    kernels: tuple[str, ...] = ()  # their whole names, where the text has short ones


@dataclass(frozen=True)
class Change:
    """What to do: why, and the code or setting."""

    why: str
    code: str


@dataclass(frozen=True)
class Finding:
    """One finding with its texts. Gains are nanoseconds per step, (at least, at most)."""

    rule: str
    cause: str
    level: str
    title: str
    detail: str
    measured: dict[str, Any]
    gain_ns: tuple[int, int] | None
    remaining_ns: tuple[int, int] | None
    confidence: str
    ranks: tuple[int, ...]
    evidence: tuple[Evidence, ...]
    changes: tuple[Change, ...]
    verify: str
    page: str


@dataclass(frozen=True)
class NotJudged:
    """A rule that could not judge, and what to record so that it can."""

    rule: str
    why: str
    wanted: str  # in short: "shapes of inputs"
    record: str  # what to write or to type; empty where recording more would not help


class Findings:
    """Findings, the gravest first: a sequence of `Finding`, and a `table` of their numbers.

    Example:
        >>> findings = run.findings()
        >>> findings.healthy, findings[0].rule
        (False, 'launch-bound')
        >>> findings.table["level"].tolist()[0]
        'warning'
    """

    def __init__(self, core: _core.Advice) -> None:
        answer = json.loads(core.json)
        self.table = Table(core.table)
        self.healthy: bool | None = answer["healthy"]  # None: it could not be judged
        self.step_ns: int = answer["step_ns"]
        self.verdict: list[str] = answer["verdict"]
        self.not_judged = [NotJudged(**one) for one in answer["not_judged"]]
        self._list = [_finding(one) for one in answer["findings"]]

    def __len__(self) -> int:
        return len(self._list)

    def __getitem__(self, index: int) -> Finding:
        return self._list[index]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._list)

    def to_pandas(self) -> pd.DataFrame:
        """The table as a data frame."""
        return self.table.to_pandas()

    def __repr__(self) -> str:
        lines = list(self.verdict)
        lines += [f"{one.level}: {one.title} [{one.rule}]" for one in self._list]
        return "\n".join(lines)


def _bounds(gain: dict[str, int] | None) -> tuple[int, int] | None:
    return None if gain is None else (gain["low_ns"], gain["high_ns"])


def _finding(answer: dict[str, Any]) -> Finding:
    return Finding(
        rule=answer["rule"],
        cause=answer["cause"],
        level=answer["level"],
        title=answer["title"],
        detail=answer["detail"],
        measured=answer["measured"],
        gain_ns=_bounds(answer["gain_per_step"]),
        remaining_ns=_bounds(answer["remaining_gain_per_step"]),
        confidence=answer["confidence"],
        ranks=tuple(answer["ranks"]),
        evidence=tuple(
            Evidence(**{**one, "kernels": tuple(one.get("kernels", ()))})
            for one in answer["evidence"]
        ),
        changes=tuple(Change(**one) for one in answer["changes"]),
        verify=answer["verify"],
        page=answer["page"],
    )
