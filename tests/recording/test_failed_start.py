"""A profile that cannot start: the process is as it was, and another one may begin."""

import gc
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from recorded_program import rank_facts

from stepscope import profile


@pytest.mark.parametrize(
    "part", ["rank_facts", "start_system", "Leaving", "WindowList", "count_memory", "note_own_run"]
)
def test_a_start_that_fails_leaves_nothing_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    def held() -> list[Any]:
        return [
            *(sys.exit, os._exit, sys.excepthook, signal.getsignal(signal.SIGTERM)),
            *(list(gc.callbacks), logging.Logger.callHandlers, dict(os.environ)),
        ]

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("broken")

    before = held()
    with monkeypatch.context() as broken:
        broken.setattr(f"stepscope.recording.profile.{part}", fail)
        with pytest.raises(RuntimeError, match="broken"):
            profile(tmp_path / "run", trace=False).start()
    assert held() == before
    with profile(tmp_path / "run", trace=False) as prof:
        prof.step()
    assert rank_facts(tmp_path / "run", attempt=1)["finished"] == "stop"
