"""The model that a framework trains: its layers at once, and of a batch what they do with it.

The second batch of training is looked at as it passes: at the end of the first one it is known
whether torch's compiler is at work, which would compile hooks, too. What fails costs this alone.
"""

from __future__ import annotations

import contextlib
from typing import Any

from stepscope.recording.model_pass import SeenPass, has_compiled, unwrapped
from stepscope.recording.profile import profile


class TrackedModel:
    """Of one training."""

    def __init__(self, prof: profile, model: Any) -> None:
        self._prof, self._model = prof, unwrapped(model)
        self._pass: SeenPass | None = None
        self.is_done = False
        prof.summarize(self._model)

    def batch_ended(self) -> None:
        """Of training."""
        seen = self._pass
        with contextlib.suppress(Exception):  # a model may be anything
            if seen is None and not has_compiled():
                self._pass = SeenPass()
                return
            if seen is not None:
                seen.end()
                if seen.has_seen(self._model):
                    self._prof.rank.write_json("model.json", seen.summary(self._model))
        self.end()

    def end(self) -> None:
        """Nothing more is looked at."""
        self.is_done = True
        if self._pass is not None:
            self._pass.end()
        self._pass = self._model = None
