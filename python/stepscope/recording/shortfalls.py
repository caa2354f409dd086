"""What keeps a recording from holding what was asked for, with a warning in time or at the end."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection

from stepscope.recording.loading.transforms import datasets_in
from stepscope.recording.notices import Notices
from stepscope.recording.placement import find_placement
from stepscope.recording.run_folder import RankFolder, sized
from stepscope.recording.schedule import counted
from stepscope.recording.settings import Settings
from stepscope.recording.window_list import WindowList
from stepscope.recording.windows import ScheduledWindow

_LITTLE_DISK_BYTES = 2 << 30


def warn_of_little_disk(rank: RankFolder, notices: Notices) -> None:
    """At the start: a trace may take gigabytes."""
    try:
        free = shutil.disk_usage(rank.path).free
    except OSError:
        return
    if free < _LITTLE_DISK_BYTES:
        notices.warn(f"only {sized(free)} are free on the disk of {rank.path}")


def warn_of_other_profilers(windows: WindowList, notices: Notices) -> None:
    """At the start: tools that make every call slower, or want the same counters."""
    if not windows:
        return
    if sys.getprofile() is not None or sys.gettrace() is not None:
        notices.warn(
            "a Python profiler, debugger or coverage tool is active: Python code runs slower "
            "under it, and the times show that"
        )
    if any(name.startswith("NSYS_") for name in os.environ):
        notices.warn(
            "this runs under Nsight Systems, which may keep torch.profiler from seeing the GPU"
        )


def warn_of_another_rank(rank: RankFolder, notices: Notices) -> None:
    """At the first step: a process that records too early is taken for another rank."""
    now = find_placement(os.environ)
    if now.source == "torch.distributed" and now.rank != rank.placement.rank:
        notices.warn(
            f"this process is recorded as rank {rank.placement.rank}, but torch.distributed says "
            f"it is rank {now.rank}: start the recording after init_process_group"
        )


def warn_of_a_short_epoch(batches: object, windows: WindowList, notices: Notices) -> None:
    """Before an epoch: whether it has as many batches as a window counts on."""
    try:
        count = len(batches)  # type: ignore[arg-type]
    except (TypeError, NotImplementedError):
        return  # unknown
    for window in windows:
        if window.schedule.by_epoch and count < window.schedule.steps_needed:
            text = (
                f"an epoch has {count} batches, but the {window.kind} window needs "
                f"{window.schedule.steps_needed} ({window.schedule})"
            )
            notices.warn_once(text, text)


def warn_of_unknown_transforms(
    batches: object, transforms: Collection[str], notices: Notices
) -> None:
    """Of names that no dataset of the loader has; one that is not known may have all."""
    dataset = getattr(batches, "dataset", None)
    if dataset is None:
        return
    for name in transforms:
        if not any(hasattr(one, name) for one in datasets_in(dataset)):
            notices.warn(
                f"watch(transforms=…): no dataset of this loader has {name!r}; what it does "
                "counts as fetching"
            )


def warn_of_too_few_steps(
    settings: Settings,
    windows: WindowList,
    steps: int,
    epochs: int,
    notices: Notices,
    has_loader: bool | None,
    by_command: bool,
) -> None:
    """At the end: windows that never came, or were cut short by it; a training without steps.

    Args:
        settings: of the recording.
        windows: of the recording.
        steps: that ended.
        epochs: that ended.
        notices: where warnings go.
        has_loader: whether a training's loader was watched; None: no loader at all.
        by_command: `stepscope run` records; what its user can change are its options.
    """
    is_warned = False
    is_training = sys.modules.get("torch") is not None or settings.trace_wanted
    for window in windows if is_training else ():
        if window.opened == 0 and not window.is_given_up:
            notices.warn(_never_came(window, steps, epochs, by_command, "was never opened"))
            is_warned = True
        elif window.is_cut_by_the_end and window.steps_held == 0 and steps > 0:
            # It came as the run ended: of an epoch that follows the last, say.
            notices.warn(_never_came(window, steps, epochs, by_command, "holds no whole step"))
        elif window.is_cut_by_the_end and window.schedule.active is not None:
            notices.warn(f"the run ended within the {window.kind} window: it holds {window.held}")
    may_train = is_training or has_loader or (has_loader is None and not by_command)
    if steps == 0 and not is_warned and may_train:
        lack = "the recording has no steps: no rate, and no time or energy per step"
        notices.warn(
            f"no step of an optimizer ended, so {lack}"
            if by_command
            else f"step() was never called, so {lack}; call it at the end of every training step"
        )


def _never_came(
    window: ScheduledWindow, steps: int, epochs: int, by_command: bool, lack: str
) -> str:
    planned = f"the {window.kind} window ({window.schedule}) {lack}"
    if by_command:
        return _never_came_to_command(window, steps, planned)
    if steps == 0:
        return f"{planned}: step() was never called; call it at the end of every training step"
    ended = f"{planned}: the run ended after {counted(steps)}"
    if window.schedule.by_epoch and epochs == 0:
        return f"{ended}, and no epoch did; is epoch() called?"
    if window.schedule.by_epoch:
        return f"{ended} and {counted(epochs, 'epoch')}; choose an earlier epoch, or fewer batches"
    return f"{ended}; choose an earlier one with schedule=stepscope.schedule(wait=…, active=…)"


def _never_came_to_command(window: ScheduledWindow, steps: int, planned: str) -> str:
    if steps == 0:
        return f"{planned}: no step of an optimizer ended"
    ended = f"{planned}: the run ended after {counted(steps)}"
    if window.schedule.by_epoch:
        return f"{ended}; choose an earlier epoch, or fewer batches, with --epoch"
    first = max(0, steps - 3)  # the last three
    return f"{ended}; choose earlier ones, such as --steps {first}:{steps}"
