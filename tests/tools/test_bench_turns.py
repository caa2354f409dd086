"""Which turns of a benchmark count."""

import sys

import pytest
from program import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import measure  # noqa: E402  (lies beside the programs it tells of)


def gathered(
    monkeypatch: pytest.MonkeyPatch, turns: int, disturbed: set[int]
) -> dict[str, measure.Timing]:
    """Of two programs; the seconds of a run are its number among all of them."""
    now = {"run": 0, "stolen": 0}

    def run() -> measure.Timing:
        number = now["run"]
        now["run"] += 1
        now["stolen"] += number in disturbed
        return measure.Timing([float(number)], number, {})

    monkeypatch.setattr(measure, "stolen", lambda: now["stolen"])
    return measure.in_turn(turns, {"a": run, "b": run})


def test_each_program_is_first_in_some_of_the_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    found = gathered(monkeypatch, 5, set())
    assert found["a"].seconds == [0, 3, 4, 7, 8]
    assert found["b"].seconds == [1, 2, 5, 6, 9]


def test_there_are_more_turns_for_those_that_were_disturbed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = gathered(monkeypatch, 5, {3, 4})  # both of a
    assert found["a"].seconds == [0, 3, 4, 7, 8, 11, 12]
    assert found["a"].facts["disturbed"] == [False, True, True, False, False, False, False]
    assert found["b"].facts["disturbed"] == [False] * 7
    assert found["a"].peak_bytes == 12  # memory is what it is in any turn


def test_where_all_are_disturbed_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    found = gathered(monkeypatch, 2, set(range(100)))
    assert len(found["a"].seconds) == len(found["b"].seconds) == 6
