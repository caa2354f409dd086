"""One pass over a watched loader: how long the loop waited for each batch, and what came."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stepscope._capture import counter, instant
from stepscope._capture import range as named_range
from stepscope.recording.loading.live import LiveRate
from stepscope.recording.loading.names import Names
from stepscope.recording.loading.samples import Samples, samples_in
from stepscope.recording.loading.torch_iterator import BatchSource


class WatchedIterator:
    """The loader's iterator, with a clock beside it."""

    __slots__ = (
        "__weakref__",
        "_given",
        "_inner",
        "_is_over",
        "_live",
        "_most",
        "_names",
        "_samples",
        "_source",
        "_wait",
        "came",
    )

    def __init__(
        self,
        inner: Iterator[Any],
        names: Names,
        source: BatchSource,
        *,
        samples: Samples | None,
        most: int | None,
        live: LiveRate | None,
        settings: Mapping[str, int],
        is_ahead: bool = False,
    ) -> None:
        self.came: Callable[[], None] | None = None  # called for each batch
        self._inner, self._names, self._source = inner, names, source
        self._samples, self._most, self._live = samples, most, live
        self._wait = named_range(names.wait)
        self._is_over = False
        self._given = 0  # batches of this pass
        source.begin()
        instant(names.starts)
        counter(names.iteration, source.iteration)
        for pid in source.pids:
            counter(names.pid, pid)
        for name, value in settings.items():
            counter(getattr(names, name), value)
        if is_ahead:
            counter(names.ahead, 1)

    def __iter__(self) -> WatchedIterator:
        return self

    def __next__(self) -> Any:
        source, names = self._source, self._names
        source.worker = None
        ready = source.ready()
        try:
            with self._wait:
                batch = next(self._inner)
        except StopIteration:
            self._end()
            raise
        if ready is not None:
            counter(names.ready, ready)
        if source.worker is not None:
            counter(names.worker, source.worker)
            counter(names.batch, source.batch)
        else:
            counter(names.batch, self._given)
        self._given += 1
        if self.came is not None:
            self.came()
        samples = self._count(batch)
        if samples is not None:
            counter(names.samples, samples)
        if self._live is not None:
            self._live.advance(samples)
        return batch

    @property
    def is_over(self) -> bool:
        """Whether the pass has ended, or was left."""
        return self._is_over

    def pause(self) -> None:
        """The loop turns to something else, and may come back for more."""
        if not self._is_over:
            instant(self._names.ends)

    def __len__(self) -> int:
        return len(self._inner)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_inner"), name)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # Python may be ending
            self._end()

    def _count(self, batch: Any) -> int | None:
        samples = self._samples
        try:
            if callable(samples):
                return int(samples(batch))
            return samples if samples is not None else samples_in(batch, self._most)
        except Exception:  # the user's batch, or the user's function
            return None

    def _end(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        instant(self._names.ends)
        self._source.end()
        if self._live is not None:
            self._live.end()
