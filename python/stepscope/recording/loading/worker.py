"""The beginning of a worker of torch's DataLoader that is watched.

It takes the place of `worker_init_fn` while the loader starts its workers. It is pickled where they
are spawned, with the user's function inside, and with nothing else of the user's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stepscope import _capture
from stepscope.recording import children
from stepscope.recording.loading.making import BatchMaker
from stepscope.recording.loading.names import names_of

WorkerInit = Callable[[int], None]


@dataclass
class WatchedStart:
    """Called in the worker with its number, as `worker_init_fn` is."""

    users: WorkerInit | None
    folder: str  # of the rank
    loader: str  # its name
    transforms: Sequence[str]

    def __call__(self, worker: int) -> None:
        """The user's function first; what fails of ours is logged and fails nothing else."""
        if self.users is not None:
            self.users(worker)
        try:
            self._watch(worker)
        except Exception as error:  # whatever it is, the worker must load
            _capture.log(30, "stepscope", f"this worker is not watched: {error!r}")

    def _watch(self, worker: int) -> None:
        from torch.utils.data import _DatasetKind, get_worker_info

        if not _capture.is_recording():  # spawned, or forked by a server that knows nothing of it
            os.environ[children.VARIABLE] = self.folder
            children.join()
        names = names_of(self.loader)
        dataset = get_worker_info().dataset
        maker = BatchMaker(names, dataset, self.transforms, in_worker=True)
        _capture.counter(names.worker, worker)
        # Workers that stay are ended by their parent's end, with a signal and nothing else.
        _capture.finish_on_sigterm()
        create = _DatasetKind.create_fetcher

        def create_watched(*args: Any, **kwargs: Any) -> Any:
            return maker.begin(create(*args, **kwargs))

        # Of this process alone.
        _DatasetKind.create_fetcher = staticmethod(create_watched)
