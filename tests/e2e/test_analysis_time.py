"""time and log by going through every range, step and line."""

from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from answers import Row, tables
from oracle.random_scope import random_scope
from oracle.scope import Range, Recording, read_recording
from program import ROOT, Program

SAMPLE = ROOT / "examples" / "data" / "run" / "attempt-1"
LEVELS = {10: "debug", 20: "info", 30: "warning", 40: "error", 50: "critical"}


def where(recording: Recording, one: Range, worker: bool) -> str:
    if worker:
        return "worker processes"
    kind, number = one.place
    if kind == "task":
        return "async tasks"
    return "main thread" if number == int(recording.about["pid"]) else "other threads"


def path_of(one: Range) -> str:
    above = path_of(one.parent) + " > " if one.parent else ""
    return above + one.name


def expected_ranges(files: dict[Path, Recording]) -> dict[tuple[Any, ...], Row]:
    """By rank, place and path."""
    rows: dict[tuple[Any, ...], Row] = defaultdict(
        lambda: {"calls": 0, "open": 0, "total_ns": 0, "self_ns": 0, "ended": []}
    )
    for file, recording in files.items():
        worker = file.name.startswith("worker-")
        rank = int(recording.about["rank"])
        for one in recording.ranges:
            key = (rank, where(recording, one, worker))
            end = recording.last if one.end is None else one.end
            row = rows[*key, path_of(one)]
            row["calls"] += 1
            row["open"] += one.end is None
            row["total_ns"] += end - one.start
            row["self_ns"] += end - one.start
            if one.end is not None:
                row["ended"].append(end - one.start)
            if one.parent:
                rows[*key, path_of(one.parent)]["self_ns"] -= end - one.start
    for row in rows.values():
        ended = sorted(row.pop("ended"))
        row["mean_ns"] = pytest.approx(fmean(ended)) if ended else None
        row["median_ns"] = median(ended) if ended else None
        row["min_ns"], row["max_ns"] = (ended[0], ended[-1]) if ended else (None, None)
    return rows


def median(values: list[int]) -> int:
    """Of an even number the middle between the two, rounded down."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) // 2


def recorded_time(files: dict[Path, Recording], rank: int, place: str) -> int:
    """What shares are of: threads and tasks run side by side, and each has time of its own."""
    workers, whole = place == "worker processes", 0
    for file, recording in files.items():
        worker = file.name.startswith("worker-")
        if int(recording.about["rank"]) != rank or worker != workers:
            continue
        length = max(recording.length, recording.last)
        alive: dict[Any, list[int]] = defaultdict(list)
        for one in recording.ranges:
            if where(recording, one, worker) == place:
                end = recording.last if one.end is None else one.end
                alive[one.place] += [one.start, end]
        if place == "async tasks":
            whole += sum(max(times) - min(times) for times in alive.values())
        else:
            whole += length * (len(alive) if place == "other threads" else 1)
    return whole


def check(program: Program, folder: Path) -> None:
    files = {path: read_recording(path) for path in sorted(folder.rglob("*.scope"))}
    found = tables(program, "time", "--top", "0", "--slowest", "0", folder)
    expected = expected_ranges(files)
    assert {(r["rank"], r["where"], r["path"]) for r in found["ranges"]} == set(expected)
    for row in found["ranges"]:
        key = (row["rank"], row["where"], row["path"])
        assert {name: row[name] for name in expected[key]} == expected[key], key
        assert row["range"] == row["path"].split(" > ")[-1]
        assert row["depth"] == row["path"].count(" > ")
        whole = recorded_time(files, row["rank"], row["where"])
        # Random ranges overlap as no program's do: then there is no share.
        fits = 0 < whole >= row["total_ns"]
        assert row["share"] == (pytest.approx(row["total_ns"] / whole) if fits else None)
    check_across(found["across"], expected)
    check_steps(found, files)
    check_log(program, folder, files)


def check_across(rows: list[Row], expected: dict[tuple[Any, ...], Row]) -> None:
    if len({key[0] for key in expected}) < 2:
        assert rows == []
        return
    totals: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for (rank, place, path), row in expected.items():
        totals[place, path][rank] = row["total_ns"]
    assert {(row["where"], row["path"]) for row in rows} == set(totals)
    for row in rows:
        by_rank = totals[row["where"], row["path"]]
        assert row["ranks"] == len(by_rank)
        assert row["max_total_ns"] == max(by_rank.values())
        assert row["min_total_ns"] == min(by_rank.values())
        assert row["slowest_rank"] == min(
            rank for rank, total in by_rank.items() if total == row["max_total_ns"]
        )
        assert row["mean_total_ns"] == pytest.approx(fmean(by_rank.values()))


def check_steps(found: dict[str, list[Row]], files: dict[Path, Recording]) -> None:
    zero = min(recording.start_ns for recording in files.values())
    found_steps = defaultdict(list)
    for file, recording in files.items():
        if not file.name.startswith("worker-"):
            for number, start, end in recording.steps:
                at = start + recording.start_ns - zero
                found_steps[int(recording.about["rank"])].append((number, at, end - start))
    steps = dict(found_steps)
    said = [(r["rank"], r["step"], r["start_ns"], r["step_ns"]) for r in found["steps"]]
    assert said == [(rank, *row) for rank in sorted(steps) for row in steps[rank]]
    assert [row["rank"] for row in found["times"]] == sorted(steps)
    for row in found["times"]:
        lengths = sorted(length for _, _, length in steps[row["rank"]])
        assert row["steps"] == len(lengths)
        assert row["median_ns"] == median(lengths)
        assert row["mean_ns"] == pytest.approx(fmean(lengths))
        assert (row["min_ns"], row["max_ns"]) == (lengths[0], lengths[-1])
    for rank, rows in steps.items():
        slow = [row["step_ns"] for row in found["slowest"] if row["rank"] == rank]
        assert slow == sorted((length for _, _, length in rows), reverse=True)


def steps_of_the_training(
    file: Path, recording: Recording, files: dict[Path, Recording]
) -> list[tuple[int, int, int]]:
    """Of the process that started this one, on the clock of the system; none for itself."""
    if not file.name.startswith("worker-"):
        return []
    return [
        (number, start + other.start_ns, end + other.start_ns)
        for path, other in files.items()
        if not path.name.startswith("worker-") and other.about["rank"] == recording.about["rank"]
        for number, start, end in other.steps
    ]


def step_under_way(steps: list[tuple[int, int, int]], time: int) -> int | None:
    """The first that had not ended; after the last the next one."""
    if time < steps[0][1]:
        return None
    return next((number for number, _, end in steps if end > time), steps[-1][0] + 1)


def check_log(program: Program, folder: Path, files: dict[Path, Recording]) -> None:
    zero = min(recording.start_ns for recording in files.values())
    expected = []
    for file, recording in files.items():
        steps = steps_of_the_training(file, recording, files)
        for line in recording.lines:
            at = line.time + recording.start_ns - zero
            step = line.step if line.step >= 0 else None
            if steps:
                step = step_under_way(steps, line.time + recording.start_ns)
            level = LEVELS.get(line.level, str(line.level))
            expected.append((int(recording.about["rank"]), at, step, level, line.text))
    found = tables(program, "log", "--level", "debug", "--top", "0", folder)["lines"]
    said = [
        (
            r["rank"],
            r["time_ns"],
            r["step"],
            r["level"],
            "\n".join(filter(None, (r["text"], r["rest"]))),
        )
        for r in found
    ]
    assert sorted(said, key=str) == sorted(expected, key=str)
    assert said == sorted(said, key=lambda row: row[:2])


def test_of_the_sample(program: Program) -> None:
    check(program, SAMPLE)


@pytest.mark.parametrize("seed", range(12))
def test_of_random_recordings(program: Program, tmp_path: Path, seed: int) -> None:
    for rank in range(1 + seed % 3):
        folder = tmp_path / f"rank{rank:05}"
        folder.mkdir()
        pid = 100 * (rank + 1)
        (folder / "events.scope").write_bytes(random_scope(100 * seed + rank, pid, rank))
        if seed % 4 == 0:
            worker = random_scope(100 * seed + 50 + rank, pid + 10, rank, trains=False)
            (folder / f"worker-{pid + 10}.scope").write_bytes(worker)
    check(program, tmp_path)
