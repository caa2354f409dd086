"""A loader that is watched is to its program what it was before."""

import copy
import gc
import pickle
import queue
import threading
import time
import weakref
from collections.abc import Iterator, Sized
from pathlib import Path
from typing import Any

import pytest

import stepscope


class Loader:
    """A loader of the user's own."""

    kinds: list[type] = []  # noqa: RUF012

    def __init_subclass__(cls) -> None:
        Loader.kinds.append(cls)

    def __init__(self, batches: list[int]) -> None:
        self.batches = batches
        self.epoch = 0

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[int]:
        self.epoch += 1
        return iter(self.batches)


class Slotted:
    """Without a dictionary."""

    __slots__ = ("batches",)

    def __init__(self, batches: list[int]) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[int]:
        return iter(self.batches)


class ByIndex:
    """Iterated as Python did before it had iterators."""

    def __getitem__(self, index: int) -> int:
        if index > 2:
            raise IndexError
        return index


@pytest.fixture
def prof(tmp_path: Path) -> Iterator[stepscope.profile]:
    with stepscope.profile(tmp_path / "run", trace=False, logs=False) as running:
        yield running


def test_is_of_the_same_type_and_shares_its_attributes(prof: stepscope.profile) -> None:
    loader = Loader([1, 2, 3])
    watched = prof.watch(loader)
    assert isinstance(watched, Loader)
    assert type(watched).__name__ == "Loader"
    assert Loader.kinds == []  # no registry hears of a new kind
    assert (len(watched), list(watched), list(watched)) == (3, [1, 2, 3], [1, 2, 3])
    assert loader.epoch == 2
    watched.epoch = 7
    loader.batches = [4]
    assert loader.epoch == 7
    assert list(watched) == [4]
    assert (loader.epoch, vars(watched)) == (8, vars(loader))
    again = type(watched)([5, 6])  # as Lightning makes a loader anew
    assert list(again) == [5, 6]


def test_pickles_and_copies_as_the_plain_loader(prof: stepscope.profile) -> None:
    for loader in (Loader([1]), [1, 2], Slotted([3])):
        watched = prof.watch(loader)
        for made in (pickle.loads(pickle.dumps(watched)), copy.copy(watched)):
            assert type(made) is type(loader)
            assert list(made) == list(loader)
    assert type(copy.deepcopy(prof.watch(Loader([1])))) is Loader


def test_what_has_no_dictionary_is_stood_in_for(prof: stepscope.profile) -> None:
    watched = prof.watch([3, 1, 2])
    assert isinstance(watched, list)
    assert (watched[1], watched[-1:], len(watched), 2 in watched) == (1, [2], 3, True)
    assert watched == [3, 1, 2]
    assert list(watched) == [3, 1, 2]
    watched.append(9)
    assert list(watched) == [3, 1, 2, 9]
    slotted = prof.watch(Slotted([1]))
    slotted.batches = [5]
    assert list(slotted) == [5]
    assert not isinstance(slotted, Sized)
    assert list(prof.watch(ByIndex())) == [0, 1, 2]  # type: ignore[call-overload,type-var]
    assert list(prof.watch(range(3))) == [0, 1, 2]


def test_a_generator_stays_one(prof: stepscope.profile) -> None:
    def batches() -> Iterator[int]:
        yield from (1, 2, 3)

    watched = prof.watch(batches())
    assert next(watched) == 1
    assert iter(watched) is watched
    assert list(watched) == [2, 3]
    with pytest.raises(TypeError):
        len(watched)  # type: ignore[arg-type]
    with pytest.raises(StopIteration):
        next(watched)


def test_errors_of_the_loader_are_the_loops(prof: stepscope.profile) -> None:
    class Flaky:
        def __init__(self) -> None:
            self.asked = 0

        def __iter__(self) -> "Flaky":
            return self

        def __next__(self) -> int:
            self.asked += 1
            if self.asked == 2:
                raise OSError("gone")
            if self.asked > 3:
                raise StopIteration
            return self.asked

    watched = prof.watch(Flaky())
    assert next(watched) == 1
    with pytest.raises(OSError, match="gone"):
        next(watched)
    assert list(watched) == [3]  # it goes on, as it would have


def test_the_iterator_ends_with_the_loop(prof: stepscope.profile) -> None:
    """What a loader's iterator holds (workers, files) is let go at once, without the collector."""
    kept: list[weakref.ref[Any]] = []

    class Holding:
        def __iter__(self) -> Iterator[int]:
            class Batches:
                def __iter__(self) -> "Batches":
                    return self

                def __next__(self) -> int:
                    return 1

            made = Batches()
            kept.append(weakref.ref(made))
            return made

    gc.disable()
    try:
        for _ in prof.watch(Holding()):
            break
        assert kept[0]() is None
    finally:
        gc.enable()


def test_watching_twice_or_afterwards_is_harmless(tmp_path: Path) -> None:
    prof = stepscope.profile(tmp_path / "run", trace=False)
    loader = Loader([1, 2])
    assert prof.watch(loader) is loader  # not begun
    with prof:
        watched = prof.watch(prof.watch(loader))
        assert list(watched) == [1, 2]
    assert list(watched) == [1, 2]
    names = set(stepscope.open(tmp_path / "run").time()["ranges"]["range"].tolist())
    assert names == {"begin loading#Loader", "wait for data#Loader"}


def test_loaders_have_names_of_their_own(tmp_path: Path) -> None:
    first, second = Loader([1]), Loader([2])
    with stepscope.profile(tmp_path / "run", trace=False) as prof:
        for _ in range(2):
            for loader in (first, second):
                list(prof.watch(loader))
        list(prof.watch(second, phase="validation"))
        list(prof.watch(second, name="era5"))
    rows = stepscope.open(tmp_path / "run").time()["ranges"].rows()
    waits = [row for row in rows if row["range"].startswith("wait for data#")]
    assert {row["range"].split("#")[1]: row["calls"] for row in waits} == {
        "Loader": 4,
        "Loader 2": 4,
        "Loader (validation)": 2,
        "era5": 2,
    }


def test_a_thread_that_reads_ahead_is_not_the_loop(tmp_path: Path) -> None:
    """It waits most of the time, and the loop hardly ever: its waits are in no step."""

    def batches() -> Iterator[list[int]]:
        for number in range(20):
            time.sleep(0.02)
            yield [number]

    def ahead(loader: Any) -> Iterator[list[int]]:
        full: queue.Queue[Any] = queue.Queue(4)

        def fill() -> None:
            for one in loader:
                full.put(one)
            full.put(None)

        thread = threading.Thread(target=fill)
        thread.start()
        while (batch := full.get()) is not None:
            yield batch
        thread.join()

    with stepscope.profile(tmp_path / "run", trace=False, logs=False, system=False) as running:
        for _ in ahead(running.watch(batches(), name="inner", samples=lambda _: 3)):
            time.sleep(0.01)
            running.step()
    run = stepscope.open(tmp_path / "run")
    loader = run.loader()
    (row,) = loader["loaders"].rows()
    assert (row["batches"], row["between_ns"], row["workers_needed"]) == (20, None, None)
    assert "read ahead of the loop by a thread" in loader.remarks[0]
    assert {step["wait_ns"] for step in loader["steps"].rows()} == {None}
    (phase,) = run.throughput()["phases"].rows()
    assert phase["wait_share"] is None
    # The queue keeps the order, and each step took one: those of the step, not those read in it.
    assert phase["samples"] == 3 * phase["measured"]
    assert run.throughput().remarks == []
    assert not [one for one in run.findings() if one.rule == "input-bound"]

    with stepscope.profile(tmp_path / "both", trace=False, logs=False, system=False) as running:
        for _ in running.watch(ahead(running.watch(batches(), name="inner")), name="outer"):
            time.sleep(0.01)
            running.step()
    both = stepscope.open(tmp_path / "both")
    (phase,) = both.throughput()["phases"].rows()
    assert phase["samples"] == phase["measured"]  # of the outer one alone: lists of one
    shares = {row["loader"]: row["between_ns"] for row in both.loader()["loaders"].rows()}
    assert shares["inner"] is None
    assert shares["outer"] > 9e6
    assert all(step["loader"] == "outer" for step in both.loader()["steps"].rows())

    with stepscope.profile(tmp_path / "some", trace=False, logs=False, system=False) as running:
        for number, _ in enumerate(ahead(running.watch(batches(), name="inner"))):
            if number % 3:  # two of three: which ones is not to be seen
                time.sleep(0.01)
                running.step()
    some = stepscope.open(tmp_path / "some").throughput()
    (phase,) = some["phases"].rows()
    assert phase["samples_per_second"] is None
    assert "a thread reads ahead of the loop" in some.remarks[0]
