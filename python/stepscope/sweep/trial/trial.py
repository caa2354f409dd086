"""One trial, from the request to the last line of the answer.

The answer is lines of words on what was standard output when the process began; the user's code
finds standard error there instead. Lines are written at once: a trial may be killed at any moment.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from .target import TargetError, find_target, loader_and_step, settings_of, taken
from .walk import Limits, Walk

_PATIENCE_S = 2  # with workers that do not end


class Trial:
    """What is asked, and how far it is."""

    def __init__(self, request: dict[str, Any], tell: Callable[[str], None]) -> None:
        self._request, self._tell = request, tell
        self._walk: Walk | None = None
        self._phase = "importing"

    @property
    def phase(self) -> str:
        """What the user's code is doing."""
        return self._walk.phase if self._walk is not None else self._phase

    def run(self) -> None:
        """Whatever the user's code raises is raised."""
        target = find_target(self._request["target"])
        keywords = taken(target, self._request["names"])
        self._tell("takes " + " ".join(keywords))
        self._phase = "making the loader"
        given = {k: v for k, v in self._request["keywords"].items() if k in keywords}
        loader, step = loader_and_step(target(**given))
        for name, value in settings_of(loader).items():
            self._tell(f"setting {name} {value}")
        with contextlib.suppress(TypeError, NotImplementedError, ValueError):
            self._tell(f"length {len(loader)}")
        self._tell("trains" if step is not None else "loads")
        limits = Limits(
            self._request["seconds"], self._request["hopeless_ns"], self._request["per_sample"]
        )
        samples_in = _samples_in()
        most = settings_of(loader).get("batch_size")
        before = _storage_bytes()
        self._walk = Walk(loader, step, limits, self._tell, lambda b: samples_in(b, most))
        self._walk.run()
        self._walk = loader = step = None  # ends the workers
        if before is not None and (after := _storage_bytes()) is not None:
            self._tell(f"storage {after - before}")


def _samples_in() -> Callable[[Any, int | None], int | None]:
    """As recordings count them."""
    file = Path(__file__).resolve().parents[2] / "recording" / "loading" / "samples.py"
    spec = spec_from_file_location("_stepscope_samples", file)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[Any, int | None], int | None] = module.samples_in
    return found


def _storage_bytes() -> int | None:
    """That this process and those it has waited for read from disks."""
    try:
        lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("read_bytes:")), None)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def main(request: str) -> int:
    """Of the process: the request is JSON."""
    answer = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr

    def tell(line: str) -> None:
        os.write(answer, (line + "\n").encode("utf-8", "replace"))

    trial = Trial(json.loads(request), tell)
    try:
        trial.run()
        tell("end")
    except TargetError as error:
        tell(f"wrong {_one_line(str(error))}")
    except BaseException as error:  # also sys.exit() of a script without a guard
        traceback.print_exc()
        tell(f"error {_one_line(f'{trial.phase}: {type(error).__name__}: {error}')}")
    sys.stderr.flush()
    # Workers that do not end are ended with all of the group, which is the trial's own.
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGKILL))
    signal.alarm(_PATIENCE_S)
    trial = None  # type: ignore[assignment]
    for child in _children():
        child.terminate()
    os._exit(0)


def _children() -> list[Any]:
    multiprocessing = sys.modules.get("multiprocessing")
    return list(multiprocessing.active_children()) if multiprocessing is not None else []
