"""The loaders of a recording: their names, and the beginning of each pass over one."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stepscope._capture import range as named_range
from stepscope.recording.loading.iteration import WatchedIterator
from stepscope.recording.loading.live import LiveRate, live_rate
from stepscope.recording.loading.names import Names, names_of
from stepscope.recording.loading.samples import Samples
from stepscope.recording.loading.torch_iterator import (
    BatchSource,
    is_torch_loader,
    source_of,
    watched_workers,
)
from stepscope.recording.loading.transforms import USUAL
from stepscope.recording.loading.watched import plain, watched
from stepscope.recording.loading.worker import WatchedStart
from stepscope.recording.run_folder import RankFolder
from stepscope.sweep.trial.target import settings_of


@dataclass(frozen=True)
class WatchRequest:
    """The arguments of `profile.watch`, which explains them."""

    phase: str | None
    name: str | None
    samples: Samples | None
    transforms: tuple[str, ...]
    progress: bool


def as_the_file_says(request: WatchRequest, plan: Mapping[str, Any]) -> WatchRequest:
    """The request, with what a settings file has under `watch` where nothing else is asked."""
    said = plan.get("watch")
    if not said:
        return request
    return replace(
        request,
        samples=said.get("samples") if request.samples is None else request.samples,
        transforms=request.transforms or tuple(said.get("transforms", ())),
        progress=request.progress or bool(said.get("progress", False)),
    )


def keeps_one_back(above: int) -> bool:
    """Whether a pass is asked for by Accelerate, which looks ahead to know the last batch.

    Args:
        above: frames between the one that calls this and the one that asks.
    """
    caller = str(sys._getframe(1 + above).f_globals.get("__name__"))
    return caller.startswith("accelerate.")


class LoaderList:
    """All loaders that a recording watches."""

    def __init__(
        self, rank: RankFolder, is_running: Callable[[], bool], came: Callable[[str], None]
    ) -> None:
        self._rank = rank
        self._is_running = is_running
        self._came = came  # called for each batch of a training loader given to `watch`
        # The loader that has a name; one that is gone leaves it to the next.
        self._owners: dict[str, weakref.ref[Any] | None] = {}
        self._names: dict[str, Names] = {}
        self._last_pass: dict[str, weakref.ref[WatchedIterator]] = {}  # by name
        self.is_training: bool | None = None  # whether one is a training's; unknown without any
        self._training_passes: list[weakref.ref[WatchedIterator]] = []  # those under way

    def watch(self, loader: Any, request: WatchRequest) -> Any:
        """The same loader, watched."""
        loader = plain(loader)
        self.is_training = bool(self.is_training) or request.phase in (None, "training")
        title = self._title_of(loader, request)
        names = self._names.setdefault(title, names_of(title))

        def begin(one: Any, make: Callable[[], Iterator[Any]]) -> Iterator[Any]:
            if not self._is_running():
                return make()
            iterator = self._begin(one, make, names, title, request)
            if request.phase in (None, "training"):
                iterator.came = lambda: self._came(title)
            return iterator

        return watched(loader, begin)

    def iterate(
        self,
        loader: Any,
        make: Callable[[], Iterator[Any]],
        request: WatchRequest,
        kind: Callable[..., WatchedIterator],
        is_ahead: bool = False,
    ) -> WatchedIterator:
        """One pass over a loader that was not given to `watch`; `kind` is what the loop gets.

        Args:
            loader: which one.
            make: gives its own iterator.
            request: what is to be watched.
            kind: makes the iterator.
            is_ahead: the caller keeps a batch back: it is used when the next one has come.
        """
        title = self._title_of(loader, request)
        names = self._names.setdefault(title, names_of(title))
        return self._begin(loader, make, names, title, request, kind, is_ahead)

    def _begin(
        self,
        loader: Any,
        make: Callable[[], Iterator[Any]],
        names: Names,
        title: str,
        request: WatchRequest,
        kind: Callable[..., WatchedIterator] = WatchedIterator,
        is_ahead: bool = False,
    ) -> WatchedIterator:
        trains = request.phase in (None, "training")
        if not trains:  # what the loop does now is nothing that it does with its last batch
            self._pause_training()
        source = BatchSource()
        # The loop waits here, too: workers start, a sampler shuffles.
        if is_torch_loader(loader):
            transforms = (*USUAL, *request.transforms)
            start = WatchedStart(None, str(self._rank.path), title, transforms)
            with watched_workers(loader, start), named_range(names.begin):
                inner = make()
            source = source_of(inner, names, transforms)
        else:
            with named_range(names.begin):
                inner = make()
        made = kind(
            inner,
            names,
            source,
            samples=_samples_of(loader, request),
            most=_most_samples(loader),
            live=self._live(loader, title, request),
            settings=settings_of(loader) if is_torch_loader(loader) else {},
            is_ahead=is_ahead,
        )
        self._last_pass[title] = weakref.ref(made)
        if trains:
            self._training_passes = [one for one in self._training_passes if _is_live(one)]
            self._training_passes.append(weakref.ref(made))
        return made

    def _pause_training(self) -> None:
        for reference in self._training_passes:
            if (one := reference()) is not None:
                one.pause()

    def _live(self, loader: Any, title: str, request: WatchRequest) -> LiveRate | None:
        if not request.progress or self._rank.placement.rank != 0:
            return None
        try:
            total: int | None = len(loader)
        except (TypeError, NotImplementedError):
            total = None
        return live_rate(request.phase or title, total)

    def _title_of(self, loader: Any, request: WatchRequest) -> str:
        """A name of its own: two loaders of one class are two loaders."""
        wanted = request.name or type(loader).__name__
        phase = f" ({request.phase})" if request.phase else ""
        number = 1
        while True:
            title = f"{wanted}{f' {number}' if number > 1 else ''}{phase}"
            owner = self._owners.get(title)
            before = owner() if owner is not None else None
            if request.name or before is None or before is loader:
                break
            if not self._is_in_pass(title) and _is_made_again(before, loader):
                break
            number += 1
        try:
            self._owners[title] = weakref.ref(loader)
        except TypeError:  # of a kind without weak references: a list, a generator
            self._owners[title] = None
        return title

    def _is_in_pass(self, title: str) -> bool:
        last = self._last_pass.get(title)
        return last is not None and _is_live(last)


def _is_made_again(before: Any, loader: Any) -> bool:
    """Whether a loader is the one before, made anew.

    Trainers make one for every evaluation, and Accelerate keeps those that were.
    """
    if type(before) is not type(loader) or not is_torch_loader(loader):
        return False
    order, order_before = type(loader.sampler), type(before.sampler)
    if order is not order_before or settings_of(loader) != settings_of(before):
        return False
    return before.dataset is loader.dataset or _has_same_content(before.dataset, loader.dataset)


def _has_same_content(one: Any, other: Any) -> bool:
    # Hugging Face's datasets know; the trainer takes columns away each time, which makes another.
    fingerprint = getattr(one, "_fingerprint", None)
    return isinstance(fingerprint, str) and fingerprint == getattr(other, "_fingerprint", None)


def _is_live(reference: weakref.ref[WatchedIterator]) -> bool:
    one = reference()
    return one is not None and not one.is_over


def _samples_of(loader: Any, request: WatchRequest) -> Samples | None:
    if request.samples is not None:
        return request.samples
    # Without batching a sample is handed on as it is.
    by_one = is_torch_loader(loader) and loader.batch_size is None and loader.batch_sampler is None
    return 1 if by_one else None


def _most_samples(loader: Any) -> int | None:
    size = getattr(loader, "batch_size", None) if is_torch_loader(loader) else None
    return size if isinstance(size, int) else None
