"""Ranges reach other tools too: torch's profiler in a trace window, and NVTX where a tool listens.

A tool that records NVTX (Nsight Systems) names its library in the environment; it gets ranges all
the time, not only in windows. A range that was handed on is taken back by whoever took it, also
when the window has ended meanwhile.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from stepscope import _capture

# Set by tools that record NVTX, for the processes they start.
_LISTENER = "NVTX_INJECTION64_PATH"


Leave = Callable[[], object]
Enter = Callable[[str], Leave]


def hand_ranges_on(to_torch: bool) -> None:
    """From now on: to NVTX where a tool listens, and to torch's profiler if that is asked for."""
    _capture.set_hook(_taker(to_torch))


def _taker(to_torch: bool) -> Enter | None:
    """What each range is handed to."""
    torch: Any = sys.modules.get("torch")
    if not _is_imported(torch):
        return _look_for_torch if _LISTENER in os.environ else None
    nvtx = _nvtx(torch, to_torch)
    if to_torch:
        return _to_both(torch.autograd.profiler.record_function, nvtx)
    return None if nvtx is None else _to_nvtx(nvtx)


def _to_nvtx(nvtx: Any) -> Enter:
    def push(name: str) -> Leave:
        nvtx.range_push(name)
        return nvtx.range_pop  # type: ignore[no-any-return]

    return push


def _to_both(record_function: Any, nvtx: Any) -> Enter:
    def enter(name: str) -> Leave:
        record = record_function(name)
        record.__enter__()
        if nvtx is not None:
            nvtx.range_push(name)

        def leave() -> None:
            if nvtx is not None:
                nvtx.range_pop()
            record.__exit__(None, None, None)

        return leave

    return enter


def _is_imported(torch: Any) -> bool:
    """Whole: a range may be entered while it is being imported."""
    spec = getattr(torch, "__spec__", None)
    return torch is not None and not getattr(spec, "_initializing", False)


def _look_for_torch(name: str) -> Leave:
    """A tool listens, and torch, the door to it, may be imported any time: each range looks."""
    if not _is_imported(sys.modules.get("torch")):
        return _nothing
    taker = _taker(to_torch=False)
    _capture.set_hook(taker)
    return _nothing if taker is None else taker(name)


def _nothing() -> None:
    """Ends a range that was handed to nothing."""


def stop_handing_on() -> None:
    """Ranges are handed to no other tool from now on."""
    _capture.set_hook(None)


def _nvtx(torch: Any, in_window: bool) -> Any:
    """Torch's interface to NVTX; None where there is none, or no tool listens."""
    if not hasattr(torch._C, "_nvtx"):
        return None
    listens = _LISTENER in os.environ or (in_window and torch.cuda.is_available())
    return torch.cuda.nvtx if listens else None
