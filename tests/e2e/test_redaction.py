"""`export --redact`: no secret is left in any format, and nothing else changes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from program import ROOT, Program

SECRETS = [b"alice", b"node17", b"cluster", b"secretlab", b"bob", b"skunk"]
KEY = ("--redact-key", "a passphrase")
SMALL_FILE = 250_000


def real_traces() -> list[Path]:
    folders = [ROOT / "examples" / "data"]
    if corpus := os.environ.get("STEPSCOPE_CORPUS"):
        folders.append(Path(corpus))
    paths = sorted(path for folder in folders for path in folder.rglob("*.json.gz"))
    return [path for path in paths if path.stat().st_size <= SMALL_FILE]


def event(ts: float, name: str, category: str = "cpu_op", **more: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "cat": category, "pid": 1, "tid": 1, "ts": ts, "dur": 1} | more


def secret_trace(folder: Path) -> Path:
    """A trace that gives away user, program and place, in every place it can."""
    stack = "secretlab/model.py(7): forward;/srv/alice/train.py(12): <module>"
    events = [
        event(0, "ProfilerStep#3", "user_annotation", dur=90),
        event(1, "/srv/alice/secretlab/train.py(12): step", "python_function"),
        event(2, "aten::mm", args={"Call stack": stack, "kernel_file": "/tmp/bob/k.py"}),
        event(3, "load data/skunk/shard0", args={"who": ["alice", {"host": "node17"}]}),
        event(4, "on node17", args={"skunk.projects.Model": 1, "url": "tcp://node17:29500"}),
        {
            "ph": "C",
            "name": "disk /mnt/skunk",
            "pid": "/srv/bob",
            "tid": 1,
            "ts": 5,
            "args": {"a": 1},
        },
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "x alice"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "bob (main)"}},
    ]
    header = {
        "schemaVersion": 1,
        "host_name": "node17.cluster.example.org",
        "username": "bob",
        "traceName": "/scratch/alice/node17_42.1700000000.pt.trace.json",
        "INFO": ["alice started it"],
        "PT_PROFILER_DIR": "/scratch/alice",
        "env": {"USER": "alice", "argv": ["python", "/srv/alice/train.py", "--user=bob"]},
        "homes": "C:\\Users\\alice\\x and /mnt/Users/bob/x",
        "traceEvents": events,
    }
    path = folder / "trace.json"
    path.write_text(json.dumps(header))
    return path


def export(program: Program, path: Path, to: str, *more: str) -> bytes:
    outcome = program.run("export", path, "--to", to, *more, timeout=300)
    assert outcome.exit_status in (0, 4), outcome.stderr.decode()
    return outcome.stdout


@pytest.mark.parametrize("to", ["chrome", "perfetto", "jsonl"])
def test_no_secret_is_left(to: str, program: Program, tmp_path: Path) -> None:
    trace = secret_trace(tmp_path)
    plain = export(program, trace, to)
    redacted = export(program, trace, to, "--redact")
    assert b"alice" in plain
    assert [secret for secret in SECRETS if secret in redacted] == []
    assert b"ProfilerStep#3" in redacted
    assert b".py(12): step" in redacted


def test_a_key_gives_the_same_hashes_and_no_key_does_not(program: Program, tmp_path: Path) -> None:
    trace = secret_trace(tmp_path)
    assert export(program, trace, "jsonl", *KEY) == export(program, trace, "jsonl", *KEY)
    assert export(program, trace, "jsonl", "--redact") != export(
        program, trace, "jsonl", "--redact"
    )


def check_formats_agree(program: Program, trace: Path, folder: Path) -> None:
    again = folder / "again"
    again.mkdir()
    (again / "trace.json").write_bytes(export(program, trace, "chrome", *KEY))
    read_back = export(program, again / "trace.json", "jsonl")
    assert read_back == export(program, trace, "jsonl", *KEY)


def test_chrome_and_jsonl_hide_the_same(program: Program, tmp_path: Path) -> None:
    check_formats_agree(program, secret_trace(tmp_path), tmp_path)


@pytest.mark.parametrize("path", real_traces(), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_real_traces_keep_their_structure(path: Path, program: Program, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json.gz"
    trace.symlink_to(path)
    check_formats_agree(program, trace, tmp_path)
    plain = [json.loads(line) for line in export(program, trace, "jsonl").split(b"\n") if line]
    hidden = [
        json.loads(line) for line in export(program, trace, "jsonl", *KEY).split(b"\n") if line
    ]
    texts = {"name", "pid", "tid", "collective", "cat", "counters", "sync", "header"}
    for before, after in zip(plain, hidden, strict=True):
        assert {k: v for k, v in before.items() if k not in texts} == {
            k: v for k, v in after.items() if k not in texts
        }
