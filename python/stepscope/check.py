"""Step times that Python holds, guarded as `stepscope check` guards runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stepscope import _core
from stepscope.arguments import optional_path
from stepscope.errors import UsageError

TYPE_CHECKING = False  # as in analyses.py
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class Check:
    """What a comparison of step times came to."""

    failed: bool
    """Whether a limit is surely broken."""
    verdict: str
    """One line."""
    limits: list[dict[str, Any]]
    """One per limit, as in `stepscope check --json`: outcome, text, figures."""


def check_steps(
    runs: Sequence[Iterable[float]],
    baseline: Sequence[Iterable[float]],
    *,
    rules: str | os.PathLike[str] | None = None,
) -> Check:
    """Whether runs are surely slower than a baseline.

    Args:
        runs: step times in seconds, one sequence per run, from the first step on: warm-up is found.
        baseline: the same, of the runs to compare with.
        rules: a YAML file with limits; step time and throughput no worse when left out.

    Example:
        >>> steady = [0.1, 0.101, 0.1, 0.099, 0.1, 0.102] * 10
        >>> check_steps([steady], [steady]).failed
        False
        >>> check_steps([[1.1 * step for step in steady]], [steady]).verdict
        'failed: step_time, throughput'
    """
    answer = json.loads(
        _core.check_steps(
            _step_times("runs", runs),
            _step_times("baseline", baseline),
            optional_path("rules", rules),
        )
    )
    return Check(answer["failed"], answer["verdict"], answer["limits"])


def _step_times(name: str, runs: Sequence[Iterable[float]]) -> list[list[float]]:
    try:
        return [[float(step) for step in run] for run in runs]
    except (TypeError, ValueError):
        raise UsageError(
            f"{name} holds a sequence of step times in seconds for each run: "
            "[[0.1, 0.11, …], …]; of one run, [times]"
        ) from None
