"""loader and throughput by looking at every record for every question."""

import statistics
from collections import defaultdict
from math import log
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from answers import Row, tables
from oracle.loading import SAVE, Load, Loading, Wait, aside_of, read_loading, time_within
from oracle.random_loading import random_loading
from program import Program

LEAST = 1_000_000


def nth(values: list[int], share: float) -> int:
    """The smallest that this share does not exceed."""
    ordered = sorted(values)
    return next(v for i, v in enumerate(ordered) if (i + 1) / len(ordered) >= share - 1e-12)


def median(values: list[int]) -> int:
    """Of an even number the middle between the two, rounded down."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) // 2


def cause_of(wait: Wait) -> str | None:
    load = wait.load
    if wait.before > wait.length // 2:
        return "start-up"
    if load is None:
        return None
    if load.end <= wait.start:
        return "hand-over"
    began = load.start - (wait.start - wait.before)
    if wait.first and load.worker is not None and began > wait.length // 2:
        return "start-up"
    starved = load["starved_ns"] or 0
    if starved > load.length // 2:
        return "no free core"
    transform, collate = load["transform_ns"] or 0, load["collate_ns"] or 0
    if transform >= load.fetch_ns and transform >= collate:
        return "transform"
    if collate > load.fetch_ns:
        return "collate"
    cpu = load["cpu_ns"]
    idle = load.length - starved - (load.length if cpu is None else cpu)
    return "fetch, waiting" if idle > load.length // 2 else "fetch, computing"


def known_sum(loads: list[Load], name: str) -> int | None:
    values = [v for load in loads if (v := load[name]) is not None]
    return sum(values) if values else None


def made_figures(loads: list[Load]) -> Row:
    whole = sum(load.length for load in loads)

    def share(part: int | None) -> Any:
        return None if part is None or whole == 0 else pytest.approx(part / whole)

    read = known_sum(loads, "read_bytes")
    return {
        "fetch_share": share(sum(load.fetch_ns for load in loads)) if loads else None,
        "transform_share": share(known_sum(loads, "transform_ns")),
        "collate_share": share(known_sum(loads, "collate_ns")),
        "cpu_cores": share(known_sum(loads, "cpu_ns")),
        "starved_share": share(known_sum(loads, "starved_ns")),
        "read_bytes": read,
        "storage_bytes": known_sum(loads, "storage_bytes"),
        "files": known_sum(loads, "files"),
        "bytes_per_second": None if read is None else pytest.approx(read * 1e9 / whole),
    }


def samples_of(wait: Wait) -> int | None:
    made = wait.load["samples"] if wait.load else None
    return made if made is not None else wait["samples"]


def until(wait: Wait) -> int:
    return max(wait.end, wait.end if wait.next_start is None else wait.next_start)


def work_after(found: Loading, wait: Wait) -> int:
    """What the loop does with the batch: within steps, and no validation."""
    if wait.phase != "training":
        return until(wait) - wait.end
    within = [
        (max(a, wait.end), min(b, until(wait)))
        for _, a, b in rank_steps(found)[wait.rank]
        if a < until(wait) and b > wait.end
    ]
    aside = rank_aside(found)[wait.rank]
    pieces = within or [(wait.end, until(wait))]
    return sum(b - a - time_within(aside, a, b) for a, b in pieces)


def phase_of_load(found: Loading, rank: int, load: Load) -> str | None:
    """Of the wait that received it, else of the loader's first."""
    waits = sorted((w for w in found.waits if w.rank == rank), key=lambda w: w.start)
    for wait in waits:
        if wait.load is load:
            return wait.phase
    return next((w.phase for w in waits if w.loader == load.loader), None)


def check_loader(program: Program, folder: Path, found: Loading) -> None:
    said = tables(program, "loader", folder)
    by_key: dict[tuple[int, str, str], list[Wait]] = defaultdict(list)
    for wait in found.waits:
        by_key[wait.rank, wait.loader, wait.phase].append(wait)
    made_by: dict[tuple[Any, ...], list[Load]] = defaultdict(list)
    for rank, loads in found.loads.items():
        for load in loads:
            if load.worker is not None and (phase := phase_of_load(found, rank, load)):
                made_by[rank, load.loader, phase, load.worker].append(load)
    late: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    later: dict[tuple[Any, ...], int] = defaultdict(int)  # without first batches
    for key, waits in by_key.items():
        for wait in waits:
            if wait.gave and wait.length >= LEAST and wait["worker"] is not None:
                late[*key, wait["worker"]]  # known as a worker, late or not
                if cause_of(wait) not in ("hand-over", "start-up"):
                    late[*key, wait["worker"]].append(wait.length)
                    if wait.load["batch"] != 0 if wait.load else not wait.first:
                        later[*key, wait["worker"]] += wait.length
    late = {k: v for k, v in late.items() if v or k in made_by}
    workers = sorted({*made_by, *late})
    expected = {k: w for k, w in by_key.items() if any(x.gave for x in w)}
    assert [(r["rank"], r["loader"], r["phase"]) for r in said["loaders"]] == sorted(expected)
    for row in said["loaders"]:
        key = row["rank"], row["loader"], row["phase"]
        check_loader_row(
            found, row, expected[key], [w for w in workers if w[:3] == key], late, later, made_by
        )
    shown = [(r["rank"], r["loader"], r["phase"], r["worker"]) for r in said["workers"]]
    assert shown == workers
    for row, key in zip(said["workers"], workers, strict=True):
        check_worker_row(row, made_by.get(key, []), late.get(key, []))
    check_steps(said["steps"], found)


def check_loader_row(
    found: Loading,
    row: Row,
    waits: list[Wait],
    workers: list[tuple[Any, ...]],
    late: dict[tuple[Any, ...], list[int]],
    later_late: dict[tuple[Any, ...], int],
    made_by: dict[tuple[Any, ...], list[Load]],
) -> None:
    given = [w for w in waits if w.gave]
    lengths = [w.length for w in given]
    assert (row["batches"], row["wait_ns"]) == (len(given), sum(lengths))
    whole = sum(w.length + work_after(found, w) for w in given)
    assert row["end_ns"] == sum(w.length for w in waits if not w.gave)
    assert row["wait_share"] == pytest.approx(sum(lengths) / whole)
    first = [w.length for w in given if w.first]
    assert (row["passes"], row["first_wait_ns"]) == (len(first), sum(first))
    later = (sum(lengths) - sum(first)) / (whole - sum(first)) if whole > sum(first) else None
    assert row["later_wait_share"] == pytest.approx(later)
    assert row["waited"] == sum(length >= LEAST for length in lengths)
    assert row["mean_wait_ns"] == pytest.approx(fmean(lengths))
    assert row["median_wait_ns"] == median(lengths)
    assert row["p95_wait_ns"] == nth(lengths, 0.95)
    assert row["max_wait_ns"] == max(lengths)
    samples = [s for w in given if (s := samples_of(w)) is not None]
    assert row["samples"] == (sum(samples) if samples else None)
    ready = [r for w in given if (r := w["ready"]) is not None]
    assert row["mean_ready"] == (pytest.approx(fmean(ready)) if ready else None)
    assert row["workers"] == len(workers)
    once_begun = any(later_late.get(w, 0) for w in workers)
    worst = max(
        workers,
        key=lambda w: (later_late.get(w, 0) if once_begun else sum(late.get(w, [])), -w[3]),
        default=None,
    )
    has_worst = worst is not None and sum(late.get(worst, [])) > 0
    assert row["late_worker"] == (worst[3] if worst and has_worst else None)
    causes: dict[str | None, int] = defaultdict(int)
    for wait in given:
        if wait.length >= LEAST:
            causes[cause_of(wait)] += wait.length
    most = [c for c, total in causes.items() if total == max(causes.values())]
    assert row["cause"] in (most or [None])
    loads = [w.load for w in given if w.load is not None]
    expected = made_figures(loads)
    assert {name: row[name] for name in expected} == expected
    begun = [x for x in loads if (x.iteration, x["batch"]) != (0, 0)] or loads
    assert row["make_ns"] == (pytest.approx(fmean(x.length for x in begun)) if begun else None)
    if workers:
        rates = [
            len(made_by[w]) / sum(x.length for x in made_by[w]) for w in made_by if w in workers
        ]
        rate = 1e9 * sum(rates)
    else:
        rate = 1e9 * len(loads) / sum(x.length for x in loads) if loads else 0
    assert row["batches_per_second"] == (pytest.approx(rate) if rate else None)


def check_worker_row(row: Row, loads: list[Load], late: list[int]) -> None:
    assert (row["late"], row["late_ns"]) == (len(late), sum(late))
    expected = made_figures(loads)
    assert {name: row[name] for name in expected} == expected
    if not loads:
        assert row["batches"] is None
        return
    lengths = [load.length for load in loads]
    assert (row["batches"], row["busy_ns"], row["max_ns"]) == (
        len(loads),
        sum(lengths),
        max(lengths),
    )
    assert (row["median_ns"], row["p95_ns"]) == (median(lengths), nth(lengths, 0.95))
    pids = {load.pid for load in loads}
    assert row["processes"] == len(pids)
    passes: dict[tuple[int, int], list[Load]] = defaultdict(list)
    for load in loads:
        passes[load.pid, load.iteration].append(load)
    alive = sum(max(x.end for x in one) - min(x.start for x in one) for one in passes.values())
    assert row["busy_share"] == pytest.approx(sum(lengths) / alive)


def rank_aside(found: Loading) -> dict[int, list[tuple[int, int]]]:
    """What a rank declared to be no training."""
    aside: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for path, recording in found.files.items():
        if not path.name.startswith("worker-"):
            aside[int(recording.about["rank"])] += aside_of(recording)
    return aside


def saves_of(found: Loading, rank: int) -> list[tuple[int, int]]:
    """Of checkpoints, none of which holds the end of a step."""
    return [
        (one.start, one.end)
        for path, recording in found.files.items()
        if not path.name.startswith("worker-") and int(recording.about["rank"]) == rank
        for one in recording.ranges
        if one.name == SAVE and one.end is not None
        if not any(one.start < end < one.end for _, _, end in recording.steps)
    ]


def rank_steps(found: Loading) -> dict[int, list[tuple[int, int, int]]]:
    """Number, start and end on the wall clock."""
    steps: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for path, recording in found.files.items():
        if not path.name.startswith("worker-"):
            for number, start, end in recording.steps:
                zero = recording.start_ns
                steps[int(recording.about["rank"])].append((number, start + zero, end + zero))
    return steps


def check_steps(rows: list[Row], found: Loading) -> None:
    watching = {w.rank for w in found.waits} | {r for r, x in found.loads.items() if x}
    steps = {r: s for r, s in rank_steps(found).items() if r in watching}
    assert [(r["rank"], r["step"]) for r in rows] == [
        (rank, number) for rank in sorted(steps) for number, _, _ in steps[rank]
    ]
    by_step = {(rank, n): (a, b) for rank, s in steps.items() for n, a, b in s}
    aside = rank_aside(found)
    for row in rows:
        start, end = by_step[row["rank"], row["step"]]
        other = [(a, b) for a, b in aside[row["rank"]] if a < end and b > start]
        assert row["step_ns"] == end - start - time_within(other, start, end)
        waits = [
            w
            for w in found.waits
            if w.rank == row["rank"]
            and start < w.end <= end
            and not any(a < w.end <= b for a, b in other)
        ]
        given = [w for w in waits if w.gave]
        assert (row["wait_ns"], row["batches"]) == (sum(w.length for w in waits), len(given))
        if not given:
            assert row["loader"] is None
            continue
        longest = max(w.length for w in given)
        candidates = [w for w in given if w.length == longest]
        assert row["worker"] in [w["worker"] for w in candidates]
        if len(candidates) > 1:
            continue
        (wait,) = candidates
        assert row["cause"] == (cause_of(wait) if wait.length >= LEAST else None)
        assert (row["loader"], row["ready"]) == (wait.loader, wait["ready"])
        load = wait.load
        assert row["make_ns"] == (load.length if load else None)
        assert row["fetch_ns"] == (load.fetch_ns if load else None)
        for name in ("transform_ns", "collate_ns", "read_bytes", "files"):
            assert row[name] == (load[name] if load else None)


def likelihood(odd: int, count: int, share: float) -> float:
    """Of so many odd ones among so many, where each is odd with this probability; its logarithm."""
    return sum(n * log(p) for n, p in ((odd, share), (count - odd, 1 - share)) if n > 0)


def warm_up(lengths: list[int]) -> int:
    count = len(lengths)
    if count < 8:
        return 0
    later = lengths[count // 2 :]
    usual = statistics.median(later)
    far = max(4 * 1.4826 * statistics.median(abs(x - usual) for x in later), usual / 4)
    odd = [abs(length - usual) > far for length in lengths]
    share = (sum(odd[count // 2 :]) + 0.5) / (len(later) + 1)
    best, most = 0, 2.0
    for end in range(1, count // 3 + 1):
        found = sum(odd[:end])
        if not odd[end - 1] or found / end <= share:
            continue
        gained = likelihood(found, end, found / end) - likelihood(found, end, share)
        if gained >= most:
            best, most = end, gained
    return best


def check_throughput(program: Program, folder: Path, found: Loading) -> None:
    said = tables(program, "throughput", folder)
    zero = min(recording.start_ns for recording in found.files.values())
    steps, aside = rank_steps(found), rank_aside(found)
    # start, length, wait, samples
    phases: dict[tuple[int, str], list[tuple[int, int, int | None, int | None]]]
    phases = defaultdict(list)
    for rank, marked in steps.items():
        for _, start, end in marked:
            waits = [
                w
                for w in found.waits
                if (w.rank, w.phase) == (rank, "training") and start < w.end <= end
            ]
            counts = [samples_of(w) for w in waits if w.gave]
            known = bool(counts) and None not in counts
            waited = sum(min(w.length, w.end - start) for w in waits)
            watched = any((w.rank, w.phase) == (rank, "training") for w in found.waits)
            samples = sum(c or 0 for c in counts) if known else None
            known_wait = waited if watched else None
            own = end - start - time_within(aside[rank], start, end)
            phases[rank, "training"].append((start, own, known_wait, samples))
    for wait in sorted(found.waits, key=lambda w: w.start):
        if not wait.gave or until(wait) <= wait.start:
            continue
        if wait.phase == "training" and wait.rank in steps:
            continue
        other = rank_aside(found)[wait.rank] if wait.phase == "training" else []
        whole = wait.before + until(wait) - wait.start
        whole -= time_within(other, wait.end, until(wait))
        one = (wait.start, whole, wait.length, samples_of(wait))
        phases[wait.rank, wait.phase].append(one)
    assert [(r["rank"], r["phase"]) for r in said["phases"]] == sorted(phases)
    for row in said["phases"]:
        rows = phases[row["rank"], row["phase"]]
        skipped = warm_up([length for _, length, _, _ in rows])
        rest = rows[skipped:]
        lengths = [length for _, length, _, _ in rest]
        total = sum(lengths)
        assert (row["iterations"], row["warm_up"], row["measured"]) == (
            len(rows),
            skipped,
            len(rest),
        )
        assert row["iterations_per_second"] == pytest.approx(1e9 * len(rest) / total)
        assert row["median_per_second"] == pytest.approx(1e9 / median(lengths))
        assert row["low_per_second"] == pytest.approx(1e9 / nth(lengths, 0.95))
        spread = stdev(lengths) / fmean(lengths) if len(lengths) > 1 else 0
        assert row["spread"] == pytest.approx(spread)
        waits_known = [w for _, _, w, _ in rest if w is not None]
        share = pytest.approx(sum(waits_known) / total) if len(waits_known) == len(rest) else None
        assert row["wait_share"] == share
        counts = [s for _, _, _, s in rest]
        samples = None if None in counts else sum(s or 0 for s in counts)
        assert row["samples"] == samples
        rate = None if samples is None else pytest.approx(1e9 * samples / total)
        assert row["samples_per_second"] == rate
    for row in said["job"]:
        ranks = [r for r in said["phases"] if r["phase"] == row["phase"]]
        assert row["ranks"] == len(ranks)
        rates = [r["iterations_per_second"] for r in ranks]
        assert row["iterations_per_second"] == pytest.approx(fmean(rates))
        assert row["slowest_per_second"] == pytest.approx(min(rates))
        samples_rates = [r["samples_per_second"] for r in ranks]
        together = None if None in samples_rates else pytest.approx(sum(samples_rates))
        assert row["samples_per_second"] == together
        # Outside training a batch is an iteration.
        if row["phase"] != "training" and row["batches_per_second"] is not None:
            assert row["batches_per_second"] == pytest.approx(row["iterations_per_second"])
    saves = {rank: [end - start for start, end in saves_of(found, rank)] for rank in steps}
    assert [r["rank"] for r in said["saves"]] == sorted(rank for rank in saves if saves[rank])
    for row in said["saves"]:
        lengths = saves[row["rank"]]
        trained = sum(length for _, length, _, _ in phases[row["rank"], "training"])
        assert (row["saves"], row["save_ns"], row["max_ns"]) == (
            len(lengths),
            sum(lengths),
            max(lengths),
        )
        assert row["mean_ns"] == pytest.approx(fmean(lengths))
        assert row["save_share"] == pytest.approx(sum(lengths) / (sum(lengths) + trained))
    for key, rows in phases.items():
        curve = [r for r in said["series"] if (r["rank"], r["phase"]) == key]
        assert sum(r["iterations"] for r in curve) == len(rows)
        assert curve[0]["start_ns"] == rows[0][0] - zero
        assert len(curve) <= 100


@pytest.mark.parametrize("seed", range(12))
def test_random_loading(program: Program, tmp_path: Path, seed: int) -> None:
    random_loading(seed, tmp_path)
    found = read_loading(tmp_path)
    assert any(wait.load for wait in found.waits) or seed % 3 == 2
    check_loader(program, tmp_path, found)
    check_throughput(program, tmp_path, found)
