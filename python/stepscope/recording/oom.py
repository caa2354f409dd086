"""A snapshot when a GPU's memory runs out, before anybody can catch the error.

torch takes observers for good, so there is one per process, which asks the watch of the moment.
Where torch has none, the uncaught exception has to do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from stepscope.recording import memory_history
from stepscope.recording.notices import Notices
from stepscope.recording.run_folder import RankFolder
from stepscope.recording.settings import Settings
from stepscope.recording.snapshot_file import write_snapshot
from stepscope.recording.snapshot_options import SnapshotOptions

# Programs that try batch sizes run out of memory many times; the first few tell enough.
_MOST_SNAPSHOTS = 3


class OomWatch:
    """Writes a snapshot whenever memory runs out, between `listen` and `forget`."""

    def __init__(
        self, options: SnapshotOptions, rank: RankFolder, notices: Notices, step: Callable[[], int]
    ) -> None:
        self._options, self._rank, self._notices, self._step = options, rank, notices, step
        self._count = 0
        self._is_listening = False

    def listen(self) -> None:
        """Once torch is there; costs nothing afterwards."""
        global _watch
        if self._is_listening or sys.modules.get("torch") is None:
            return
        self._is_listening = True
        _watch = self
        _attach_once()

    def forget(self) -> None:
        """Memory may run out without us."""
        global _watch
        if _watch is self:
            _watch = None

    def on_exception(self) -> None:
        """Memory ran out, and torch may not have said so: what is left is better than nothing."""
        if self._count == 0 and not memory_history.why_not():
            self.on_oom(-1, 0, 0)

    def on_oom(self, device: int, asked: int, free: int) -> None:
        """Called while torch still looks for memory: nothing may go wrong."""
        self._count += 1
        if self._count > _MOST_SNAPSHOTS:
            return
        step = self._step()
        try:
            facts, _ = write_snapshot(
                self._rank, f"memory-oom-{self._count - 1}", self._options, step
            )
            numbers = {"device": device, "asked_bytes": asked, "free_bytes": free} if asked else {}
            known = {"kind": "snapshot", "first_step": step, "steps": 0}
            self._notices.add_window({**known, "closed": "out of memory", **facts, **numbers})
            where = f" of device {device}, {asked:,} bytes were asked for," if asked else ""
            self._notices.warn(
                f"memory{where} ran out in step {step}; `stepscope memory "
                f"{self._rank.file(facts['files'][0])}` says why"
            )
        except Exception as error:
            self._notices.warn(f"memory ran out, and no snapshot could be written: {error}")


def watch_for_oom(
    settings: Settings, rank: RankFolder, notices: Notices, step: Callable[[], int]
) -> OomWatch | None:
    """Listening, where the settings want it on this rank."""
    asked = settings.snapshot
    if asked is None or not asked.on_oom:
        return None
    if (settings.rank0_only or asked.rank0_only) and rank.placement.rank != 0:
        return None
    watch = OomWatch(asked, rank, notices, step)
    watch.listen()
    return watch


_watch: OomWatch | None = None
_is_attached = False


def _attach_once() -> None:
    torch: Any = sys.modules["torch"]
    if _is_attached or not hasattr(torch._C, "_cuda_attach_out_of_memory_observer"):
        return
    # Now where CUDA is in use, else when it comes into use: waking it up here would make forked
    # workers fail.
    torch.cuda._lazy_call(_attach)


def _attach() -> None:
    global _is_attached
    torch: Any = sys.modules["torch"]
    if not _is_attached:
        _is_attached = True
        torch._C._cuda_attach_out_of_memory_observer(_observe)


def _observe(device: int, asked: int, allocated: int, free: int) -> None:
    if _watch is not None:
        _watch.on_oom(device, asked, free)
