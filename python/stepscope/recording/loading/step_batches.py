"""How many batches the steps of an epoch take: more than one where gradients are accumulated."""

from __future__ import annotations


class StepBatches:
    """Counts batches by step and epoch.

    A framework adds them, or whatever follows the loop. Else those of the watched loader count
    that gave the last batch before the step: others validate.
    """

    def __init__(self) -> None:
        self.batch = 0  # of the epoch: that steps took
        self.steps = 0  # of the epoch
        self.of_step = 1  # that the last step took, and so the next will
        self._is_added = False
        self._added = 0  # since the last step
        self._came: dict[str, int] = {}  # by loader
        self._last = ""

    def expect(self, batches: int) -> None:
        """A step will take so many."""
        self.of_step = max(1, batches)

    def add(self, batches: int) -> None:
        """So many came, of the step under way."""
        self._is_added = True
        self._added += batches

    def came(self, loader: str) -> None:
        """One, of a watched loader that trains."""
        self._last = loader
        self._came[loader] = self._came.get(loader, 0) + 1

    def step_ended(self) -> None:
        """With what came since the last."""
        count = self._added if self._is_added else self._came.get(self._last, 0)
        if count == 0 and self._is_added:
            count = self.of_step
        self.of_step = max(1, count)
        self.batch += self.of_step
        self.steps += 1
        self._added = 0
        self._came.clear()

    def epoch_ended(self) -> None:
        """Counting begins anew; batches of a step that never came are forgotten."""
        self.batch = self.steps = self._added = 0
        self._came.clear()
