"""The making of batches, timed where it happens: in a worker, or in the training process."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Sequence, Sized
from typing import Any

from stepscope import _capture
from stepscope._capture import counter
from stepscope._capture import range as named_range
from stepscope.recording.loading.imports import COUNTER, ImportReads
from stepscope.recording.loading.names import Names
from stepscope.recording.loading.samples import bytes_in
from stepscope.recording.loading.transforms import Exchange, Stopwatch, TimedCall, exchanges
from stepscope.recording.loading.usage import Usage, UsageReader, io_of_thread, sharing_thread

_LOOKS = 8  # at most: a thread may import all the time


class BatchMaker:
    """Stands around the fetcher that torch makes for one iteration."""

    def __init__(
        self, names: Names, dataset: Any, transforms: Sequence[str], *, in_worker: bool
    ) -> None:
        self._names = names
        self._transform = Stopwatch()
        self._collate = Stopwatch()
        self._usage = UsageReader(whole_process=in_worker)
        self._in_worker = in_worker
        self._exchanges: list[Exchange] = exchanges(dataset, transforms, self._transform)
        if in_worker:  # the dataset is this process's own
            self._exchanges = [one for one in self._exchanges if one.put_in()]
        self._load = named_range(names.load)
        self._iteration = -1
        self._batch = 0
        self._samples: int | None = None
        self._looked_bytes = 0  # that looking at another thread has read

    def begin(self, fetcher: Any) -> Any:
        """An iteration begins with this fetcher, which is timed from here on."""
        self._iteration += 1
        self._batch = 0
        counter(self._names.iteration, self._iteration)
        collate = TimedCall(fetcher.collate_fn, self._collate)
        batches = bool(fetcher.auto_collation)
        # What `__getitems__` gives may be a batch already, such as inputs and targets.
        is_streamed = hasattr(fetcher, "dataset_iter")
        is_whole = not is_streamed and hasattr(fetcher.dataset, "__getitems__")

        def collated(data: Any) -> Any:
            if not is_whole:
                self._samples = len(data) if batches and isinstance(data, Sized) else None
            return collate(data)

        fetcher.collate_fn = collated
        fetch = type(fetcher).fetch
        # A fetcher that held itself would live on, and open files of the dataset with it.
        itself = weakref.ref(fetcher)

        def timed(index: Any) -> Any:
            if is_whole:
                self._samples = len(index) if batches and isinstance(index, Sized) else None
            return self._make(lambda: fetch(itself(), index))

        fetcher.fetch = timed
        return fetcher

    def end(self) -> None:
        """Files of the system are closed."""
        self._usage.close()

    def _make(self, fetch: Callable[[], Any]) -> Any:
        number = self._batch
        self._batch += 1
        self._transform.ns = self._collate.ns = 0
        exchanged = self._exchanges
        if not self._in_worker:  # the dataset is the user's: it is changed for this moment alone
            exchanged = [one for one in exchanged if one.put_in()]
        COUNTER.put_in()  # in a worker it stays: the process is ours
        files = _capture.opened_files() if self._in_worker else None
        before, imports = self._look()
        try:
            with self._load:
                start = time.perf_counter_ns()
                batch = fetch()
                whole = time.perf_counter_ns() - start
        finally:
            if not self._in_worker:
                COUNTER.take_out()
                for one in exchanged:
                    one.take_out()
        usage, imported = self._look()
        self._record(number, whole, usage.since(before), imported.since(imports))
        if exchanged:
            # Threads of a dataset may transform side by side: parts never exceed the whole.
            transform = min(self._transform.ns, whole - min(self._collate.ns, whole))
            counter(self._names.transform_ns, transform)
        if (size := bytes_in(batch)) is not None:
            counter(self._names.batch_bytes, size)
        if files is not None:
            counter(self._names.files, (_capture.opened_files() or files) - files)
        return batch

    def _look(self) -> tuple[Usage, ImportReads]:
        """What was read, and how much of it was code, at one moment.

        A thread that sends a batch may import between the two looks: what only one of them saw
        would be taken for data, or data for code.
        """
        imports = self._no_data()
        for _ in range(_LOOKS):
            looked = COUNTER.looked_bytes + self._looked_bytes
            usage = self._usage.now()
            if usage.read_bytes is not None:
                usage.read_bytes -= looked
            seen, imports = imports, self._no_data()
            if seen == imports:
                break
        return usage, imports

    def _no_data(self) -> ImportReads:
        """What was read that is no data: code, and what the main process says to get a batch."""
        if not self._in_worker:
            return COUNTER.now(whole_process=False)
        sharer = sharing_thread()
        reads = COUNTER.now(whole_process=True, besides=sharer)
        if sharer is not None:
            _capture.set_importing(True)  # the file that we open ourselves is no data
            io = io_of_thread(sharer)
            _capture.set_importing(False)
            if io is not None:
                self._looked_bytes += io.own_bytes
                reads.read_bytes += io.read_bytes
                reads.storage_bytes += io.storage_bytes
        return reads

    def _record(self, number: int, whole: int, usage: Usage, imported: ImportReads) -> None:
        names = self._names
        counter(names.batch, number)
        if self._samples is not None:
            counter(names.samples, self._samples)
        counter(names.collate_ns, min(self._collate.ns, whole))
        counter(names.cpu_ns, usage.cpu_ns)
        if usage.read_bytes is not None and usage.storage_bytes is not None:
            # Code of modules is no data.
            counter(names.read_bytes, max(0, usage.read_bytes - imported.read_bytes))
            counter(names.storage_bytes, max(0, usage.storage_bytes - imported.storage_bytes))
        if usage.starved_ns is not None:
            counter(names.starved_ns, usage.starved_ns)
