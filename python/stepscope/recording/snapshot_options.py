"""What allocator snapshots hold, as given to `stepscope.snapshot(…)`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stepscope.errors import UsageError
from stepscope.recording.schedule import Schedule

_STACKS = ("python", "modules", "all", "none")

# An entry is an allocation or a free: some 500 bytes in memory, 200 in the file. A training step
# makes a few thousand.
_USUAL_ENTRIES = 200_000


@dataclass(frozen=True)
class SnapshotOptions:
    """The arguments of `snapshot`, which explains them."""

    schedule: Schedule | None
    stacks: str
    max_entries: int
    rank0_only: bool
    on_oom: bool
    models: tuple[Any, ...]
    optimizers: tuple[Any, ...]
    frees: bool = False
    window: bool = True  # False: only when memory runs out


def snapshot(
    schedule: Schedule | None = None,
    *,
    stacks: str = "python",
    frees: bool = False,
    max_entries: int = _USUAL_ENTRIES,
    rank0_only: bool = False,
    on_oom: bool = True,
    models: object = (),
    optimizers: object = (),
) -> SnapshotOptions:
    """How `profile(snapshot=…)` records what the allocator of the GPU does.

    Args:
        schedule: which steps; those of the other windows when left out.
        stacks: "python" has every call; "modules" only the pass and the modules around, which is
            the cheapest that tells causes (from torch 2.10 on); "all" has C++ frames too and
            costs one and a half times to nearly three times what "python" does; "none" tells no
            causes.
        frees: whether stacks are taken where memory is given back too; the window costs up to half
            as much again, and most of what is given back goes when a function returns.
        max_entries: allocations and frees that are kept; older ones are overwritten.
        rank0_only: on rank 0 alone.
        on_oom: also a snapshot whenever memory runs out.
        models: modules whose parameters and gradients are written down by address. When neither
            these nor optimizers are given, those that are alive are found.
        optimizers: the same for optimizers and their state.

    Example:
        >>> import stepscope
        >>> stepscope.snapshot(max_entries=50_000).stacks
        'python'
    """
    if schedule is not None and not isinstance(schedule, Schedule):
        raise UsageError(
            f"a snapshot's schedule is made by stepscope.schedule(…), not {schedule!r}"
        )
    if stacks not in _STACKS:
        raise UsageError(f"stacks is one of {', '.join(_STACKS)}, not {stacks!r}")
    if not isinstance(max_entries, int) or isinstance(max_entries, bool) or max_entries < 1:
        raise UsageError(f"max_entries is a whole number above 0, not {max_entries!r}")
    return SnapshotOptions(
        schedule=schedule,
        stacks=stacks,
        max_entries=max_entries,
        rank0_only=bool(rank0_only),
        on_oom=bool(on_oom),
        models=_several(models),
        optimizers=_several(optimizers),
        frees=bool(frees),
    )


def window_snapshot(asked: object) -> SnapshotOptions | None:
    """Of `profile(snapshot=…)`; None for none at all. Not asked for: only when memory runs out."""
    if asked is None:
        made = snapshot()
        return SnapshotOptions(**{**made.__dict__, "window": False})
    if asked is False:
        return None
    if asked is True:
        return snapshot()
    if isinstance(asked, Schedule):
        return snapshot(asked)
    if not isinstance(asked, SnapshotOptions):
        raise UsageError(
            "snapshot is True, False, a stepscope.schedule(…) or stepscope.snapshot(…), "
            f"not {asked!r}"
        )
    return asked


def _several(given: object) -> tuple[Any, ...]:
    """One of them or many; a module that holds others is one."""
    if given is None:
        return ()
    if isinstance(given, list | tuple | set | frozenset):
        return tuple(given)
    if isinstance(given, Iterable) and not hasattr(given, "parameters"):
        return tuple(given)
    return (given,)
