"""Options given by mistake: nothing is lost, nothing hangs, and a message says what is wrong."""

import shutil
from pathlib import Path

import pytest
from program import ROOT, Program

SAMPLES = ROOT / "examples/data"
TRACE = SAMPLES / "gpt_bf16.json.gz"


@pytest.mark.parametrize(
    "words",
    [
        ["check", "v.json.gz", "--write-baseline", "v.json.gz"],
        ["check", "v.json.gz", "--baseline", TRACE, "--junit", "v.json.gz"],
        ["check", "v.json.gz", "--baseline", TRACE, "--summary", "./v.json.gz"],
        ["check", TRACE, "--baseline", "v.json.gz", "--write-baseline", "v.json.gz"],
        ["sweep", "dataloader", "loader.py:make", "--html", "v.json.gz"],
        ["report", "v.json.gz", "--html", "v.json.gz"],
        ["report", "v.json.gz", "--csv", "v.json.gz"],
        ["analyze", "kernels", "v.json.gz", "-o", "v.json.gz"],
    ],
    ids=lambda words: " ".join(map(str, words[:1] + words[-2:-1])),
)
def test_what_is_read_is_never_written_over(
    program: Program, tmp_path: Path, words: list[str | Path]
) -> None:
    trace = tmp_path / "v.json.gz"
    shutil.copy(TRACE, trace)
    outcome = program.run(*words, cwd=tmp_path)
    assert outcome.exit_status == 2, outcome.stderr
    assert b"v.json.gz: " in outcome.stderr
    assert trace.read_bytes() == TRACE.read_bytes()


def test_a_baseline_in_the_folder_of_a_run(program: Program, tmp_path: Path) -> None:
    shutil.copy(TRACE, tmp_path / "rank0.json.gz")
    for option in ("--write-baseline", "--junit", "--summary"):
        words: list[str | Path] = ["--baseline", TRACE] if option != "--write-baseline" else []
        over = program.run("check", tmp_path, *words, option, tmp_path / "rank0.json.gz")
        assert over.exit_status == 2
        assert (tmp_path / "rank0.json.gz").read_bytes() == TRACE.read_bytes()
    for _ in range(2):
        written = program.run("check", tmp_path, "--write-baseline", tmp_path / "baseline.json")
        assert written.exit_status == 0, written.stderr
    both = ("--write-baseline", tmp_path / "baseline.json", "--junit", tmp_path / "rank0.json.gz")
    assert program.run("check", tmp_path, *both).exit_status == 2
    assert (tmp_path / "rank0.json.gz").read_bytes() == TRACE.read_bytes()


def test_peaks_are_not_written_over(program: Program, tmp_path: Path) -> None:
    peaks = tmp_path / "p.yaml"
    said = "devices:\n- {match: H200, gb_per_second: 4800}\n"
    peaks.write_text(said)
    outcome = program.run("analyze", "kernels", TRACE, "--peaks", peaks, "-o", peaks)
    assert outcome.exit_status == 2
    assert b"this is what is being read" in outcome.stderr
    assert peaks.read_text() == said


def test_an_export_into_the_folder_that_is_read(program: Program, tmp_path: Path) -> None:
    assert program.run("export", "--to", "chrome", "-o", tmp_path, TRACE).exit_status == 0
    file = tmp_path / "rank00000_window0.json"
    written = file.stat()
    for path in (tmp_path, file):
        again = program.run("export", "--to", "chrome", "--redact", "-o", tmp_path, path)
        assert again.exit_status == 2
        assert b"this is what is being read; name another file to write" in again.stderr
    assert file.stat().st_mtime_ns == written.st_mtime_ns


@pytest.mark.parametrize("form", ["chrome", "perfetto", "jsonl"])
def test_nothing_to_export(program: Program, tmp_path: Path, form: str) -> None:
    out = tmp_path / "out"
    outcome = program.run("export", "--to", form, "-o", out, SAMPLES / "snap_oracle.pickle.gz")
    assert outcome.exit_status == 3
    assert outcome.stderr.startswith(b"stepscope: nothing to export: ")
    assert not out.exists()


@pytest.mark.parametrize("option", ["--step", "--rank"])
def test_the_largest_number_there_is(program: Program, option: str) -> None:
    for text in ("9223372036854775807", "9223372036854775806-9223372036854775807"):
        outcome = program.run("report", option, text, TRACE)
        assert outcome.exit_status == 2
        assert outcome.stderr.startswith(b"stepscope: ")


@pytest.mark.parametrize(
    "words",
    [
        ["serve", "--socket", ""],
        ["export", "--to", "chrome", "--redact-key="],
        ["export", "--to", "chrome", "-o", ""],
        ["report", "--html", ""],
        ["info", "--steps", ""],
    ],
    ids=lambda words: " ".join(words),
)
def test_a_value_that_is_empty(program: Program, words: list[str]) -> None:
    outcome = program.run(*words, TRACE)
    assert outcome.exit_status == 2
    assert b" is empty; expected " in outcome.stderr.splitlines()[0]
    assert outcome.stdout == b""


def test_a_variable_of_serve_is_none_of_doctor(program: Program, tmp_path: Path) -> None:
    words = ("doctor", "--json", "--python", "/bin/false")
    plain = program.run(*words)
    other = program.run(*words, env={"STEPSCOPE_ROOT": str(tmp_path)})
    assert plain.stdout.count(b'"unknown"') == other.stdout.count(b'"unknown"')


@pytest.mark.parametrize(
    ("name", "words", "what"),
    [
        ("x.pft", ["export", "--to", "perfetto"], b"a trace in Perfetto's own format"),
        ("x.jsonl", ["export", "--to", "jsonl"], b"written by `stepscope export --to jsonl`"),
        ("x.json", ["report", "--json"], b"an answer of stepscope (stepscope.report)"),
    ],
)
def test_what_stepscope_wrote_is_named(
    program: Program, tmp_path: Path, name: str, words: list[str], what: bytes
) -> None:
    file = tmp_path / name
    file.write_bytes(program.run(*words, TRACE).stdout)
    outcome = program.run("info", file)
    assert outcome.exit_status == 3
    assert outcome.stderr.startswith(b"stepscope: %s: %s" % (bytes(file), what))


def test_a_part_of_a_recording(program: Program) -> None:
    outcome = program.run("info", SAMPLES / "run/attempt-1/rank00000/rank.json")
    assert outcome.exit_status == 3
    assert b"a part of a recording (stepscope.rank): give the folder" in outcome.stderr
