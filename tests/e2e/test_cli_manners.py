"""How the program behaves on a command line: exit statuses, streams, pipes, signals."""

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from program import ROOT, Program

EVENT = '{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":%d,"dur":5}'
KERNEL = (
    '{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":%d,"dur":3,"args":{"stream":7}}'
)
HEADER = '{"schemaVersion":1,"deviceProperties":[],"traceEvents":['
TRACE = HEADER + EVENT % 1 + "," + KERNEL % 2 + "]}"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    path.write_text(TRACE)
    return path


def test_version(program: Program) -> None:
    for flag in ("--version", "-V", "version"):
        outcome = program.run(flag)
        assert outcome.exit_status == 0
        assert re.fullmatch(rb"stepscope \d+\.\d+\.\d+\n", outcome.stdout)


def test_help_goes_to_stdout_and_is_the_same_everywhere(program: Program) -> None:
    for command in ("info", "export", "completion", "help"):
        helped = program.run("help", command)
        assert helped.exit_status == 0
        assert helped.stderr == b""
        assert helped.stdout == program.run(command, "--help").stdout
        assert helped.stdout == program.run(command, "-h").stdout
        for part in (b"usage: stepscope ", b"general options", b"examples", b"exit status: 0 done"):
            assert part in helped.stdout
        assert all(len(line) <= 100 for line in helped.stdout.decode().splitlines())
        assert command.encode() in program.run("help").stdout
    assert program.run("--help").stdout == program.run("help").stdout


def test_no_command_is_wrong_usage(program: Program) -> None:
    outcome = program.run()
    assert (outcome.exit_status, outcome.stdout) == (2, b"")
    assert outcome.stderr.startswith(b"stepscope: no command given\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["inof"], "there is no command 'inof'; did you mean 'info'?"),
        (["frobnicate"], "there is no command 'frobnicate'"),
        (["help", "inof"], "there is no command 'inof'; did you mean 'info'?"),
        (["info"], "no PATH given: a trace file, a memory snapshot, a folder of them, or -"),
        (["info", "--jsno", "x"], "unknown option '--jsno'; did you mean '--json'?"),
        (["info", "-Z", "x"], "unknown option '-Z'"),
        (["info", "-j", "many", "x"], "-j: 'many' is not a number of threads from 1 to 4096"),
        (["info", "--jobs"], "--jobs needs a value (N)"),
        (["info", "--max-memory", "lots", "x"], "--max-memory: 'lots' is not a size such as"),
        (["info", "--block-bytes", "0", "x"], "--block-bytes: '0' is not a size such as"),
        (["info", "--json=maybe", "x"], "--json: 'maybe' is not yes or no"),
        (["info", "--color", "blue", "x"], "--color: 'blue' is not auto, always or never"),
        (["--frob", "info"], "unknown option '--frob'"),
        (["export", "x"], "--to is missing: chrome, perfetto or jsonl"),
        (["export", "--to", "xml", "x"], "--to: 'xml' is not chrome, perfetto or jsonl"),
        (
            ["export", "--to", "chrome", "-o", "a.json.gz", "x"],
            "a.json.gz: export does not compress",
        ),
        (["completion"], "say which shell: bash, zsh or fish"),
        (["completion", "tcsh"], "there is no completion for 'tcsh'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_exits_2(program: Program, arguments: list[str], message: str) -> None:
    outcome = program.run(*arguments)
    assert (outcome.exit_status, outcome.stdout) == (2, b"")
    assert outcome.stderr.decode().startswith(f"stepscope: {message}")


def test_a_path_as_command_is_understood(program: Program, trace: Path) -> None:
    outcome = program.run(trace)
    assert outcome.exit_status == 2
    assert f"hint: stepscope report {trace}" in outcome.stderr.decode()


def test_variables_set_options_and_flags_win(program: Program, trace: Path) -> None:
    as_json = program.run("info", "--no-timing", trace, env={"STEPSCOPE_JSON": "1"})
    assert json.loads(as_json.stdout)["schema"] == "stepscope.info/1"
    as_text = program.run("info", "--no-timing", "--json=no", trace, env={"STEPSCOPE_JSON": "1"})
    assert as_text.stdout == program.run("info", "--no-timing", trace).stdout
    wrong = program.run("info", trace, env={"STEPSCOPE_JOBS": "none"})
    assert wrong.exit_status == 2
    assert b"STEPSCOPE_JOBS: 'none' is not a number of threads" in wrong.stderr


def test_general_options_may_stand_before_the_command(program: Program, trace: Path) -> None:
    before = program.run("-j", "1", "info", "--no-timing", trace)
    assert before.exit_status == 0
    assert before.stdout == program.run("info", "--no-timing", "-j1", trace).stdout


def test_standard_input_reads_like_a_file(program: Program, trace: Path) -> None:
    for data in (trace.read_bytes(), gzip.compress(trace.read_bytes())):
        outcome = program.run("info", "--json", "--no-timing", "-", stdin=data)
        assert outcome.exit_status == 0
        facts = json.loads(outcome.stdout)
        assert facts["windows"][0]["path"] == "-"
        assert facts["run"]["events"] == 2
        assert facts["windows"][0]["file_bytes"] == len(data)
        assert facts["windows"][0]["text_bytes"] == len(trace.read_bytes())


def test_standard_input_has_one_name_for_people_and_one_for_programs(program: Program) -> None:
    snapshot = (ROOT / "examples" / "data" / "snap_oracle.pickle.gz").read_bytes()
    facts = json.loads(program.run("info", "--json", "-", stdin=snapshot).stdout)
    assert facts["snapshots"][0]["path"] == "-"
    for command in ("info", "memory", "report"):
        shown = program.run(command, "-", stdin=snapshot).stdout.decode()
        assert not re.search(r"( |^ *)-($|,)", shown, re.MULTILINE), command
    figures = (ROOT / "tests" / "fixtures" / "memory" / "exported.stats.json").read_bytes()
    assert b"standard input  torch" in program.run("memory", "-", stdin=figures).stdout
    cut = {
        "memory": snapshot[:-5000],
        "report": b'{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2},{"ph":',
    }
    for command, part in cut.items():
        assert b"standard input is cut" in program.run(command, "-", stdin=part).stdout, command
    refused = program.run("info", "-", stdin=b"nope").stderr
    assert refused.startswith(b"stepscope: standard input:0: ")


def test_as_many_rows_as_were_asked_for(program: Program) -> None:
    """There are 54 kernels; an analysis that keeps the first adds a row for the others."""
    trace = ROOT / "examples" / "data" / "gpt_bf16.json.gz"

    def rows(*words: str) -> list[str]:
        words = ("analyze", "kernels", "--columns", "name,count", *words)
        table = program.run(*words, trace).stdout.decode()
        return [line for line in table.splitlines() if re.search(r" +[0-9,]+$", line)]

    assert len(rows("--top", "0")) == 54
    assert len(rows("--top", "52")) == 53
    assert len(rows("--top", "3")) == 4
    assert not [line for line in rows("--top", "0") if "more rows" in line]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.json", b""),
        ("blank.json", b" \n "),
        ("text.json", b"hello, I am not a trace\n"),
        ("binary.json", bytes(range(256)) * 16),
        ("zeros.json", bytes(4096)),
        ("other.json", b'{"learning_rate": 0.1, "layers": [1, 2, 3]}'),
        ("number.json", b"42"),
        ("snapshot.json", b'{"segments": [], "device_traces": []}'),
        ("empty.json.gz", gzip.compress(b"")),
        ("rubbish.json.gz", b"\x1f\x8b\x08" + bytes(64)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_trace_exits_3_and_names_the_file(
    program: Program, tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    outcome = program.run("info", path)
    assert (outcome.exit_status, outcome.stdout) == (3, b"")
    first_line = outcome.stderr.decode().splitlines()[0]
    assert first_line.startswith(f"stepscope: {path}:")


def test_missing_file_and_folder_without_traces_exit_3(program: Program, tmp_path: Path) -> None:
    missing = program.run("info", tmp_path / "none.json")
    assert missing.exit_status == 3
    assert (
        missing.stderr.decode() == f"stepscope: {tmp_path}/none.json: No such file or directory\n"
    )
    empty = program.run("info", tmp_path)
    assert empty.exit_status == 3
    nothing = "no trace or memory snapshot in this folder"
    assert empty.stderr.decode() == f"stepscope: {tmp_path}: {nothing}\n"
    (tmp_path / "config.json").write_text('{"lr": 1}')
    left_out = program.run("info", tmp_path)
    assert left_out.exit_status == 3
    assert "config.json (JSON without traceEvents)" in left_out.stderr.decode()


def test_a_broken_file_in_a_folder_does_not_hide_the_others(
    program: Program, tmp_path: Path
) -> None:
    (tmp_path / "rank0.json").write_text(TRACE)
    (tmp_path / "rank1.json").write_bytes(b"")
    (tmp_path / "run.json").write_text('{"schema": 1}')
    outcome = program.run("info", "--json", tmp_path)
    assert outcome.exit_status == 4
    facts = json.loads(outcome.stdout)
    assert [window["rank"] for window in facts["windows"]] == [0]
    assert [failure["path"] for failure in facts["failures"]] == [f"{tmp_path}/rank1.json"]
    assert [skipped["path"] for skipped in facts["skipped"]] == [f"{tmp_path}/run.json"]
    assert facts["run"]["lost_data"] is True
    text = program.run("info", tmp_path)
    assert text.exit_status == 4
    assert "unreadable_file" in text.stdout.decode()
    assert "data was lost: unreadable_file (1)" in text.stderr.decode()
    assert program.run("info", "-q", tmp_path).stderr == b""
    assert program.run("info", tmp_path / "rank0.json", tmp_path / "rank1.json").exit_status == 3


def test_a_folder_of_ranks_is_one_run(program: Program, tmp_path: Path) -> None:
    for iteration in (10, 20):
        for rank in range(3):
            path = tmp_path / f"iteration_{iteration}" / f"rank{rank}_trace.json.gz"
            path.parent.mkdir(exist_ok=True)
            events = TRACE.replace('"ts":', f'"ts":{iteration}00')
            path.write_bytes(gzip.compress(events.encode()))
    facts = json.loads(program.run("info", "--json", "--no-timing", tmp_path).stdout)
    windows = [(w["rank"], w["window"], Path(w["path"]).parent.name) for w in facts["windows"]]
    assert windows == [(r, w, f"iteration_{10 + 10 * w}") for r in range(3) for w in range(2)]
    notes = {note["id"]: note["count"] for note in facts["notes"]}
    assert notes["rank_from_file_name"] == 6
    assert notes["several_windows"] == 3
    assert "rank_conflict" not in notes


def test_info_counts_what_python_counts(program: Program, corpus: Path) -> None:
    small = (path for path in corpus.rglob("*.json.gz") if path.stat().st_size < 300_000)
    for path in sorted(small):
        events = json.loads(gzip.decompress(path.read_bytes()), strict=False)["traceEvents"]
        rows = [event for event in events if event.get("ph") not in ("M", "s", "t", "f")]
        facts = json.loads(program.run("info", "--json", path).stdout)
        assert facts["run"]["entries"] == len(events), path
        assert facts["run"]["events"] == len(rows), path
        assert sum(row["events"] for row in facts["categories"]) == len(rows), path
        assert {row["category"] for row in facts["categories"]} == {
            event.get("cat", "") for event in rows
        }, path


def test_every_note_has_its_row_in_the_docs() -> None:
    source = (ROOT / "src/base/notes.cpp").read_text()
    notes = re.findall(r'\{"(\w+)", (kLoss|kInfo),', source)
    page = (ROOT / "docs/formats/notes.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (yes)? ?\|", page, re.MULTILINE)
    assert len(notes) > 40
    assert [(name, severity == "kLoss") for name, severity in notes] == [
        (name, lost == "yes") for name, lost in rows
    ]


def test_a_cut_file_exits_4(program: Program, trace: Path) -> None:
    trace.write_text(TRACE[: TRACE.index("gemm")])
    outcome = program.run("info", "--no-timing", trace)
    assert outcome.exit_status == 4
    assert b"Data was lost" in outcome.stdout
    assert program.run("export", "--to", "jsonl", trace).exit_status == 4


def test_too_little_memory_is_an_error_that_says_what_to_do(
    program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    path.write_text("[" + ",\n".join(EVENT % i for i in range(20_000)) + "]")
    outcome = program.run("info", "--max-memory", "100k", path)
    assert outcome.exit_status == 3
    assert b"raise --max-memory to go on (it allows 102400 bytes)\n" in outcome.stderr


def test_steps_are_named_by_a_pattern(program: Program, tmp_path: Path) -> None:
    step = '{"ph":"X","cat":"user_annotation","name":"train %d","pid":1,"tid":1,"ts":%d,"dur":7}'
    (tmp_path / "trace.json").write_text("[" + ",".join(step % (i, 10 * i) for i in range(3)) + "]")
    facts = json.loads(program.run("info", "--json", "--steps", "^train", tmp_path).stdout)
    assert facts["steps"]["source"] == "pattern"
    assert facts["steps"]["count"] == 3
    assert facts["steps"]["mean_ns"] == 7000
    unmatched = program.run("info", "--steps", "validate", tmp_path)
    assert unmatched.exit_status == 0
    assert unmatched.stderr.startswith(b"stepscope: no annotation matches --steps 'validate': ")


@pytest.mark.parametrize("path", ["gpt_bf16.json.gz", "run", "snap_oracle.pickle.gz"])
def test_a_pattern_of_steps_that_is_none(program: Program, path: str) -> None:
    wrong = program.run("info", "--steps", "(", ROOT / "examples/data" / path)
    assert wrong.exit_status == 2
    assert wrong.stderr.startswith(b"stepscope: '(' is not a regular expression: ")


def test_names_of_any_length_against_a_pattern_of_steps(program: Program, tmp_path: Path) -> None:
    span = '{"ph":"X","cat":"user_annotation","name":"%s","pid":1,"tid":1,"ts":%d,"dur":7}'
    names = ["a" * 400_000, "a" * 500, "step 1"]
    path = tmp_path / "trace.json"
    path.write_text("[" + ",".join(span % (name, 10 * i) for i, name in enumerate(names)) + "]")
    facts = json.loads(program.run("info", "--json", "--steps", "^(a*)*b|step", path).stdout)
    assert facts["steps"]["source"] == "pattern"
    assert facts["steps"]["count"] == 1


def test_permission_denied(program: Program, unprivileged: list[str]) -> None:
    # Not in tmp_path: its parents are closed to other users.
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = Path(place, "closed")
        folder.mkdir()
        (folder / "rank0.json").write_text(TRACE)
        secret = Path(place, "secret.json")
        secret.write_text(TRACE)
        secret.chmod(0)
        folder.chmod(0)
        outcomes = [
            (path, subprocess.run([*unprivileged, program.path, "info", path], capture_output=True))
            for path in (secret, folder)
        ]
        folder.chmod(0o700)
    for path, done in outcomes:
        assert (done.returncode, done.stdout) == (3, b"")
        assert done.stderr.decode().startswith(f"stepscope: {path}: ")
        assert "Permission denied" in done.stderr.decode()


def test_a_closed_pipe_is_silent(program: Program, trace: Path) -> None:
    for command in (
        ["info", trace],
        ["help"],
        ["completion", "bash"],
        ["export", "--to", "jsonl", trace],
    ):
        read_end, write_end = os.pipe()
        os.close(read_end)
        with os.fdopen(write_end, "wb") as closed:
            done = subprocess.run([program.path, *command], stdout=closed, stderr=subprocess.PIPE)
        assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_is_said(program: Program, trace: Path) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run([program.path, "info", trace], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 3
    assert done.stderr == b"stepscope: standard output: No space left on device\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_valid(program: Program, shell: str) -> None:
    outcome = program.run("completion", shell)
    assert outcome.exit_status == 0
    for word in (b"info", b"export", b"max-memory", b"perfetto"):
        assert word in outcome.stdout
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=outcome.stdout, capture_output=True)
        assert checked.returncode == 0, checked.stderr


def test_bash_completes_commands_options_and_values(program: Program) -> None:
    def complete(*words: str) -> set[str]:
        script = (
            'source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1));'
            ' _stepscope; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "-c", script, program.path, *words], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return set(done.stdout.split())

    assert complete("stepscope", "in") == {"info"}
    assert complete("stepscope", "info", "--no") == {"--no-timing", "--no-progress"}
    assert complete("stepscope", "export", "--to", "") == {"chrome", "perfetto", "jsonl"}
    assert complete("stepscope", "help", "exp") == {"export"}


@pytest.mark.timing_sensitive(reason="a signal is sent when the program should have started")
def test_interrupt_while_waiting_for_input(program: Program) -> None:
    with subprocess.Popen(
        [program.path, "info", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 130
        assert process.stdout
        assert process.stdout.read() == b""


def test_signals_that_are_ignored_stay_ignored(program: Program) -> None:
    script = 'trap "" HUP INT; exec "$0" info --no-timing -'
    with subprocess.Popen(
        ["bash", "-c", script, program.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
        shown, _ = process.communicate(TRACE.encode(), timeout=10)
    assert process.returncode == 0
    assert shown.startswith(b"standard input\n")


@pytest.mark.parametrize("output", ["copy.jsonl", "folder/"])
def test_interrupt_while_writing_leaves_no_files(
    program: Program, tmp_path: Path, output: str
) -> None:
    path, place = tmp_path / "trace.json", tmp_path / "out"
    path.write_text("[" + ",\n".join(EVENT % i for i in range(400_000)) + "]")
    place.mkdir()
    process = subprocess.Popen(
        [program.path, "export", "--to", "jsonl", "-o", output, path],
        cwd=place,
        stderr=subprocess.PIPE,
    )
    while not any(place.iterdir()) and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == b"stepscope: stopped\n"
    assert list(place.iterdir()) == []


def test_export_writes_files_and_folders(program: Program, tmp_path: Path, trace: Path) -> None:
    one = program.run("export", "--to", "chrome", "-o", tmp_path / "one.json", trace)
    assert (one.exit_status, one.stdout, one.stderr) == (0, b"", b"")
    events = json.loads((tmp_path / "one.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == ["aten::add", "gemm"]
    assert (
        json.loads(program.run("export", "--to", "chrome", trace).stdout)["traceEvents"] == events
    )

    ranks = tmp_path / "ranks"
    ranks.mkdir()
    for rank in range(2):
        (ranks / f"rank{rank}.json").write_text(TRACE)
    refused = program.run("export", "--to", "chrome", ranks)
    assert refused.exit_status == 2
    assert refused.stderr == b"stepscope: 2 windows make 2 files: say -o FOLDER\n"
    assert program.run("export", "--to", "chrome", "-o", tmp_path / "new", ranks).exit_status == 0
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == ["rank00000_window0.json", "rank00001_window0.json"]
    together = program.run("export", "--to", "perfetto", "-o", tmp_path / "new", ranks)
    assert together.exit_status == 0
    assert (tmp_path / "new" / "run.perfetto-trace").stat().st_size > 0


def test_export_to_a_place_that_cannot_be_written_exits_3(program: Program, trace: Path) -> None:
    outcome = program.run("export", "--to", "chrome", "-o", trace.parent / "no" / "x.json", trace)
    assert outcome.exit_status == 3
    assert outcome.stderr.startswith(b"stepscope: ")
    assert b"No such file or directory" in outcome.stderr
