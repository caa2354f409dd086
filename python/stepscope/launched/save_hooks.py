"""What saves a checkpoint in a program that `stepscope run` started.

Its time is no training's. Saving into memory (to send it to others, say) saves no checkpoint.
"""

from __future__ import annotations

import io
from types import ModuleType
from typing import Any

from stepscope.launched.loop import LOOP
from stepscope.recording.saving import saving


def _is_recording(*args: Any, **kwargs: Any) -> bool:
    return LOOP.is_recording


def _is_into_file(*args: Any, **kwargs: Any) -> bool:
    file = kwargs.get("f", args[1] if len(args) > 1 else None)
    return LOOP.is_recording and not isinstance(file, io.BytesIO)


def on_serialization(module: ModuleType) -> None:
    """torch.serialization."""
    module.save = saving(module.save, _is_into_file)  # type: ignore[attr-defined]


def on_functions(module: ModuleType) -> None:
    """torch.distributed.checkpoint.state_dict_saver, safetensors.torch."""
    for name in ("save", "async_save", "save_state_dict", "save_file", "save_model"):
        theirs = getattr(module, name, None)
        if theirs is not None and not (name == "save" and module.__name__ == "safetensors.torch"):
            setattr(module, name, saving(theirs, _is_recording))


def on_accelerator(module: ModuleType) -> None:
    """accelerate.accelerator."""
    kind: Any = module.Accelerator
    kind.save_state = saving(kind.save_state, _is_recording)
