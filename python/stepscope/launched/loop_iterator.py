"""A pass over a DataLoader not given to `watch`: it must look like torch's own iterator."""

from __future__ import annotations

import weakref
from typing import Any, Protocol

from stepscope.recording.loading.iteration import WatchedIterator


class PassListener(Protocol):
    """Called for each batch and at the end of a pass."""

    def batch_came(self, loader: weakref.ref[Any], number: int) -> None:
        """From a pass with gradients, as its batch of this number (from 0)."""

    def pass_ended(self, loader: Any, trains: bool, batches: int) -> None:
        """Or was left."""


class LoopIterator(WatchedIterator):
    """Watched, and reporting to the loop."""

    __slots__ = ("_batches", "_loader", "_loop", "_reference", "_trains")

    def __init__(
        self, loop: PassListener, loader: Any, trains: bool, *args: Any, **kwargs: Any
    ) -> None:
        self._loop, self._trains, self._batches = loop, trains, 0
        # The loop may hold the pass alone; until it is over its loader must be known.
        self._loader, self._reference = loader, weakref.ref(loader)
        super().__init__(*args, **kwargs)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """Frameworks ask whether it is torch's."""
        return type(self._inner)

    def __next__(self) -> Any:
        batch = super().__next__()
        self._batches += 1
        if self._trains:
            self._loop.batch_came(self._reference, self._batches - 1)
        return batch

    def _end(self) -> None:
        if self._is_over:
            return
        super()._end()
        loader, self._loader = self._loader, None
        self._loop.pass_ended(loader, self._trains, self._batches)
