"""What the records of a watched loader are called; `src/analysis/loading` reads these names."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Names:
    """Of one loader; made once, because names of records are looked up by identity."""

    # In the training process.
    begin: str  # range: the loop asks for a pass, and its iterator is made
    wait: str  # range: the loop waits for a batch
    starts: str  # instant: an iteration begins
    ends: str  # instant: it ended
    pid: str  # after `starts`: of each worker, in their order
    # After `starts`: how the loader is set; switches are 0 and 1.
    num_workers: str
    prefetch_factor: str
    pin_memory: str
    persistent_workers: str
    drop_last: str
    batch_size: str
    ahead: str  # after `starts`: 1 where the caller keeps a batch back
    ready: str  # batches that were ready when the loop asked
    samples: str  # of the batch that came; in workers of the batch that was made
    worker: str  # that made it; in workers once per iteration: which it is
    # In workers, and in the training process where there are none.
    load: str  # range: a batch is made
    iteration: str  # that begins; in the training process too
    batch: str  # its number in the iteration, by its worker's count; in the training process too
    transform_ns: str  # of `load`
    collate_ns: str  # of `load`
    cpu_ns: str  # processor time of `load`
    starved_ns: str  # of `load`: waited for a core
    read_bytes: str  # that were asked for by read(2)
    storage_bytes: str  # that came from a disk or the network
    files: str  # that were opened for reading
    batch_bytes: str  # of the tensors and arrays of the batch that was made


_PREFIX = {"begin": "begin loading", "wait": "wait for data", "load": "load batch"}


def names_of(loader: str) -> Names:
    """The names of the records of one loader."""
    made = {
        field.name: f"{_PREFIX.get(field.name, 'loader ' + field.name)}#{loader}"
        for field in fields(Names)
    }
    return Names(**made)
