"""Traces of kernels alone, in orders that are easy and hard for a search for repeats."""

import random
from collections.abc import Callable, Iterator
from itertools import chain, islice, repeat
from pathlib import Path

from inputs import Input, bench_dir

Dice = random.Random


def model(_: Dice) -> Iterator[str]:
    """Layers between matrix products, and an optimizer that is not fused."""
    blocks = ("abc", "de", "fghi", "cbd", "eefag", "k")
    layer = [name for block in blocks for name in (*block, "gemm")]
    optimizer = list("opqrstuv")
    while True:
        yield from chain(layer * 96, optimizer * 300, ["gemm"])


def rounds_with_exceptions(dice: Dice) -> Iterator[str]:
    """Eight kernels over and over, now and then another one between."""
    while True:
        yield from "abcdefgh"
        if dice.random() < 0.2:
            yield f"x{dice.randrange(30)}"


def fibonacci(_: Dice) -> Iterator[str]:
    """The word with the most repeats inside repeats."""
    before, word = "a", "ab"
    while len(word) < 3_000_000:
        before, word = word, word + before
    return iter(word)


def any_of_thirty(dice: Dice) -> Iterator[str]:
    """No order at all."""
    while True:
        yield f"x{dice.randrange(30)}"


def one_name(_: Dice) -> Iterator[str]:
    """One run."""
    return repeat("a")


ORDERS: dict[str, Callable[[Dice], Iterator[str]]] = {
    "a model with an unfused optimizer": model,
    "rounds with exceptions": rounds_with_exceptions,
    "Fibonacci's word": fibonacci,
    "30 names at random": any_of_thirty,
    "one name": one_name,
}


def kernel_trace(order: str, count: int) -> Input:
    """That many kernels on one stream in that order; made once."""
    make = ORDERS[order]
    path = bench_dir() / f"kernels-{make.__name__}-{count}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name("new-" + path.name)
        write(partial, islice(make(random.Random(1)), count))
        partial.rename(path)
    path.read_bytes()
    return Input(path, path.stat().st_size, count)


def write(path: Path, names: Iterator[str]) -> None:
    """One event a line; lengths and gaps of a few microseconds."""
    dice = random.Random(2)
    at = 0
    with path.open("w") as file:
        file.write('{"traceEvents":[\n')
        for number, name in enumerate(names):
            length = dice.randrange(1500, 9000)
            file.write(
                f'{"," if number else ""}{{"ph":"X","cat":"kernel","name":"{name}","pid":0,'
                f'"tid":7,"ts":{at / 1000:.3f},"dur":{length / 1000:.3f},'
                f'"args":{{"device":0,"stream":7,"correlation":{number}}}}}\n'
            )
            at += length + dice.randrange(4000)
        file.write("]}\n")
