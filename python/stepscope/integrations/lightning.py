"""Lightning 2: `from stepscope.integrations.lightning import Callback, Profiler`.

For programs that import `lightning`; docs/start/lightning.md has a script.
"""

from __future__ import annotations

from stepscope.integrations.lightning_hooks import CallbackHooks, ProfilerActions
from stepscope.integrations.packages import explain_missing

try:
    from lightning.pytorch.callbacks import Callback as _Callback
    from lightning.pytorch.profilers import Profiler as _Profiler
except ImportError as error:
    explain_missing(error, "lightning", __name__)


class Callback(CallbackHooks, _Callback):  # type: ignore[misc]  # noqa: D101
    __doc__ = CallbackHooks.__doc__


class Profiler(ProfilerActions, _Profiler):  # type: ignore[misc]  # noqa: D101
    __doc__ = ProfilerActions.__doc__


__all__ = ["Callback", "Profiler"]
