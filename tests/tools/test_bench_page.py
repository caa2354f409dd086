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


def test_ratios_are_of_lower_quarters_of_fastest_turns_and_of_medians() -> None:
    one = {"seconds": [2.0, 3.0, 2.4, 4.0, 8.0]}
    two = {"seconds": [1.0, 1.5, 2.0, 9.0, 9.0]}
    assert tables.times({"one": one, "two": two}, "one", "two") == "1.60 (2.00, 1.50)"
    floor = {"inflate": two, "scan": one, "two": one}
    assert tables.over_floor(floor) == "1.23 (1.33, 1.20)"
