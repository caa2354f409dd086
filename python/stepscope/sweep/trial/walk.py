"""Walking over a loader as a training loop does, with a clock.

Steps are put together in blocks of as many as there are workers: batches come in bursts, one of
each worker. The first batch of a pass, with which workers are started, is kept apart.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_SHORTEST_NS = 10_000_000  # of a block: reading clocks and talking must not count
_FEWEST = 3  # blocks that say something about noise
_GPU_STEPS = 8  # at least, between two waits for the GPU: the loop may be ahead of it


@dataclass(frozen=True)
class Limits:
    """When a trial has seen enough."""

    seconds: float  # after the first batch
    hopeless_ns: float | None  # a mean per sample, or per step, beyond which it has lost
    per_sample: bool


@dataclass
class Sum:
    """Of steps."""

    steps: int = 0
    loading_ns: int = 0
    training_ns: int = 0
    samples: int = 0
    samples_known: bool = True

    def add(self, loading_ns: int, training_ns: int, samples: int | None) -> None:
        """One step."""
        self.steps += 1
        self.loading_ns += loading_ns
        self.training_ns += training_ns
        self.samples += samples or 0
        self.samples_known &= samples is not None

    @property
    def length_ns(self) -> int:
        """Of all of them."""
        return self.loading_ns + self.training_ns

    def words(self) -> str:
        """As the command reads them; -1: not known."""
        samples = self.samples if self.samples_known else -1
        return f"{self.steps} {self.loading_ns} {self.training_ns} {samples}"


class Walk:
    """Over one loader, pass after pass, until enough is known."""

    def __init__(
        self,
        loader: Any,
        train_step: Callable[[Any], Any] | None,
        limits: Limits,
        tell: Callable[[str], None],
        count: Callable[[Any], int | None],
    ) -> None:
        self._loader, self._train_step = loader, train_step
        self._limits, self._tell, self._count = limits, tell, count
        workers = getattr(loader, "num_workers", 0)
        self._unit = max(1, workers if isinstance(workers, int) else 1)  # steps of a block
        self._block, self._all = Sum(), Sum()
        self._blocks = 0
        self._until: int | None = None
        self._has_passes_of_one = False
        self.phase = "waiting for the first batch"

    def run(self) -> None:
        """To the end; what the loader or the step raise is raised."""
        more = True
        while more:
            more = self._one_pass()

    def _one_pass(self) -> bool:
        begin = time.perf_counter_ns()
        iterator = iter(self._loader)
        given = 0
        while True:
            try:
                batch = next(iterator)
            except StopIteration:
                if given == 0:
                    if self._until is None:
                        raise ValueError("the loader gave no batch") from None
                    return False  # an iterator has one pass
                self._has_passes_of_one = given == 1
                return self._goes_on()
            came = time.perf_counter_ns()
            samples = self._count(batch)
            begin_step = time.perf_counter_ns()
            if self._train_step is not None:
                self.phase = "in train_step"
                self._train_step(batch)
            del batch
            is_first = given == 0 and not self._has_passes_of_one
            if is_first or self._would_fill():
                self._wait_for_gpu()
            ended = time.perf_counter_ns()
            self.phase = "waiting for a batch"
            self._take(is_first, came - begin, ended - begin_step, samples)
            given += 1
            if not self._goes_on():
                return False
            begin = time.perf_counter_ns()

    def _would_fill(self) -> bool:
        """Whether the step that is running is the last of a block."""
        return (self._block.steps + 1) % self._unit == 0

    def _take(self, is_first: bool, loading: int, training: int, samples: int | None) -> None:
        if is_first:
            one = Sum()
            one.add(loading, training, samples)
            self._tell(f"first {one.words()}")
            if self._until is None:
                self._until = time.perf_counter_ns() + int(self._limits.seconds * 1e9)
            return
        for sums in (self._block, self._all):
            sums.add(loading, training, samples)
        if self._block.steps % self._unit == 0 and self._block.length_ns >= _SHORTEST_NS:
            self._tell(f"block {self._block.words()}")
            self._blocks += 1
            self._block = Sum()

    def _goes_on(self) -> bool:
        if self._blocks < _FEWEST or self._until is None:
            return True
        if self._is_hopeless():
            self._tell("hopeless")
            return False
        return time.perf_counter_ns() < self._until

    def _is_hopeless(self) -> bool:
        limit, sums = self._limits.hopeless_ns, self._all
        if limit is None:
            return False
        number = sums.samples if self._limits.per_sample else sums.steps
        return number > 0 and sums.length_ns / number > limit

    def _wait_for_gpu(self) -> None:
        """Where one is used: what was launched belongs to these steps."""
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_initialized():
            return
        torch.cuda.synchronize()
        self._unit *= -(-_GPU_STEPS // self._unit)
