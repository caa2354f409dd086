"""A training whose loader is known: it sleeps, reads a file, and writes down how long it took.

Run by tests with settings of loaders by name, as JSON; what workers measured goes into
FOLDER/NAME/own, the recording into FOLDER/NAME/run.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, SequentialSampler

import stepscope

ITEM_S, TRANSFORM_S, COLLATE_S, STEP_S = 0.012, 0.020, 0.030, 0.004
SAMPLES, BATCH = 12, 3
READ_BYTES = 40_000


class Clock:
    """What a worker itself measured, one line per call."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.files: dict[int, int] = {}

    def note(self, what: str, start: int) -> None:
        took = time.perf_counter_ns() - start
        pid = os.getpid()
        if pid not in self.files:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            self.files[pid] = os.open(f"{self.folder}/{pid}.txt", flags)
        os.write(self.files[pid], f"{what} {took}\n".encode())


class Scaling:
    """A transform."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def __call__(self, sample: torch.Tensor) -> torch.Tensor:
        start = time.perf_counter_ns()
        time.sleep(TRANSFORM_S)
        scaled = sample * 2
        self.clock.note("transform", start)
        return scaled


class Collate:
    """Puts samples together, slowly."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def __call__(self, samples: list[torch.Tensor]) -> torch.Tensor:
        start = time.perf_counter_ns()
        time.sleep(COLLATE_S)
        batch = torch.stack(samples) if isinstance(samples, list) else samples
        self.clock.note("collate", start)
        return batch


def make_sample(dataset: "Mapped | Streamed | Slotted", index: int) -> torch.Tensor:
    start = time.perf_counter_ns()
    time.sleep(ITEM_S)
    # Not imported yet: a worker reads their code with its first sample.
    import pydoc_data.topics  # noqa: F401
    import xml.dom.minidom  # noqa: F401

    with Path(dataset.file).open("rb", buffering=0) as file:
        assert len(file.read(READ_BYTES)) == READ_BYTES
    sample: torch.Tensor = dataset.transform(torch.full((5,), float(index)))
    dataset.clock.note("item", start)  # with its transform
    return sample


class Mapped(Dataset):  # type: ignore[misc]
    """By index."""

    def __init__(self, clock: Clock, file: str) -> None:
        self.clock, self.file = clock, file
        self.transform = Scaling(clock)

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> torch.Tensor:
        assert isinstance(self.transform, Scaling)
        return make_sample(self, index)


class Streamed(IterableDataset):  # type: ignore[misc]
    """In order, shared out among workers."""

    def __init__(self, clock: Clock, file: str) -> None:
        self.clock, self.file = clock, file
        self.transform = Scaling(clock)

    def __iter__(self) -> Iterator[torch.Tensor]:
        info = torch.utils.data.get_worker_info()
        first, by = (info.id, info.num_workers) if info else (0, 1)
        for index in range(first, SAMPLES, by):
            yield make_sample(self, index)


class Slotted:
    """No dictionary, no weak references, and nothing that pickles by itself."""

    __slots__ = ("clock", "file", "transform")

    def __init__(self, clock: Clock, file: str) -> None:
        self.clock, self.file = clock, file
        self.transform = Scaling(clock)

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> torch.Tensor:
        return make_sample(self, index)


class Refusing(Mapped):
    """Its transform cannot be exchanged, and it cannot be pickled."""

    def __init__(self, clock: Clock, file: str) -> None:
        self.clock, self.file = clock, file
        self._scaling = Scaling(clock)

    @property
    def transform(self) -> Scaling:  # type: ignore[override]
        return self._scaling

    def __getitem__(self, index: int) -> torch.Tensor:
        return make_sample(self, index)

    def __reduce__(self) -> Any:
        raise TypeError("this dataset cannot be pickled")


DATASETS = {
    "mapped": Mapped,
    "streamed": Streamed,
    "slotted": Slotted,
    "refusing": Refusing,
    "subset": lambda *of: torch.utils.data.Subset(Mapped(*of), range(SAMPLES)),
}


def main(folder: str, settings: dict[str, Any]) -> None:
    own = Path(folder) / "own"
    own.mkdir(parents=True)
    file = Path(folder) / "data.bin"
    file.write_bytes(b"x" * READ_BYTES)
    clock = Clock(str(own))
    dataset = DATASETS[settings.pop("dataset", "mapped")](clock, str(file))
    epochs = settings.pop("epochs", 2)
    if settings.pop("batch_sampler", False):
        settings["batch_sampler"] = BatchSampler(SequentialSampler(dataset), BATCH, False)
    elif "batch_size" not in settings:
        settings["batch_size"] = BATCH
    collate: Any = Collate(clock)
    if settings.pop("lambda", False):
        collate = lambda samples: Collate(clock)(samples)  # noqa: E731  (cannot be pickled)
    loader = DataLoader(dataset, collate_fn=collate, **settings)
    before = dict(vars(loader))
    got = []
    with stepscope.profile(Path(folder) / "run", trace=False) as prof:
        watched = prof.watch(loader)
        for _ in range(epochs):
            for batch in watched:
                got.append(batch)
                time.sleep(STEP_S)
                prof.step()
            prof.epoch()
        if loader._iterator is not None:
            loader._iterator._shutdown_workers()
            before["_iterator"] = loader._iterator
    assert vars(loader) == before, "the loader was changed"
    if "__dict__" in dir(dataset) and not isinstance(dataset, torch.utils.data.Subset):
        assert type(dataset.transform) is Scaling, "the dataset was changed"
    rows = [row for batch in got for row in (batch if batch.dim() > 1 else [batch])]
    seen = sorted(int(row[0]) for row in rows)
    assert seen == sorted(2 * i for i in range(SAMPLES) for _ in range(epochs)), seen
    (Path(folder) / "batches").write_text(str(len(got)))


if __name__ == "__main__":
    for name, settings in json.loads(sys.argv[2]).items():
        main(f"{sys.argv[1]}/{name}", settings)
