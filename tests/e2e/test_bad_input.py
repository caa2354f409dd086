"""Input that is no trace, or no longer one: a clear error, exit status 3, bounded memory."""

import gzip
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from program import Program

MEBIBYTE = 1 << 20
# A tiny file costs the program itself and its buffers; sanitizers would cost far more.
FEW = 128 * MEBIBYTE
# What a file that is all one event may cost beside that: the longest event, held twice.
SOME = 512 * MEBIBYTE

EVENT = b'{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2,"args":{"x":%s}}'
SNAPSHOT = b'{"segments":[{"address":1,"blocks":[]}],"device_traces":[[{"action":"alloc"}]]}'
DEEP = 100_000

NO_TRACE = {
    "empty": b"",
    "white space": b" \n\t\r\n",
    "not JSON": b"step,loss\n1,0.5\n",
    "a word": b"traceEvents",
    "another object": b'{"a": 1}',
    "a list of numbers": b"[1, 2, 3]",
    "a list of lists": b"[[1, 2], [3, 4]]",
    "a list of texts": b'["a", "b"]',
    "objects that are no events": b'[{"a": 1}, {"b": 2}]',
    "a number": b"42",
    "a string": b'"traceEvents"',
    "events that are no list": b'{"traceEvents": 5}',
    "a memory snapshot": SNAPSHOT,
    "a pickle of something else": pickle.dumps({"weights": [1, 2, 3]}),
    "an ELF program": b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40,
    "rubbish": bytes((i * 7919 + i // 256 * 31) % 256 for i in range(100_000)),
    "zeros": bytes(100_000),
    "gzip of nothing": gzip.compress(b""),
    "a gzip header alone": gzip.compress(b"x" * 100)[:10],
    "gzip of rubbish": gzip.compress(b"\x00\x01\x02" * 5000),
    "half a zstd header": b"\x28\xb5\x2f\xfd\x04",
    "zstd of what is none": b"\x28\xb5\x2f\xfd" + b"\xff" * 64,
    "cut in the header": b'{"schemaVersion": 1, "deviceProp',
    "unclosed brackets": b"[" * DEEP,
    "unclosed braces": b'{"a":' * DEEP,
    "a nest of lists": b"[" * DEEP + b"]" * DEEP,
}
# Deep in a place that is not looked into: the events beside it are read.
NESTS = {
    "lists in args": b"[" + EVENT % (b"[" * DEEP + b"]" * DEEP) + b"]",
    "objects in args": b"[" + EVENT % (b'{"a":' * DEEP + b"1" + b"}" * DEEP) + b"]",
    "lists in metadata": b'{"user":%s,"traceEvents":[%s]}'
    % (b"[" * DEEP + b"]" * DEEP, EVENT % b"1"),
    "lists in a key we read": b'{"distributedInfo":{"backend":%s,"rank":0},"traceEvents":[%s]}'
    % (b"[" * DEEP + b"]" * DEEP, EVENT % b"1"),
    "lists in deviceProperties": b'{"deviceProperties":[{"name":%s}],"traceEvents":[%s]}'
    % (b"[" * DEEP + b"]" * DEEP, EVENT % b"1"),
    "objects after the events": b'{"traceEvents":[%s],"user":%s}'
    % (EVENT % b"1", b'{"a":' * DEEP + b"1" + b"}" * DEEP),
}
# Nothing closes: what came before is kept, or nothing came before.
UNCLOSED_NESTS = {
    "lists in args": b"[" + EVENT % b"1" + b',{"ph":"X","ts":1,"args":{"x":' + b"[" * DEEP,
    "lists in metadata": b'{"user":' + b"[" * DEEP,
}


@dataclass(frozen=True)
class Ended:
    """How a measured command ended."""

    exit_status: int
    stdout: bytes
    stderr: str
    peak_bytes: int
    seconds: float


# The kernel counts the memory of the process that starts a program into the program's peak, and the
# tests' own process holds whole traces. So a small one stands between.
MEASURE = """
import os, resource, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
open(sys.argv[1], "w").write(f"{status} {peak}")
"""


def run(program: Program, *arguments: str | Path, stdin: int | None = None) -> Ended:
    """Runs a command and measures the peak memory of its process alone."""
    settings = {k: v for k, v in os.environ.items() if not k.startswith("STEPSCOPE_")}
    began = time.monotonic()
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        tempfile.NamedTemporaryFile("r") as measured,
    ):
        process = subprocess.Popen(
            [sys.executable, "-ISc", MEASURE, measured.name, program.path, *arguments],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=out,
            stderr=err,
            env={**settings, "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )
        watchdog = threading.Timer(120, os.killpg, (process.pid, signal.SIGKILL))
        watchdog.start()
        process.wait()
        watchdog.cancel()
        seconds = time.monotonic() - began
        out.seek(0)
        err.seek(0)
        status, peak = measured.read().split() or (str(process.returncode), "0")
        return Ended(
            int(status), out.read(), err.read().decode(errors="replace"), int(peak), seconds
        )


def is_sanitized(program: Program) -> bool:
    return b"__asan_init" in program.path.read_bytes()


def check_memory(program: Program, ended: Ended, most: int) -> None:
    if not is_sanitized(program):
        assert ended.peak_bytes < most, f"{ended.peak_bytes // MEBIBYTE} MiB"


def check_refused(program: Program, ended: Ended, name: str, most: int = FEW) -> None:
    """Exit status 3, nothing on stdout, and one error that names the file."""
    assert ended.exit_status == 3, ended
    assert ended.stdout == b""
    assert name in ended.stderr, ended.stderr
    assert len(ended.stderr) < 2000, ended.stderr[:2000]
    check_memory(program, ended, most)


def written(folder: Path, data: bytes, name: str = "trace.json") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("what", NO_TRACE)
@pytest.mark.parametrize("command", ["info", "export"])
def test_what_is_no_trace_is_refused(
    what: str, command: str, program: Program, tmp_path: Path
) -> None:
    path = written(tmp_path, NO_TRACE[what])
    arguments = [command, *(["--to", "jsonl"] if command == "export" else [])]
    ended = run(program, *arguments, path)
    check_refused(program, ended, "trace.json")
    wanted = ("expected", "not a trace", "no memory snapshot")
    assert any(words in ended.stderr for words in wanted), ended.stderr


@pytest.mark.parametrize("what", NESTS)
def test_nests_are_passed_over(what: str, program: Program, tmp_path: Path) -> None:
    ended = run(program, "export", "--to", "jsonl", written(tmp_path, NESTS[what]))
    assert ended.exit_status == 0, ended.stderr
    assert ended.stdout.count(b'"ph":"span"') == 1
    check_memory(program, ended, FEW)


@pytest.mark.parametrize("what", UNCLOSED_NESTS)
def test_unclosed_nests_cost_only_themselves(what: str, program: Program, tmp_path: Path) -> None:
    ended = run(program, "export", "--to", "jsonl", written(tmp_path, UNCLOSED_NESTS[what]))
    assert ended.exit_status in (3, 4), ended.stderr
    assert ended.stdout.count(b'"ph":"span"') == (1 if "args" in what else 0)
    check_memory(program, ended, FEW)


def test_a_file_that_is_not_there(program: Program, tmp_path: Path) -> None:
    ended = run(program, "info", tmp_path / "none.json")
    check_refused(program, ended, "none.json")
    assert "No such file" in ended.stderr


def test_a_folder_without_traces(program: Program, tmp_path: Path) -> None:
    written(tmp_path, b"hello", "notes.txt")
    ended = run(program, "info", tmp_path)
    check_refused(program, ended, tmp_path.name)


def test_a_folder_of_other_json(program: Program, tmp_path: Path) -> None:
    written(tmp_path, b'{"lr": 0.1}', "config.json")
    ended = run(program, "info", tmp_path)
    check_refused(program, ended, tmp_path.name)


def test_other_json_beside_traces_is_left_out(program: Program, tmp_path: Path) -> None:
    written(tmp_path, b'{"lr": 0.1}', "config.json")
    written(tmp_path, b"[" + EVENT % b"1" + b"]", "rank0.json")
    ended = run(program, "export", "--to", "jsonl", tmp_path)
    assert ended.exit_status == 0, ended.stderr
    assert ended.stdout.count(b"\n") == 2


def test_no_permission(program: Program, tmp_path: Path, unprivileged: list[str]) -> None:
    path = written(tmp_path, b"[" + EVENT % b"1" + b"]")
    path.chmod(0)
    done = subprocess.run(
        [*unprivileged, program.path, "info", path], capture_output=True, check=False
    )
    assert done.returncode == 3
    assert b"trace.json: Permission denied" in done.stderr


def test_a_folder_that_cannot_be_read_as_a_file(program: Program, tmp_path: Path) -> None:
    (tmp_path / "trace.json").mkdir()
    ended = run(program, "info", tmp_path / "trace.json")
    check_refused(program, ended, "trace.json")


def gzip_bomb(path: Path, unit: bytes, total: int, before: bytes = b"", after: bytes = b"") -> Path:
    """A small file of much text, of members that repeat: compressing it all would take long."""
    piece = unit * (16 * MEBIBYTE // len(unit))
    member = gzip.compress(piece, compresslevel=6, mtime=0)
    with path.open("wb") as file:
        file.write(gzip.compress(before, mtime=0))
        for _ in range(total // len(piece)):
            file.write(member)
        file.write(gzip.compress(after, mtime=0))
    return path


def test_a_gigabyte_of_white_space(program: Program, tmp_path: Path) -> None:
    path = gzip_bomb(tmp_path / "trace.json.gz", b" ", 1 << 30)
    ended = run(program, "info", path)
    check_refused(program, ended, "trace.json.gz", most=SOME)


def test_a_gigabyte_of_white_space_between_events(program: Program, tmp_path: Path) -> None:
    one = EVENT % b"1"
    path = gzip_bomb(tmp_path / "trace.json.gz", b" ", 1 << 30, b"[" + one + b",", one + b"]")
    ended = run(program, "export", "--to", "jsonl", path)
    assert ended.exit_status == 4
    assert "endless_event (1)" in ended.stderr
    assert ended.stdout.count(b'"ordinal"') == 1
    check_memory(program, ended, SOME)


def test_zeros_after_events(program: Program, tmp_path: Path) -> None:
    """As a machine leaves them that crashed: what was written before is kept."""
    path = tmp_path / "trace.json"
    with path.open("wb") as file:
        file.write(b"[" + b",".join(EVENT % (b"%d" % i) for i in range(3000)) + b",")
        file.truncate(100 << 20)
    ended = run(program, "export", "--to", "jsonl", path)
    assert ended.exit_status == 4
    assert ended.stdout.count(b'"ordinal"') == 3000
    notes = json.loads(program.run("info", "--json", path).stdout)["notes"]
    assert "endless_event" in {note["id"] for note in notes}


def test_an_event_that_is_larger_than_any(program: Program, tmp_path: Path) -> None:
    """The file is whole: what is said of it must not be that it was cut."""
    path = tmp_path / "trace.json"
    large = b'{"ph":"X","name":"big","ts":5,"dur":1,"args":{"x":"' + b"y" * (65 << 20) + b'"}}'
    path.write_bytes(b'{"traceEvents":[' + b",".join([EVENT % b"1", large, EVENT % b"9"]) + b"]}")
    ended = run(program, "info", "--json", path)
    notes = json.loads(ended.stdout)["notes"]
    assert ended.exit_status == 4
    assert [note["id"] for note in notes if note["severity"] == "data_loss"] == ["endless_event"]
    assert "cut" not in program.run("info", path).stdout.decode()
    report = program.run("report", path).stdout.decode()
    assert "trace.json was read up to an event of more than 64 MiB." in report


def test_a_huge_value_after_the_events(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    head = b'{"traceEvents":[' + EVENT % b"1" + b'],"user":["'
    tail = b'",{"rank":1}],"distributedInfo":{"rank":6,"world_size":8}}'
    path.write_bytes(head + b"x" * (70 << 20) + tail)
    ended = run(program, "info", "--json", path)
    about = json.loads(ended.stdout)
    assert (ended.exit_status, about["windows"][0]["rank"]) == (0, 6)
    assert "metadata_too_large" in {note["id"] for note in about["notes"]}


def test_header_values_of_megabytes_are_kept(program: Program, tmp_path: Path) -> None:
    """A large job names its groups; unknown values are kept up to 64 MiB in all."""
    groups = ",".join(f'{{"pg_name":"{n}","ranks":{list(range(2000))}}}' for n in range(700))
    about_ranks = f'{{"rank":6,"world_size":2000,"pg_config":[{groups}]}}'
    assert len(about_ranks) > 4 << 20
    unknown = [f'"user{n}":"' + "x" * (30 << 20) + '"' for n in range(3)]
    path, copy = tmp_path / "trace.json", tmp_path / "copy.json"
    path.write_text(
        f'{{"distributedInfo":{about_ranks},{",".join(unknown)},'
        f'"traceEvents":[{(EVENT % b"1").decode()}]}}'
    )
    about = json.loads(run(program, "info", "--json", path).stdout)
    assert about["windows"][0]["rank"] == 6
    notes = {note["id"]: note["count"] for note in about["notes"]}
    assert notes == {"metadata_too_large": 1, "without_base_time": 1}
    run(program, "export", "--to", "chrome", path, "-o", copy)
    exported = json.loads(copy.read_bytes())
    assert exported["distributedInfo"] == json.loads(about_ranks)
    assert {key for key in exported if key.startswith("user")} == {"user0", "user1"}


def test_empty_objects_without_end(program: Program, tmp_path: Path) -> None:
    path = gzip_bomb(tmp_path / "trace.json.gz", b"{},", 1 << 28, b"[", b"{}]")
    ended = run(program, "info", path)
    check_refused(program, ended, "trace.json.gz", most=SOME)


def test_a_gigabyte_of_brackets(program: Program, tmp_path: Path) -> None:
    path = gzip_bomb(tmp_path / "trace.json.gz", b"[", 1 << 30)
    ended = run(program, "info", path)
    check_refused(program, ended, "trace.json.gz", most=SOME)


def test_events_beyond_the_memory_allowed(program: Program, tmp_path: Path) -> None:
    path = gzip_bomb(tmp_path / "trace.json.gz", EVENT % b"1" + b",", 1 << 28, b"[", b"{}]")
    ended = run(program, "info", "--max-memory", "64M", path)
    check_refused(program, ended, "trace.json.gz", most=SOME)
    assert "--max-memory" in ended.stderr


GENERATOR = """
import sys
out = sys.stdout.buffer
piece = sys.argv[2].encode() * (1 << 20)
try:
    out.write(sys.argv[1].encode())
    for _ in range(int(sys.argv[3]) // len(piece)):
        out.write(piece)
except BrokenPipeError:
    sys.stderr.close()
"""


def piped(program: Program, before: str, unit: str, total: int) -> Ended:
    """Feeds text through a pipe that would be too large for any disk here."""
    generator = subprocess.Popen(
        [sys.executable, "-c", GENERATOR, before, unit, str(total)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert generator.stdout is not None
    try:
        return run(program, "info", "-", stdin=generator.stdout.fileno())
    finally:
        generator.stdout.close()
        generator.kill()
        generator.wait()


FIVE_GIGABYTES = 5 * 10**9


@pytest.mark.parametrize(
    "before",
    [
        '[{"ph":"X","name":"',
        '[{"ph":"X","ts":1,"args":{"x":"',
        '{"traceEvents":[{"',
        '{"user":"',
        '{"',
        '[{"ph":"X","ts":',
    ],
)
def test_a_single_string_of_five_gigabytes(before: str, program: Program) -> None:
    unit = "1" if before.endswith(":") else "x"
    ended = piped(program, before, unit, FIVE_GIGABYTES)
    check_refused(program, ended, "standard input", most=SOME)
    assert ended.seconds < 30  # long before the end of it
    assert "expected" in ended.stderr


def growing_trace(path: Path, events: int) -> None:
    with path.open("wb") as file:
        file.write(b"[")
        for _ in range(events // 1000):
            file.write((EVENT % b"1" + b",\n") * 1000)
        file.write(EVENT % b"1" + b"]")


def changing(path: Path, change: Iterator[None]) -> threading.Thread:
    """Changes a file while it is read, until there is nothing left to change."""

    def work() -> None:
        for _ in change:
            time.sleep(0.002)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_file_that_shrinks_while_it_is_read(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    growing_trace(path, 600_000)

    def shrink() -> Iterator[None]:
        size = path.stat().st_size
        for step in range(1, 40):
            os.truncate(path, size * (40 - step) // 40)
            yield

    thread = changing(path, shrink())
    ended = run(program, "info", path)
    thread.join()
    assert ended.exit_status in (0, 3, 4), ended.stderr
    if ended.exit_status != 0:
        assert "trace.json" in ended.stdout.decode() + ended.stderr


def test_a_file_that_grows_while_it_is_read(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with path.open("wb") as file:
        file.write(b"[\n" + (EVENT % b"1" + b",\n") * 300_000)

    def grow() -> Iterator[None]:
        with path.open("ab", buffering=0) as file:
            for _ in range(40):
                file.write((EVENT % b"1" + b",\n") * 100)
                yield

    thread = changing(path, grow())
    ended = run(program, "info", path)
    thread.join()
    assert ended.exit_status in (0, 3, 4), ended.stderr
    if ended.exit_status == 3:
        assert "trace.json" in ended.stderr


def test_errors_do_not_depend_on_how_much_memory_there_is(program: Program, tmp_path: Path) -> None:
    path = written(tmp_path, b"[" + EVENT % b"1" + b"]")
    limit = 2 << 30  # of address space: a small file must not reserve more

    def restrict() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    if is_sanitized(program):
        pytest.skip("sanitizers reserve terabytes")
    done = subprocess.run(
        [program.path, "info", path], capture_output=True, preexec_fn=restrict, check=False
    )
    assert done.returncode == 0, done.stderr
