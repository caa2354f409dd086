"""The engine against the oracle, and its fast path against its reference one.

STEPSCOPE_MUTANTS sets how many damaged files are tried (default 240). STEPSCOPE_DIFFERENTIAL=all
compares every row of the largest files too; without it those are only counted.
"""

import gzip
import json
import os
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from oracle import NotJsonError, Trace, read_trace
from oracle.mutate import Mutant, mutant
from oracle.samples import samples
from program import ROOT, Outcome, Program

MUTANTS = int(os.environ.get("STEPSCOPE_MUTANTS", "240"))
SHARES = 8  # of the mutants, so that they run side by side
COMPARE_ALL = os.environ.get("STEPSCOPE_DIFFERENTIAL") == "all"
SMALL_FILE = 250_000  # bytes, packed: what is compared row by row without being asked to
HANG = 20  # seconds

LOSSES = {"not_an_object", "without_phase", "without_timestamp", "time_out_of_range"}
COUNTED = LOSSES | {
    "without_name", "unknown_phase", "number_as_text", "sub_nanosecond", "without_duration",
    "negative_duration", "absurd_duration", "far_from_the_rest", "unclosed_begin",
    "end_without_begin", "unclosed_async", "async_end_without_begin", "callee_outlives_caller",
    "overlapping_spans", "without_launch", "shared_correlation", "before_its_launch",
}  # fmt: skip
ZERO_IS_NONE = {"registers", "address"}
SINGLES = {"blocks_per_sm", "warps_per_sm", "occupancy_percent", "bandwidth_gbps"}

# Whatever the thread count, the size of the blocks and the path taken: the same bytes.
WAYS = {
    "reference-reader": {"STEPSCOPE_REFERENCE_READER": "1"},
    "one thread": {"STEPSCOPE_JOBS": "1"},
    "eight threads": {"STEPSCOPE_JOBS": "8"},
    "blocks of 4 KiB": {"STEPSCOPE_JOBS": "8", "STEPSCOPE_BLOCK_BYTES": "4096"},
    "reference in blocks of 4 KiB": {
        "STEPSCOPE_REFERENCE_READER": "1",
        "STEPSCOPE_BLOCK_BYTES": "4096",
    },
    "blocks of 64 KiB": {"STEPSCOPE_BLOCK_BYTES": "65536"},
}


def real_traces() -> list[Path]:
    """The samples of the project, and the corpus where there is one."""
    folders = [ROOT / "examples" / "data"]
    if corpus := os.environ.get("STEPSCOPE_CORPUS"):
        folders.append(Path(corpus))
    return sorted(path for folder in folders for path in folder.rglob("*.json.gz"))


TRACES = real_traces()
SMALL = [path for path in TRACES if path.stat().st_size <= SMALL_FILE]


def short_name(path: Path) -> str:
    return f"{path.parent.name}/{path.name.removesuffix('.json.gz')}"


def export(program: Program, path: Path | str, **more: Any) -> Outcome:
    return program.run("export", "--to", "jsonl", path, timeout=more.pop("timeout", 300), **more)


def comparable(value: Any, key: str = "") -> Any:
    """A row without what makes no difference: the order of flags, empty objects, "0 for none"."""
    if isinstance(value, dict):
        members = {k: comparable(v, k) for k, v in value.items()}
        return {k: v for k, v in members.items() if v != {} and (k not in ZERO_IS_NONE or v != 0)}
    if isinstance(value, list):
        items = [comparable(v, key) for v in value]
        return sorted(items) if key == "flags" else items
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if key in SINGLES and isinstance(value, int | float):
        return struct.unpack("f", struct.pack("f", value))[0]
    return value


def differences(expected: list[Any], output: bytes, limit: int = 5) -> Iterator[str]:
    """The first rows in which the export is not what it should be, member by member."""
    got = [json.loads(line) for line in output.decode("utf-8").split("\n") if line]
    if len(got) != len(expected):
        yield f"{len(got)} lines, expected {len(expected)}"
    by_ordinal = [{row.get("ordinal", "header"): row for row in rows} for rows in (expected, got)]
    for ordinal in [*by_ordinal[0], *(o for o in by_ordinal[1] if o not in by_ordinal[0])]:
        wanted, found = (comparable(rows.get(ordinal)) for rows in by_ordinal)
        if wanted == found:
            continue
        yield from describe(ordinal, wanted, found)
        limit -= 1
        if limit == 0:
            yield "..."
            return


def describe(ordinal: Any, wanted: Any, found: Any) -> Iterator[str]:
    if not isinstance(wanted, dict) or not isinstance(found, dict):
        yield f"{ordinal}:\n    expected {wanted}\n    got      {found}"
        return
    for key in [*wanted, *(k for k in found if k not in wanted)]:
        if wanted.get(key) == found.get(key):
            continue
        if isinstance(wanted.get(key), dict) and isinstance(found.get(key), dict):
            yield from describe(f"{ordinal}.{key}", wanted[key], found[key])
        else:
            yield f"{ordinal}.{key}: expected {wanted.get(key)!r}, got {found.get(key)!r}"


def notes_of(program: Program, path: Path) -> dict[str, int]:
    """What info found odd, of the kinds that the oracle counts too."""
    outcome = program.run("info", "--json", "--no-timing", path, timeout=300)
    notes = json.loads(outcome.stdout)["notes"]
    return {note["id"]: note["count"] for note in notes if note["id"] in COUNTED}


def problems(trace: Trace, outcome: Outcome) -> list[str]:
    """Where the export has not the oracle's rows, or its exit status not the oracle's view."""
    found = []
    status = expected_status(trace)
    if outcome.exit_status != status:
        found.append(f"exit status {outcome.exit_status}, expected {status}: {dict(trace.notes)}")
        found.append(outcome.stderr.decode(errors="replace"))
    if outcome.exit_status in (0, 4):
        found += differences(trace.lines(rank=trace.rank() or 0), outcome.stdout)
    return found


def expected_status(trace: Trace) -> int:
    """A loss is a loss only where something was read; a file without any event is no trace."""
    if not LOSSES & trace.notes.keys():
        return 0
    return 4 if trace.tracks else 3


@pytest.mark.parametrize("path", TRACES if COMPARE_ALL else SMALL, ids=short_name)
def test_every_row_is_the_oracles(path: Path, program: Program, tmp_path: Path) -> None:
    copy = tmp_path / "trace.json.gz"  # a name that says no rank
    copy.write_bytes(path.read_bytes())
    trace = read_trace(path.read_bytes())
    if found := problems(trace, export(program, copy)):
        pytest.fail("\n".join(found), pytrace=False)
    assert notes_of(program, copy) == dict(trace.notes)


@pytest.mark.parametrize("path", TRACES, ids=short_name)
def test_info_counts_what_is_there(path: Path, program: Program) -> None:
    with gzip.open(path) as file:
        parsed = json.load(file)
    entries = parsed if isinstance(parsed, list) else parsed["traceEvents"]
    rows = [e for e in entries if e["ph"] not in ("M", "s", "t", "f")]
    outcome = program.run("info", "--json", "--no-timing", path, timeout=300)
    assert outcome.exit_status == 0, outcome.stderr.decode()
    info = json.loads(outcome.stdout)
    counted = Counter[str]()
    for category in info["categories"]:
        counted[category["category"]] += category["events"]
    assert counted == Counter(e.get("cat", "") for e in rows)
    assert info["run"]["entries"] == len(entries)
    assert info["run"]["flow_events"] == sum(e["ph"] in ("s", "t", "f") for e in entries)


def test_the_careful_path_can_be_asked_for(program: Program) -> None:
    trace = b'[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]'
    asked = program.run("export", "--to", "jsonl", "--reference-reader", "-", stdin=trace)
    assert asked.exit_status == 0, asked.stderr.decode()


@pytest.mark.parametrize("path", SMALL, ids=short_name)
def test_all_ways_of_reading_give_the_same_bytes(path: Path, program: Program) -> None:
    reference = export(program, path)
    assert reference.exit_status in (0, 4), reference.stderr.decode()
    for way, env in WAYS.items():
        assert export(program, path, env=env).stdout == reference.stdout, way


def test_packed_plain_and_piped_give_the_same_bytes(program: Program, tmp_path: Path) -> None:
    path = max(SMALL, key=lambda p: p.stat().st_size)
    packed = path.read_bytes()
    text = gzip.decompress(packed)
    half = len(text) // 2
    forms = {
        "trace.json": text,
        "trace.json.gz": packed,
        "members.json.gz": gzip.compress(text[:half]) + gzip.compress(text[half:]),
        "trace.json.zst": zstandard.compress(text),
        "frames.json.zst": zstandard.compress(text[:half]) + zstandard.compress(text[half:]),
        "misnamed.json": packed,
    }
    reference = None
    for name, data in forms.items():
        (tmp_path / name).write_bytes(data)
        outcome = export(program, tmp_path / name)
        assert outcome.exit_status == 0, f"{name}: {outcome.stderr.decode()}"
        reference = reference or outcome.stdout
        assert outcome.stdout == reference, name
        assert export(program, "-", stdin=data).stdout == reference, f"{name}, piped"
        blocks = {"STEPSCOPE_JOBS": "3", "STEPSCOPE_BLOCK_BYTES": "4096"}
        assert export(program, tmp_path / name, env=blocks).stdout == reference, f"{name}, blocks"


def read_both_ways(program: Program, sample: Mutant, folder: Path) -> Outcome:
    """Exports a damaged file fast and carefully: the same, and never a crash or a hang."""
    path = folder / "trace.json"
    path.write_bytes(sample.data)
    blocks = ["4096", "256", "65536"][sample.seed % 3]
    ways = {
        "fast": {"STEPSCOPE_JOBS": "1"},
        "reference-reader": {"STEPSCOPE_REFERENCE_READER": "1"},
        "in blocks": {"STEPSCOPE_JOBS": "3", "STEPSCOPE_BLOCK_BYTES": blocks},
    }
    outcomes = {way: export(program, path, env=env, timeout=HANG) for way, env in ways.items()}
    fast = outcomes["fast"]
    for way, outcome in outcomes.items():
        if outcome.exit_status not in (0, 3, 4):
            fail_mutant(sample, f"{way}: exit status {outcome.exit_status}\n", outcome.stderr)
        if (outcome.exit_status, outcome.stdout) != (fast.exit_status, fast.stdout):
            fail_mutant(sample, f"{way} differs from fast:\n", first_difference(fast, outcome))
    return fast


def first_difference(one: Outcome, other: Outcome) -> bytes:
    for a, b in zip(one.stdout.split(b"\n"), other.stdout.split(b"\n"), strict=False):
        if a != b:
            return a + b"\n" + b
    return b"exit statuses %d and %d" % (one.exit_status, other.exit_status)


def fail_mutant(sample: Mutant, why: str, output: bytes) -> None:
    folder = ROOT / "build" / "mutants"
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / f"{sample.seed}.json"
    kept.write_bytes(sample.data)
    where = f"mutant {sample.seed} of {sample.origin}, kept as {kept.relative_to(ROOT)}\n"
    pytest.fail(where + why + output.decode(errors="replace")[:3000], pytrace=False)


@pytest.mark.parametrize("share", range(SHARES))
def test_damaged_files_are_read_alike(share: int, program: Program, tmp_path: Path) -> None:
    origins = samples()
    for seed in range(share, MUTANTS, SHARES):
        sample = mutant(seed, origins)
        outcome = read_both_ways(program, sample, tmp_path)
        try:
            trace = read_trace(sample.data)
        except NotJsonError:
            continue
        found = problems(trace, outcome)
        if not found and outcome.exit_status != 3:
            noted, expected = notes_of(program, tmp_path / "trace.json"), dict(trace.notes)
            found = [] if noted == expected else [f"notes: expected {expected}, got {noted}"]
        if found:
            fail_mutant(sample, "\n".join(found), b"")
