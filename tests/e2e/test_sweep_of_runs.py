"""`sweep dataloader --from`: made runs, whose answers are known."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from oracle.random_loading import MS, WALL, ScopeWriter
from program import Program

LOADER, PID, WAIT = "DataLoader", 100, 2 * MS


def recorded(folder: Path, step: int, window: range = range(0), steps: int = 30) -> None:
    """Steps of one length that wait 2 ms each; those of the window are traced and take 25 ms more.

    Its profiler takes a second to open and another to close, which is no part of a step.
    """
    rank = folder / "attempt-0" / "rank00000"
    rank.mkdir(parents=True)
    main, now, events = ScopeWriter(PID, 0), 100, []
    main.step(0, now, begins=True)
    main.instant(f"loader starts#{LOADER}", now)
    main.counter(f"loader iteration#{LOADER}", 0, now)
    now += 10
    for number in range(steps):
        if window and number in (window.start, window.stop):
            now += 1000 * MS
            main.step(number, now, begins=True)
        start = now
        main.begin(f"wait for data#{LOADER}", now)
        now += WAIT
        main.end(f"wait for data#{LOADER}", now)
        for name, value in {"batch": number, "samples": 8}.items():
            main.counter(f"loader {name}#{LOADER}", value, now)
        now = start + step + (25 * MS if number in window else 0)
        main.step(number, now)
        if number in window:
            mark = {"name": f"ProfilerStep#{number}", "cat": "user_annotation", "ph": "X"}
            times = {"ts": start / 1e3, "dur": (now - start) / 1e3}
            events.append({**mark, **times, "pid": PID, "tid": PID})
    main.instant(f"loader ends#{LOADER}", now)
    (rank / "events.scope").write_bytes(main.bytes())
    if events:
        trace = {"schemaVersion": 1, "baseTimeNanoseconds": WALL, "traceEvents": events}
        with gzip.open(rank / "trace-0.json.gz", "wt") as file:
            json.dump(trace, file)


def swept(program: Program, *runs: Path) -> dict[str, Any]:
    outcome = program.run("sweep", "dataloader", "--json", "--from", *runs)
    assert outcome.exit_status == 0, outcome.stderr
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


def test_neither_traced_steps_nor_their_profiler_count(program: Program, tmp_path: Path) -> None:
    """A short recording with a window is kept apart from one without."""
    recorded(tmp_path / "fast", 10 * MS, window=range(12, 15))
    recorded(tmp_path / "slow", 12 * MS)
    said = swept(program, tmp_path / "fast", tmp_path / "slow")
    rows = {Path(row["job"]).name: row for row in said["tables"]["settings"]}
    assert rows["fast"]["training_time_ns"] == pytest.approx(8 * MS)
    assert rows["slow"]["training_time_ns"] == pytest.approx(10 * MS)
    assert rows["fast"]["steps"] == 26  # without the first of the pass and three that were traced
    assert (rows["fast"]["outcome"], rows["slow"]["outcome"]) == ("best", "slower")
    assert rows["slow"]["slower_share"] == pytest.approx(0.2)


def test_a_run_that_watched_no_loader_is_a_row(program: Program, tmp_path: Path) -> None:
    step = {"name": "ProfilerStep#1", "cat": "user_annotation", "ph": "X", "ts": 0, "dur": 50}
    work = {"name": "aten::add", "cat": "cpu_op", "ph": "X", "ts": 10, "dur": 5}
    events = [{**event, "pid": 1, "tid": 1} for event in (step, work)]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    outcome = program.run("sweep", "dataloader", "--from", trace)
    assert outcome.exit_status == 3
    text = outcome.stdout.decode()
    assert text.startswith("no setting could be measured\n\n  Runs  1\n")
    assert "  no loader was watched in it  trace.json\n" in text
    assert b"nothing could be measured: none of these runs has steps and a loader" in outcome.stderr
    assert program.run("sweep", "dataloader", "--from", tmp_path / "nowhere").exit_status == 3
