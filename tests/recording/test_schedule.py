"""Schedules count as those of torch do, and choose epochs and batches, which torch cannot."""

import itertools
from typing import Any

import pytest

from stepscope import Schedule, UsageError, schedule
from stepscope.recording.schedule import Action, Position


def letters(made: Schedule, positions: list[Position]) -> str:
    """One letter a step: `.` wait, `w` warm-up, and the recorded ones numbered by window."""
    seen: list[tuple[int, int]] = []
    text = ""
    for at in positions:
        phase = made.phase(at)
        if phase.action is Action.WAIT:
            assert phase.window is None
            text += "."
            continue
        assert phase.window is not None
        if phase.window not in seen:
            seen.append(phase.window)
        text += "w" if phase.action is Action.WARM_UP else str(seen.index(phase.window))
    return text


def steps(count: int) -> list[Position]:
    return [Position(step, step, 0) for step in range(count)]


def epochs(*lengths: int, first: int = 0) -> list[Position]:
    places = [(e, b) for e, length in enumerate(lengths, first) for b in range(length)]
    return [Position(step, batch, epoch) for step, (epoch, batch) in enumerate(places)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"active": 2}, "w00....."),
        ({}, "w000...."),
        ({"wait": 1, "warmup": 1, "active": 2, "repeat": 2}, ".w00.w11"),
        ({"warmup": 0, "active": 3}, "000....."),
        ({"warmup": 0, "active": 2, "repeat": 0}, "00112233"),
        ({"skip_first": 3, "warmup": 0, "active": 1, "wait": 1, "repeat": 2}, "....0.1."),
        ({"wait": 9}, "........"),
        ({"warmup": 3, "active": 1}, "www0...."),
    ],
)
def test_turns(given: dict[str, Any], expected: str) -> None:
    assert letters(schedule(**given), steps(8)) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"epochs": 1}, "....0000...."),
        ({"epochs": 1, "warmup": 1}, "....w000...."),
        ({"epochs": [0, 2], "warmup": 0}, "0000....1111"),
        ({"epochs": [1], "active": 1, "wait": 1}, ".....w0....."),
        ({"batches": (1, 3)}, "w00.w11.w22."),
        ({"batches": (0, 2)}, "00..11..22.."),
        ({"batches": range(2, 4), "epochs": 2}, ".........w00"),
        ({"batches": (3, 9), "warmup": 2}, ".ww0.ww1.ww2"),
        ({"epochs": [7]}, "............"),
        ({"active": 2, "wait": 3}, "...w00......"),
    ],
)
def test_epochs_and_batches(given: dict[str, Any], expected: str) -> None:
    assert letters(schedule(**given), epochs(4, 4, 4)) == expected


def accumulating(steps: int, batches: int, epochs: int = 2) -> list[Position]:
    """Each step takes so many batches."""
    return [
        Position(epoch * steps + step, step * batches, epoch, batches, step)
        for epoch in range(epochs)
        for step in range(steps)
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # Four batches a step: step 2 takes 8 to 11.
        ({"batches": (8, 12), "epochs": [1]}, "......" + ".w0..."),
        ({"batches": (8, 13), "epochs": [1]}, "......" + ".w00.."),
        ({"batches": (10, 11), "epochs": [1]}, "......" + ".w0..."),
        ({"batches": (0, 1)}, "0....." + "1....."),
        ({"batches": (3, 5)}, "00...." + "11...."),
        ({"batches": (16, 24), "warmup": 2}, "..ww00" + "..ww11"),
        # Steps are counted as steps.
        ({"epochs": [1], "wait": 1, "active": 2}, "......" + ".w00.."),
    ],
)
def test_batches_are_counted_where_gradients_are_accumulated(
    given: dict[str, Any], expected: str
) -> None:
    assert letters(schedule(**given), accumulating(6, 4)) == expected


def test_epochs_are_those_of_the_training() -> None:
    made = schedule(epochs=[5], batches=(1, 2))
    assert letters(made, epochs(3, 3, first=4)) == "...w0."


def test_every_small_schedule_is_what_its_words_say() -> None:
    """Against counting by hand, for all schedules with numbers below three."""
    small = range(3)
    for wait, warmup, repeat, skip_first in itertools.product(small, small, small, small):
        for active in (1, 2):
            made = schedule(wait, warmup, active, repeat, skip_first)
            turn = "." * wait + "w" * warmup
            text = "." * skip_first
            for number in range(repeat or 9):
                text += turn + str(number) * active
            expected = text.ljust(9, ".")[:9]
            assert letters(made, steps(9)) == expected, made
            first = expected.find("0")
            if first >= 0 and first + active <= 9:
                assert made.steps_needed == first + active


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"active": 0}, "schedule: active is 0, but at least 1 step must be recorded"),
        ({"wait": -1}, "schedule: wait is -1, which is negative"),
        ({"warmup": 1.5}, "schedule: warmup is a number of steps, not 1.5"),
        ({"repeat": True}, "schedule: repeat is a number of steps, not True"),
        ({"skip_first": "3"}, "schedule: skip_first is a number of steps, not '3'"),
        ({"epochs": []}, "schedule: epochs is empty, so nothing would be recorded"),
        ({"epochs": [-1]}, "schedule: -1 is no epoch; they are counted from 0"),
        ({"epochs": 1.0}, "schedule: epochs are numbers, not 1.0"),
        ({"batches": (3, 3)}, "schedule: batches 3 to 3 hold none that follow each other"),
        ({"batches": range(0, 9, 2)}, "batches 0 to 9 hold none that follow each other"),
        ({"batches": 3}, r"schedule: batches is \(first, stop\), not 3"),
        ({"batches": (0, 2), "active": 3}, "batches takes the place of wait, active"),
    ],
)
def test_broken_ones_are_refused_at_once(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        schedule(**given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "3 steps after 1 step"),
        ({"warmup": 0, "active": 1}, "1 step"),
        ({"wait": 10, "active": 5, "repeat": 0}, "5 steps after 11 steps, again and again"),
        ({"active": 5, "repeat": 2}, "5 steps after 1 step, 2 times"),
        ({"epochs": [3, 1]}, "all steps of epochs 1, 3"),
        ({"batches": (20, 25)}, "batches 20 to 24 of every epoch"),
        ({"batches": (3, 4), "epochs": [2]}, "batch 3 of epoch 2"),
    ],
)
def test_it_can_be_read(given: dict[str, Any], words: str) -> None:
    assert str(schedule(**given)) == words
