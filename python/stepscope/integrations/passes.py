"""Passes over DataLoaders are watched where they begin, whoever made the loader and its iterator.

Frameworks re-create loaders and take iterators before they call a hook: no callback could put a
watched loader in time. So `DataLoader.__iter__` is ours while a callback's recording runs.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from stepscope.launched.loop_iterator import LoopIterator
from stepscope.recording.loading.watched import Watching
from stepscope.recording.loading.watching import WatchRequest, as_the_file_says, keeps_one_back
from stepscope.recording.profile import current, profile

# Of a loader: "validation", "test", …; None for training.
PhaseOf = Callable[[Any], str | None]


class Passes:
    """Watches every pass over a DataLoader between `begin` and `end`."""

    def __init__(self, prof: profile, phase_of: PhaseOf) -> None:
        self._prof, self._phase_of = prof, phase_of
        self._kind: Any = None
        self._live: list[tuple[bool, weakref.ref[Any]]] = []

    def begin(self) -> None:
        """From now on."""
        from torch.utils.data import DataLoader

        self._kind = DataLoader
        before = self._before = DataLoader.__iter__

        @functools.wraps(before)
        def begin_pass(loader: Any) -> Any:
            return self._iterate(loader, lambda: before(loader), keeps_one_back(1))

        self._ours = begin_pass
        self._kind.__iter__ = begin_pass

    def end(self) -> None:
        """What was there before, unless it was wrapped again since: that wrapper calls ours."""
        if self._kind is not None and self._kind.__iter__ is self._ours:
            self._kind.__iter__ = self._before
        self._kind = None

    def end_passes(self, trains: bool) -> None:
        """A framework that knows the length does not ask until there is no more batch."""
        kept = []
        for of_training, reference in self._live:
            one = reference()
            if of_training != trains:
                kept.append((of_training, reference))
            elif one is not None:
                one._end()
        self._live = kept

    def _iterate(
        self, loader: Any, make: Callable[[], Iterator[Any]], is_ahead: bool
    ) -> Iterator[Any]:
        if self._kind is None or current() is not self._prof or isinstance(loader, Watching):
            return make()
        made: list[Iterator[Any]] = []

        def make_once() -> Iterator[Any]:
            if not made:  # an error of the loader's is the program's
                made.append(make())
            return made[0]

        try:
            phase = self._phase_of(loader)
            request = WatchRequest(phase, None, None, (), False)
            request = as_the_file_says(request, self._prof.plan)

            def iterator(*args: Any, **kwargs: Any) -> LoopIterator:
                return LoopIterator(_IgnoredPass(), loader, phase is None, *args, **kwargs)

            made_one = self._prof.loaders.iterate(loader, make_once, request, iterator, is_ahead)
            self._live.append((phase is None, weakref.ref(made_one)))
            return made_one
        except Exception:
            return make_once()


class _IgnoredPass:
    """Ignores batches and the end of a pass: a framework reports its steps itself."""

    def batch_came(self, loader: Any, number: int) -> None:
        """Of training."""

    def pass_ended(self, loader: Any, trains: bool, batches: int) -> None:
        """Or was left."""
