"""Queue lengths against a brute-force oracle."""

from pathlib import Path

import pytest
from answers import short_name, tables, traces
from oracle import read_trace
from oracle.levels import mean, percentile, series, time_at
from oracle.random_trace import random_trace
from oracle.work import View, view_of, view_of_file
from program import Program


def check(program: Program, path: Path, view: View) -> None:
    """Compares summary and series with the oracle."""
    found = tables(program, "queue-length", "--points", "0", "--full", "2", path)
    streams = sorted({(w.device, w.stream) for w in view.work})
    assert [(row["device"], row["stream"]) for row in found["streams"]] == streams
    for row, place in zip(found["streams"], streams, strict=True):
        own = [w for w in view.work if (w.device, w.stream) == place]
        launched = [(w, w.event.launch) for w in own if w.event.launch]
        stays = [(call.start, w.event.start, 1) for w, call in launched]
        times = time_at(stays, view.measured)
        assert (row["queued"], row["without_call"]) == (len(launched), len(own) - len(launched))
        assert row["measured_ns"] == times.total()
        assert row["max"] == max(times, default=0)
        assert row["median"] == percentile(times, 0.5)
        assert row["p95"] == percentile(times, 0.95)
        assert row["full_ns"] == sum(time for value, time in times.items() if value >= 2)
        if times:
            assert row["mean"] == pytest.approx(mean(times), rel=1e-12)
            assert row["empty_share"] == pytest.approx(times[0] / times.total(), rel=1e-12)
        said = [
            (int(point["time_ns"]), point["length"])
            for point in found["series"]
            if (point["device"], point["stream"]) == place
        ]
        assert said == series(stays)


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_equals_brute_force(program: Program, path: Path) -> None:
    check(program, path, view_of_file(path))


@pytest.mark.parametrize("seed", range(25))
def test_random_traces(program: Program, tmp_path: Path, seed: int) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    check(program, path, view_of(read_trace(path.read_bytes())))
