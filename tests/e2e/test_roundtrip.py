"""Import, export as Chrome JSON, import again: the same tables, down to the position of each event.

STEPSCOPE_MUTANTS sets how many damaged files are tried (default 240).
"""

import gzip
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from golden_file import read
from oracle.mutate import mutant
from oracle.samples import samples
from program import ROOT, Outcome, Program

MUTANTS = int(os.environ.get("STEPSCOPE_MUTANTS", "240"))
SHARES = 8
GOLDENS = ROOT / "tests" / "golden" / "ingest"
READ = (0, 4)  # exit statuses of a file that was read, whole or in part


def real_traces() -> list[Path]:
    folders = [ROOT / "examples" / "data"]
    if corpus := os.environ.get("STEPSCOPE_CORPUS"):
        folders.append(Path(corpus))
    return sorted(path for folder in folders for path in folder.rglob("*.json.gz"))


def export(program: Program, to: str, path: Path, *more: str | Path) -> Outcome:
    return program.run("export", path, "--to", to, *more, timeout=300)


def test_a_file_on_standard_input_keeps_its_arguments(program: Program, tmp_path: Path) -> None:
    """It could be read anywhere, but not again."""
    packed = ROOT / "examples" / "data" / "gpt_bf16.json.gz"
    path = tmp_path / "trace.json"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    with path.open("rb") as text:
        done = subprocess.run(
            [program.path, "export", "--to", "chrome", "-", "-j", "2"],
            stdin=text,
            capture_output=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout == export(program, "chrome", path).stdout


def no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def round_trip(program: Program, trace: Path, folder: Path) -> bytes:
    """Checks one file and returns its Chrome export; nothing when it is no trace."""
    first = export(program, "jsonl", trace)
    if first.exit_status not in READ:
        return b""
    again = folder / "again" / "trace.json"
    again.parent.mkdir(exist_ok=True)
    written = export(program, "chrome", trace, "-o", again)
    assert written.exit_status in READ, written.stderr.decode()
    text = again.read_bytes()
    json.loads(text.decode("utf-8"), parse_constant=no_constant)
    second = export(program, "jsonl", again)
    assert second.exit_status == 0, second.stderr.decode()
    report_difference(first.stdout, second.stdout)
    return text


def without_entries(output: bytes) -> bytes:
    return re.sub(rb'"entries":[0-9]+', b"", output)


def report_difference(before: bytes, after: bytes) -> None:
    # An asynchronous end that stood before its begin has to come after it: one entry more.
    has_async = b'"ph":"async_span"' in before
    if before == after or (has_async and without_entries(before) == without_entries(after)):
        return
    one, other = before.split(b"\n"), after.split(b"\n")
    pairs = [(a, b) for a, b in zip(one, other, strict=False) if a != b][:3]
    shown = "\n".join(f"{a.decode()[:2000]}\n{b.decode()[:2000]}" for a, b in pairs)
    pytest.fail(f"{len(one)} and {len(other)} lines\n{shown}", pytrace=False)


@pytest.mark.parametrize("path", real_traces(), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_real_traces_come_back(path: Path, program: Program, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json.gz"
    trace.symlink_to(path)
    assert round_trip(program, trace, tmp_path)


def golden_inputs() -> Iterator[Any]:
    for case in sorted(GOLDENS.glob("*.test")):
        for section in read(case).inputs():
            if ".json" in section.name:
                yield pytest.param(section.content(), id=f"{case.stem}/{section.name}")


@pytest.mark.parametrize("content", list(golden_inputs()))
def test_every_quirk_comes_back(content: bytes, program: Program, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_bytes(content)
    round_trip(program, trace, tmp_path)


def small(ph: str, pid: int | str, tid: int | str, **more: Any) -> dict[str, Any]:
    return {"ph": ph, "name": "op", "cat": "c", "pid": pid, "tid": tid, "ts": 1, **more}


def label(what: str, pid: int | str, tid: int | str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": f"of {pid}"}}


@pytest.mark.parametrize("number", ["007", "00", "-01", "7"])
def test_what_only_looks_like_a_number_stays_text(
    number: str, program: Program, tmp_path: Path
) -> None:
    events = [
        label("thread_name", number, number),
        small("X", number, number, dur=2),
        small("s", number, number, id=1),
        small("B", number, number),
        {"ph": "E", "pid": number, "tid": number, "ts": 2},
        small("b", number, number, id=number),
        small("e", number, number, id=number, ts=2),
    ]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": events}))
    assert round_trip(program, trace, tmp_path)


@pytest.mark.parametrize("late", [1, 2])
def test_tracks_keep_the_order_in_which_the_file_names_them(
    late: int, program: Program, tmp_path: Path
) -> None:
    events = [
        small("X", 1, 1, dur=2),
        label("process_name", 8, 0),
        label("thread_name", 5, 0),
        small("X", 9, 0, dur=2),
        *[label("thread_name", 1, 1)] * late,
        small("X", 5, 0, dur=2),
    ]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": events}))
    assert round_trip(program, trace, tmp_path)


@pytest.mark.parametrize("share", range(SHARES))
def test_damaged_files_come_back(share: int, program: Program, tmp_path: Path) -> None:
    origins = samples()
    trace = tmp_path / "trace.json"
    for seed in range(share, MUTANTS, SHARES):
        trace.write_bytes(mutant(seed, origins).data)
        try:
            round_trip(program, trace, tmp_path)
        except (AssertionError, ValueError, pytest.fail.Exception) as error:
            pytest.fail(f"mutant {seed}: {error}", pytrace=False)


def test_what_columns_do_not_hold_is_kept(program: Program, tmp_path: Path) -> None:
    event = {
        "ph": "X",
        "cat": "cpu_op",
        "name": "aten::mm",
        "pid": 1,
        "tid": 2,
        "ts": 1.5,
        "dur": 2,
        "cname": "good",
        "args": {"Input Dims": [[2, 3], []], "note": "a \u00e9 \U0001f600 \\", "big": 2**70},
    }
    header = {"schemaVersion": 1, "mine": {"deep": [1, {"x": None}]}, "traceEvents": [event]}
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps(header))
    written = json.loads(round_trip(program, trace, tmp_path))
    assert written == header


def test_what_columns_hold_is_kept_where_the_text_is_beyond_repair(
    program: Program, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(
        '{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":5,'
        '"args":{"Input Dims":[[8,4],[]],"Input Strides":[[64: inf, 1], []],"flops":16384,'
        '"Call stack":"a.py(1): f","Module Hierarchy":"Net.fc"}},'
        '{"ph":"X","cat":"python_function","name":"nn.Module: Net_0","pid":1,"tid":1,"ts":8,'
        '"dur":9,"args":{"Python module id":3,"x":[1: 2]}}]}'
    )
    written = json.loads(round_trip(program, trace, tmp_path))
    args = {key: value for event in written["traceEvents"] for key, value in event["args"].items()}
    assert args["flops"] == 16384
    assert (args["Call stack"], args["Module Hierarchy"]) == ("a.py(1): f", "Net.fc")
    assert args["Python module id"] == 3


def test_bare_words_for_stacks_are_none(program: Program, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(
        '{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":5,'
        '"args":{"Call stack":NaN,"Module Hierarchy":N/A}}]}'
    )
    round_trip(program, trace, tmp_path)


def test_piped_input_keeps_its_arguments(program: Program) -> None:
    event = {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"mine": [1]}}
    piped = json.dumps([event]).encode()
    outcome = program.run("export", "-", "--to", "chrome", stdin=piped)
    assert outcome.exit_status == 0, outcome.stderr.decode()
    assert json.loads(outcome.stdout)[0]["args"] == {"mine": [1]}


def test_joined_pairs_become_complete_events(program: Program, tmp_path: Path) -> None:
    def event(ph: str, ts: float, **more: Any) -> dict[str, Any]:
        return {"ph": ph, "name": "f", "cat": "c", "pid": 1, "tid": 1, "ts": ts, **more}

    trace = tmp_path / "trace.json"
    trace.write_text(
        json.dumps(
            [
                event("B", 1, args={"x": 1}),
                event("b", 2, id=7),
                event("e", 3, id=7),
                event("E", 9),
                event("B", 10),
                event("X", 11, dur=-3),
            ]
        )
    )
    written = json.loads(round_trip(program, trace, tmp_path))
    kept = [e for e in written if e["ph"] != "M"]
    assert [(e["ph"], e["ts"], e.get("dur"), e.get("id")) for e in kept] == [
        ("X", 1, 8, None),
        ("b", 2, None, 7),
        ("e", 3, None, 7),
        ("B", 10, None, None),
        ("X", 11, -3, None),
    ]
    assert kept[0]["args"] == {"x": 1}
    assert len(written) == 6  # the gap that the E left is filled, so nothing moved


def test_a_recording_is_refused_with_where_it_can_go(program: Program, tmp_path: Path) -> None:
    run = ROOT / "examples" / "data" / "run"
    outcome = program.run("export", run, "--to", "chrome", "-o", tmp_path / "out")
    assert outcome.exit_status == 2
    assert b"perfetto and jsonl can hold it" in outcome.stderr
    assert not list(tmp_path.rglob("*.json"))
