"""The pages of the package are those of the command, byte for byte."""

import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from program import ROOT, Program

import stepscope

DATA = ROOT / "examples" / "data"
MEMORY = ROOT / "tests" / "fixtures" / "memory"
LEAK = DATA / "snap_gpt_leak.pickle.gz"
PAGES: list[tuple[str, list[Path], dict[str, Any], list[str]]] = [
    ("report", [DATA / "gpt_bf16.json.gz"], {}, []),
    ("report", [DATA / "gpt_bf16.json.gz"], {"steps": [3]}, ["--step", "3"]),
    ("report", [DATA / "ddp"], {"ranks": 1}, ["--rank", "1"]),
    ("memory", [LEAK], {}, []),
    ("memory", [LEAK], {"device_memory": "1GiB", "batch_size": 8},
     ["--device-memory", "1GiB", "--batch-size", "8"]),
    ("memory", [LEAK, DATA / "snap_oracle.pickle.gz"], {}, []),
    ("memory", [MEMORY / "exported.timeline.json.gz"], {}, []),
    ("memory", [MEMORY / "exported.stats.json"], {}, []),
]  # fmt: skip


@pytest.mark.parametrize(("command", "paths", "options", "words"), PAGES)
def test_pages_are_those_of_the_command(
    command: str,
    paths: list[Path],
    options: dict[str, Any],
    words: list[str],
    program: Program,
    tmp_path: Path,
) -> None:
    run = stepscope.open_memory(paths) if command == "memory" else stepscope.open(paths)
    printed = io.StringIO()
    run.report(file=printed, **options)
    expected = program.run(command, *paths, *words).stdout.decode()
    assert printed.getvalue() == expected
    program.run(command, *paths, *words, "--html", tmp_path / "command.html")
    page = run.to_html(tmp_path / "package.html", **options)
    assert page == (tmp_path / "command.html").read_text()
    assert page == (tmp_path / "package.html").read_text()


def test_a_page_needs_no_network() -> None:
    page = stepscope.open(DATA / "gpt_bf16.json.gz").to_html()
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page


def test_a_snapshot_alone_reports_memory() -> None:
    printed, expected = io.StringIO(), io.StringIO()
    stepscope.open(LEAK).report(file=printed)
    stepscope.open_memory(LEAK).report(file=expected)
    assert printed.getvalue() == expected.getvalue()


def test_a_snapshot_beside_a_trace_reports_what_it_was_opened_for() -> None:
    both = [DATA / "gpt_bf16.json.gz", LEAK]
    trace, memory = io.StringIO(), io.StringIO()
    stepscope.open(both).report(file=trace)
    stepscope.open_memory(both).report(file=memory)
    assert "Where the step time goes" in trace.getvalue()
    assert "leaks" in memory.getvalue()
    assert "1 rank, 3 steps, 20,146 events, 1 memory snapshot, 4,949 memory events" in repr(
        stepscope.open(both)
    )


def test_your_own_peaks_are_used(tmp_path: Path, program: Program) -> None:
    peaks = tmp_path / "peaks.yaml"
    peaks.write_text("devices: [{match: H200, tflops: {bf16: 100}}]")
    run = stepscope.open(DATA / "gpt_bf16.json.gz", peaks=peaks)
    printed = program.run(
        "analyze",
        "mfu",
        DATA / "gpt_bf16.json.gz",
        "--peaks",
        peaks,
        "-f",
        "csv",
        "--table",
        "steps",
    ).stdout.decode()
    assert run.mfu().table.to_csv() == printed
    assert printed != stepscope.open(DATA / "gpt_bf16.json.gz").mfu().table.to_csv()


def test_a_page_never_takes_the_place_of_what_was_read(tmp_path: Path) -> None:
    """Neither of a file nor of one in a folder, by whatever name."""
    folder = shutil.copytree(DATA / "ddp", tmp_path / "ddp")
    first, second = sorted(folder.glob("*.gz"))
    link, peaks = tmp_path / "page.html", tmp_path / "peaks.yaml"
    link.symlink_to(first)
    peaks.write_text("devices: [{match: H200, tflops: {bf16: 100}}]")
    before = [file.read_bytes() for file in (first, second, peaks)]
    run = stepscope.open(folder, peaks=peaks)
    for taken in (first, second, str(second), link, peaks):
        with pytest.raises(stepscope.UsageError, match="is what was read here.*name another file"):
            run.to_html(taken)
    with pytest.raises(stepscope.UsageError, match="is what was read here"):
        stepscope.open(second).to_html(second)
    assert [file.read_bytes() for file in (first, second, peaks)] == before
    for _ in range(2):  # a page may be written again
        assert run.to_html(folder / "page.html") == (folder / "page.html").read_text()


def test_nor_of_what_describes_a_recorded_run(tmp_path: Path) -> None:
    with stepscope.profile(tmp_path, trace=False, system=False) as prof:
        prof.step()
    run = stepscope.open(tmp_path)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    names = {file.name for file in files}
    assert names == {"run.json", "attempt.json", "rank.json", "events.scope"}
    for file in files:
        with pytest.raises(stepscope.UsageError, match="is what was read here"):
            run.to_html(file)
