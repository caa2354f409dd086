"""The page of bench/run.py: figures of this machine, and what was measured elsewhere."""

import sys

from program import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import tables  # noqa: E402  (lies beside the programs it tells of)

PAGE = ROOT / "docs" / "bench" / "loading.md"
SIZES = {
    "date": "2026-01-02",
    "commit": "abc",
    "machine": "a machine",
    "command": "bench/run.py linear",
    "rows": [
        {
            "text_bytes": 10**9,
            "events": 1000,
            "one": {"median_s": 2.0, "peak_bytes": 10**8},
            "two": {"median_s": 1.0, "peak_bytes": 10**8},
        }
    ],
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
