"""What torch's iterators know about a batch beyond the batch: its worker, and what was ready.

They are private attributes of torch. Each is looked for, and left alone where it is not there: the
loader then works as ever, and the recording says less.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from stepscope.recording.loading.making import BatchMaker
from stepscope.recording.loading.names import Names
from stepscope.recording.loading.worker import WatchedStart

_MARK = "_stepscope_source"  # on an iterator that persistent workers serve again


def is_torch_loader(loader: Any) -> bool:
    """Whether it is torch's DataLoader or derived from it."""
    data = sys.modules.get("torch.utils.data")
    return data is not None and isinstance(loader, data.DataLoader)


@contextlib.contextmanager
def watched_workers(loader: Any, start: WatchedStart) -> Iterator[None]:
    """Workers that are started meanwhile are watched."""
    own = vars(loader)
    users = own.get("worker_init_fn")
    if own.get("num_workers", 0) == 0 or "worker_init_fn" not in own:
        yield
        return
    # Two threads may begin at once; the user's function is theirs, not ours.
    start.users = users.users if isinstance(users, WatchedStart) else users
    own["worker_init_fn"] = start
    try:
        yield
    finally:
        if own.get("worker_init_fn") is start:
            own["worker_init_fn"] = users


class BatchSource:
    """Of one iterator: what it knows about the batch that it gave last."""

    def __init__(self) -> None:
        self.worker: int | None = None  # that made the last batch; None: unknown
        self.batch = 0  # its number by that worker's count
        self.iteration = 0
        self.pids: list[int] = []
        self.ready_is_known = False

    def ready(self) -> int | None:
        """Batches that are made and wait to be taken."""
        return None

    def begin(self) -> None:
        """An iteration begins."""

    def end(self) -> None:
        """It ended."""


class WorkerSource(BatchSource):
    """Of an iterator whose batches are made by worker processes."""

    def __init__(self, iterator: Any) -> None:
        super().__init__()
        # Nothing here may keep the iterator alive: its end is what ends the workers.
        self._iterator = weakref.ref(iterator)
        self.iteration = -1
        self.pids = [process.pid for process in iterator._workers]
        self._given = [0] * len(self.pids)
        self._queues = [iterator._worker_result_queue]
        if iterator._data_queue is not iterator._worker_result_queue:  # a thread pins memory
            self._queues.append(iterator._data_queue)
        process = type(iterator)._process_data
        if len(inspect.signature(process).parameters) >= 3:
            self._listen(iterator, process)

    def _listen(self, iterator: Any, process: Any) -> None:
        me, it = weakref.ref(self), self._iterator

        def process_data(data: Any, worker: int, *rest: Any) -> Any:
            if (source := me()) is not None:
                source._came(worker)
            return process(it(), data, worker, *rest)

        iterator._process_data = process_data

    def _came(self, worker: int) -> None:
        if isinstance(worker, int) and 0 <= worker < len(self._given):
            self.worker = worker
            self.batch = self._given[worker]
            self._given[worker] += 1

    def begin(self) -> None:
        """Workers that stayed begin to count anew."""
        self.iteration += 1
        self._given = [0] * len(self.pids)

    def ready(self) -> int | None:
        """In the queues, and those that came before their turn."""
        iterator = self._iterator()
        if iterator is None:
            return None
        try:
            waiting = sum(int(queue.qsize()) for queue in self._queues)
            early = sum(len(task) > 1 for task in iterator._task_info.values())
        except (AttributeError, NotImplementedError, OSError, RuntimeError, ValueError):
            return None
        return waiting + early


class OwnSource(BatchSource):
    """Of an iterator that makes its batches itself."""

    def __init__(self, iterator: Any, names: Names, transforms: Sequence[str]) -> None:
        super().__init__()
        fetcher = iterator._dataset_fetcher
        self._maker = BatchMaker(names, iterator._dataset, transforms, in_worker=False)
        self._maker.begin(fetcher)

    def end(self) -> None:
        """Of the iteration and the iterator: torch makes a new one for the next."""
        self._maker.end()


def source_of(iterator: Any, names: Names, transforms: Sequence[str]) -> BatchSource:
    """What can be known of this iterator."""
    if (again := getattr(iterator, _MARK, None)) is not None:
        return again  # type: ignore[no-any-return]
    try:
        if hasattr(iterator, "_workers"):
            source: BatchSource = WorkerSource(iterator)
            setattr(iterator, _MARK, source)
        elif hasattr(iterator, "_dataset_fetcher"):
            source = OwnSource(iterator, names, transforms)
        else:
            return BatchSource()
    except Exception:  # another torch than those we know
        return BatchSource()
    return source
