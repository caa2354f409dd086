"""The report and the analyses as files: HTML that stands alone, JSON with a version, same bytes."""

import csv
import fcntl
import gzip
import json
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from html_page import parsed
from program import Program

MEBIBYTE = 1 << 20


def made(program: Program, tmp_path: Path, *paths: Path) -> str:
    out = tmp_path / "report.html"
    outcome = program.run("report", "--html", str(out), *map(str, paths))
    assert outcome.exit_status in (0, 4), outcome.stderr
    return out.read_text(encoding="utf-8")


@pytest.fixture
def eight_ranks(samples: Path, tmp_path: Path) -> Path:
    """One rank's file eight times, as eight ranks."""
    text = gzip.decompress((samples / "gpt_bf16.json.gz").read_bytes()).decode()
    folder = tmp_path / "run"
    folder.mkdir()
    for rank in range(8):
        info = f'"distributedInfo": {{"backend": "nccl", "rank": {rank}, "world_size": 8}},'
        changed = text.replace("{", "{" + info, 1)
        with gzip.open(folder / f"rank{rank}.json.gz", "wb", compresslevel=1) as file:
            file.write(changed.encode())
    return folder


@pytest.mark.parametrize("sample", ["gpt_bf16.json.gz", "ddp"])
def test_html_stands_alone(program: Program, samples: Path, tmp_path: Path, sample: str) -> None:
    text = made(program, tmp_path, samples / sample)
    page = parsed(text)
    assert all(reference.startswith("#") for reference in page.references)
    assert {reference[1:] for reference in page.references} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert not re.search(r"@import|url\(|https?://|<link|<iframe|fetch\(|XMLHttp", text)
    assert page.rectangles > 0
    assert page.titles >= page.rectangles  # every mark has its tooltip, the page its title


def test_html_of_eight_ranks_is_small(program: Program, eight_ranks: Path, tmp_path: Path) -> None:
    text = made(program, tmp_path, eight_ranks)
    parsed(text)
    assert len(text.encode()) < 2 * MEBIBYTE


def test_html_of_any_trace_is_well_formed(program: Program, corpus: Path, tmp_path: Path) -> None:
    for trace in sorted(corpus.glob("*/*.json.gz")):
        page = parsed(made(program, tmp_path, trace))
        assert all(reference.startswith("#") for reference in page.references), trace


def test_names_cannot_break_the_page(program: Program, tmp_path: Path) -> None:
    name = "</title><script>alert('&')</script>\" onload=\"x"
    event = {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 0, "dur": 5}
    trace = tmp_path / "<b>&.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [event]}))
    text = made(program, tmp_path, trace)
    parsed(text)
    assert text.count("<script>") == 1
    assert "alert(" not in re.sub(r"&lt;.*?&gt;", "", text).split("<script>")[1]


@pytest.mark.parametrize("form", [[], ["--md"], ["--json"], ["--html", "-"]])
def test_same_bytes_at_any_number_of_threads(
    program: Program, samples: Path, form: list[str]
) -> None:
    run = [program.run("report", *form, "-j", n, str(samples / "ddp")) for n in ("1", "4")]
    assert run[0].exit_status == 0
    assert run[0].stdout == run[1].stdout


def test_json_has_every_analysis_and_a_version(program: Program, samples: Path) -> None:
    report = json.loads(program.run("report", "--json", str(samples / "ddp")).stdout)
    listed = json.loads(program.run("analyze", "--list", "-f", "json").stdout)
    assert report["schema"] == "stepscope.report/1"
    assert listed["schema"] == "stepscope.analyses/1"
    assert report["info"]["run"]["ranks"] == 2
    of_others = ("snapshot", "recording", "system")
    of_traces = [row for row in listed["analyses"] if not row["needs"].startswith(of_others)]
    assert list(report["analyses"]) == [row["name"] for row in of_traces]
    for row in of_traces:
        tables = report["analyses"][row["name"]]["tables"]
        assert list(tables) == [table["name"] for table in row["tables"]]
        for table in row["tables"]:
            for line in tables[table["name"]]:
                assert list(line) == [column["name"] for column in table["columns"]]


def test_csv_has_a_file_for_every_table(program: Program, samples: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    sample = str(samples / "gpt_bf16.json.gz")
    outcome = program.run("report", "--csv", str(folder), sample)
    assert outcome.exit_status == 0
    assert outcome.stdout == b""
    report = json.loads(program.run("report", "--json", sample).stdout)
    expected = {
        f"{name}.{table}.csv": len(rows)
        for name, answer in report["analyses"].items()
        for table, rows in answer["tables"].items()
    }
    found = {}
    for path in folder.iterdir():
        with path.open(newline="") as file:
            found[path.name] = len(list(csv.DictReader(file)))
    assert found == expected


def test_every_analysis_answers_every_sample(program: Program, samples: Path) -> None:
    listed = json.loads(program.run("analyze", "--list", "-f", "json").stdout)
    for row in listed["analyses"]:
        for form in ("text", "csv", "md", "json"):
            outcome = program.run("analyze", row["name"], "-f", form, str(samples / "ddp"))
            assert outcome.exit_status == 0, (row["name"], form, outcome.stderr)
        help_text = program.run("analyze", row["name"], "--help").stdout.decode()
        assert row["question"].split()[0] in help_text


def test_options_of_one_name_are_of_one_kind(program: Program) -> None:
    """A flag is parsed before it is known whose it is: everywhere it has a value, or nowhere."""
    listed = json.loads(program.run("analyze", "--list", "-f", "json").stdout)
    kinds: dict[str, set[bool]] = {}
    for row in listed["analyses"]:
        for parameter in row["parameters"]:
            kinds.setdefault(parameter["name"], set()).add(parameter["type"] == "switch")
    assert all(len(kind) == 1 for kind in kinds.values()), kinds


@pytest.mark.parametrize("columns", [60, 80, 132])
def test_text_fits_the_terminal(program: Program, samples: Path, columns: int) -> None:
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("STEPSCOPE_", "NO_COLOR"))}
    process = subprocess.Popen(
        [program.path, "report", "--no-progress", str(samples / "ddp")],
        stdout=follower,
        env={**env, "TERM": "xterm"},
    )
    os.close(follower)
    output = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        output += part
    os.close(leader)
    assert process.wait() == 0
    text = output.decode().replace("\r\n", "\n")
    assert "\x1b[" in text
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    # What is to be copied stays whole: commands, and code, which is indented by more than texts.
    whole = re.compile(r".*stepscope | {17}")
    long = [line for line in lines if len(line) > columns and not whole.match(line)]
    assert not long


def test_no_color_is_respected(program: Program, samples: Path) -> None:
    outcome = program.run("report", str(samples / "gpt_bf16.json.gz"))
    assert b"\x1b[" not in outcome.stdout
