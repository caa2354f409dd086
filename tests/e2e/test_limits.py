"""Limits that the system sets, and files that are no traces: one line that says what it is."""

import gzip
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from program import Program

EVENT = (
    '{"ph":"X","cat":"cpu_op","name":"aten::add_%d","pid":1,"tid":%d,"ts":%d,"dur":5,'
    '"args":{"External id":%d}}'
)


def write_trace(path: Path, events: int) -> Path:
    body = ",\n".join(EVENT % (i % 1000, i % 7, i, i) for i in range(events))
    path.write_text('{"traceEvents":[' + body + "]}")
    return path


def below(what: int, limit: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(what, (limit, limit))


@pytest.mark.parametrize("jobs", ["1", "4"])
def test_memory_that_runs_out_is_one_line(program: Program, tmp_path: Path, jobs: str) -> None:
    trace = write_trace(tmp_path / "large.json", 1_500_000)
    done = subprocess.run(
        [
            program.path,
            "export",
            trace,
            *("--to", "jsonl", "-o", tmp_path / "out.jsonl"),
            *("-j", jobs, "--max-memory", "100G"),
        ],
        capture_output=True,
        preexec_fn=below(resource.RLIMIT_AS, {"1": 150_000_000, "4": 250_000_000}[jobs]),
    )
    words = done.stderr.decode()
    assert done.returncode == 3, words
    assert words.startswith("stepscope: out of memory: "), words
    assert words.count("\n") == 1
    assert "ulimit -v" in words
    assert "--max-memory" in words
    assert [path.name for path in tmp_path.iterdir()] == ["large.json"]


def test_the_default_of_max_memory_knows_the_limit_of_the_process(
    program: Program, tmp_path: Path
) -> None:
    trace = write_trace(tmp_path / "large.json", 1_500_000)
    done = subprocess.run(
        [program.path, "info", trace, "-j", "1"],
        capture_output=True,
        preexec_fn=below(resource.RLIMIT_AS, 150_000_000),
    )
    assert done.returncode == 3
    assert b"--max-memory" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_file_that_may_not_grow_is_an_error(program: Program, tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "trace.json", 1000)
    out = tmp_path / "out.json"
    done = subprocess.run(
        [program.path, "export", trace, "--to", "chrome", "-o", out],
        capture_output=True,
        preexec_fn=below(resource.RLIMIT_FSIZE, 10 * 1024),
    )
    assert done.returncode == 3
    assert done.stderr.decode() == f"stepscope: {out}: File too large\n"
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["info", "--help"], ["help"]])
def test_help_and_version_notice_a_full_device(program: Program, words: list[str]) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run([program.path, *words], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 3
    assert done.stderr == b"stepscope: standard output: No space left on device\n"


def said(program: Program, path: Path, content: bytes) -> str:
    path.write_bytes(content)
    outcome = program.run("info", path)
    assert (outcome.exit_status, outcome.stdout) == (3, b"")
    return outcome.stderr.decode().removeprefix(f"stepscope: {path}:").strip()


def test_what_is_not_empty_is_not_called_so(program: Program, tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "trace.json", 500).read_bytes()
    packed = gzip.compress(trace)
    path = tmp_path / "other.json"
    assert said(program, path, b"") == "empty; expected a trace in JSON"
    assert said(program, path, bytes(70)).startswith("zero bytes from byte 0 to 70")
    assert said(program, path, b" \n" + bytes(5)).startswith("zero bytes from byte 2 to 7")
    assert said(program, path, b" \n ").startswith("only blanks in its first 3 bytes")
    assert said(program, path, gzip.compress(b"")).startswith("gzip of nothing")
    for size in (5, 15):
        words = said(program, path, packed[:size])
        assert words.startswith("nothing can be uncompressed: gzip stream ends in the middle of")
        assert f"(byte {0 if size == 5 else size} of the file)" in words
    assert "gzip data is corrupt" in said(program, path, packed[:10] + b"\xff" * 60)
    assert "zstd" in said(program, path, b"\x28\xb5\x2f\xfd" + b"\xff" * 60)
    zeros = program.run("info", "/dev/zero")
    assert zeros.exit_status == 3
    assert zeros.stderr.startswith(b"stepscope: /dev/zero: zero bytes from byte 0 to ")


def test_other_files_are_named(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    assert said(program, path, b"PK\x03\x04" + bytes(30)).startswith("a zip archive")
    twice = gzip.compress(gzip.compress(b'{"traceEvents":[]}'))
    assert said(program, path, twice).startswith("compressed twice, gzip inside")
    assert said(program, path, '{"traceEvents":[]}'.encode("utf-16")).startswith("UTF-16 text")


def test_an_empty_path_is_wrong_usage(program: Program) -> None:
    outcome = program.run("info", "")
    assert outcome.exit_status == 2
    assert outcome.stderr.startswith(b"stepscope: a PATH is empty")
