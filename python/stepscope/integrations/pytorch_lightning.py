"""Lightning 2: `from stepscope.integrations.pytorch_lightning import Callback, Profiler`.

For programs that import `pytorch_lightning`; docs/start/lightning.md has a script.
"""

from __future__ import annotations

from stepscope.integrations.lightning_hooks import CallbackHooks, ProfilerActions
from stepscope.integrations.packages import explain_missing

try:
    from pytorch_lightning.callbacks import Callback as _Callback
    from pytorch_lightning.profilers import Profiler as _Profiler
except ImportError as error:
    explain_missing(error, "pytorch_lightning", __name__, "pytorch-lightning")


class Callback(CallbackHooks, _Callback):  # type: ignore[misc]  # noqa: D101
    __doc__ = CallbackHooks.__doc__


class Profiler(ProfilerActions, _Profiler):  # type: ignore[misc]  # noqa: D101
    __doc__ = ProfilerActions.__doc__


__all__ = ["Callback", "Profiler"]
