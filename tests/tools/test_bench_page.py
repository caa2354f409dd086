"""The page of bench/run.py: figures of this machine, and what was measured elsewhere."""

import sys
from typing import Any

from program import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import tables  # noqa: E402  (lies beside the programs it tells of)

PAGE = ROOT / "docs" / "bench" / "loading.md"
ROW: dict[str, Any] = {
    "text_bytes": 10**9,
    "events": 1000,
    "one": {"seconds": [2.0, 2.5, 4.0], "peak_bytes": 10**8},
    "two": {"seconds": [1.0, 2.0, 3.0], "peak_bytes": 10**8},
}
SIZES = {
    "date": "2026-01-02",
    "commit": "abc",
    "machine": "a machine",
    "command": "bench/run.py linear",
    "rows": [ROW],
}


def test_a_part_that_was_not_measured_here_stays() -> None:
    before = PAGE.read_text()
    assert tables.page({}, before) == before
    after = tables.page({"linear": SIZES}, before)
    old, new = tables.sections_of(before), tables.sections_of(after)
    assert "2.000" in new.pop("By size")
    old.pop("By size", None)
    assert new == old


def test_a_first_page_has_what_was_measured() -> None:
    assert list(tables.sections_of(tables.page({"linear": SIZES}))) == ["By size"]


def test_ratios_are_taken_within_turns() -> None:
    # A machine that is twice as slow in every second turn.
    one = {"seconds": [2.0, 4.2, 2.2, 4.0, 2.1], "disturbed": [False] * 5}
    two = {"seconds": [1.0, 2.0, 1.0, 2.0, 1.0], "disturbed": [False] * 5}
    assert tables.times({"one": one, "two": two}, "one", "two") == "2.10 (2.00 to 2.20)"
    parts = {"inflate": two, "scan": one, "two": one}
    assert tables.over_floor(parts) == "1.35 (1.33 to 1.38)"


def test_turns_in_which_one_was_disturbed_do_not_count() -> None:
    one = {"seconds": [2.0] * 6, "disturbed": [True] + [False] * 5}
    two = {"seconds": [9.0] + [1.0] * 5, "disturbed": [False] * 6}
    row = {"one": one, "two": two}
    assert tables.turns_of(row, "one", "two") == [(2.0, 1.0)] * 5
    assert len(tables.turns_of(row, "two")) == 6
    two["disturbed"] = [False] * 5 + [True]
    assert len(tables.turns_of(row, "one", "two")) == 6  # too few are left
    assert tables.turns([row], "one", "two") == "6 to 6 of 6 to 6 turns count"


def test_an_interval_leaves_out_what_chance_explains() -> None:
    # Of 5 turns all are inside, of 15 the three least and the three largest are not: P = 0.018.
    assert tables.median_in_interval([1.0, 2, 3, 4, 5]) == "3.00 (1.00 to 5.00)"
    assert tables.median_in_interval([float(i) for i in range(1, 16)]) == "8.00 (4.00 to 12.00)"
