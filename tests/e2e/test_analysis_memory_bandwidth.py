"""Bandwidth of copies and memsets against a brute-force oracle."""

from pathlib import Path

import pytest
from answers import short_name, tables, traces
from oracle import read_trace
from oracle.copies import bytes_of, kind_of
from oracle.levels import mean, percentile, series, time_at
from oracle.random_trace import random_trace
from oracle.work import View, view_of, view_of_file
from program import Program


def check(program: Program, path: Path, view: View) -> None:
    """Compares summary and series with the oracle."""
    found = tables(program, "memory-bandwidth", "--points", "0", path)
    moves = [w for w in view.work if w.sort in ("memcpy", "memset")]
    places = sorted({(w.device, kind_of(w)) for w in moves})
    assert [(row["device"], row["kind"]) for row in found["kinds"]] == places
    for row, place in zip(found["kinds"], places, strict=True):
        own = [w for w in moves if (w.device, kind_of(w)) == place]
        sizes = [bytes_of(w) for w in own]
        assert row["count"] == len(own)
        assert row["bytes"] == sum(size or 0 for size in sizes)
        assert row["without_bytes"] == sizes.count(None)
        assert row["without_time"] == sum(w.length == 0 for w in own)
        stays = [
            (w.event.start, w.event.end, (size or 0) * 10**9 // w.length)
            for w, size in zip(own, sizes, strict=True)
            if w.length > 0
        ]
        times = time_at(stays, [(-(1 << 61), 1 << 61)])
        del times[0]
        assert row["busy_ns"] == times.total()
        if times:
            assert row["mean_bytes_per_second"] == pytest.approx(mean(times), rel=1e-12)
            assert row["median_bytes_per_second"] == percentile(times, 0.5)
            assert row["p95_bytes_per_second"] == percentile(times, 0.95)
            assert row["max_bytes_per_second"] == max(times)
        said = [
            (int(point["time_ns"]), point["bytes_per_second"])
            for point in found["series"]
            if (point["device"], point["kind"]) == place
        ]
        assert said == series(stays)
        assert not said or said[-1][1] == 0


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_equals_brute_force(program: Program, path: Path) -> None:
    check(program, path, view_of_file(path))


@pytest.mark.parametrize("seed", range(25))
def test_random_traces(program: Program, tmp_path: Path, seed: int) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    check(program, path, view_of(read_trace(path.read_bytes())))
