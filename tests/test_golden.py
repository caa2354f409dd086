"""Every file in tests/golden: the commands give exactly the output written there.

One number of threads (`--threads`) for the gate; `make nightly` compares 1 with 8.
"""

import difflib
from pathlib import Path

import pytest
from golden_file import OUTPUTS, Golden, read
from program import ROOT, Program

FOLDER = ROOT / "tests" / "golden"
CASES = sorted(FOLDER.rglob("*.test"))


def play(golden: Golden, program: Program, folder: Path, jobs: str) -> dict[str, bytes]:
    """Lays out the input files, runs the commands, returns stdout and stderr of all together."""
    for section in golden.inputs():
        path = folder / section.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(section.content())
    piped = golden.section("stdin")
    stdin = piped.content() if piped else b""
    output = dict.fromkeys(OUTPUTS, b"")
    for command in golden.commands:
        outcome = program.run(
            *command.arguments,
            stdin=stdin,
            cwd=folder,
            env={"STEPSCOPE_JOBS": jobs, "HOME": str(folder), "NO_COLOR": "1"},
        )
        if outcome.exit_status != command.exit_status:
            pytest.fail(
                f"exit status {outcome.exit_status}, expected {command.exit_status}, of "
                f"`stepscope {' '.join(command.arguments)}` with STEPSCOPE_JOBS={jobs}\n"
                + (outcome.stdout + outcome.stderr).decode(errors="replace"),
                pytrace=False,
            )
        output["stdout"] += outcome.stdout
        output["stderr"] += outcome.stderr
    return output


def difference(expected: bytes, got: bytes) -> str:
    """A unified diff, readable also where the output is not text."""
    before, after = (
        side.decode("utf-8", "backslashreplace").split("\n") for side in (expected, got)
    )
    return "\n".join(difflib.unified_diff(before, after, "expected", "got", lineterm=""))


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.relative_to(FOLDER).as_posix())
def test_golden(
    case: Path, program: Program, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    golden, updated = read(case), False
    for jobs in request.config.getoption("--threads").split(","):
        folder = tmp_path / f"jobs{jobs}"
        folder.mkdir()
        output = play(golden, program, folder, jobs)
        if request.config.getoption("--update-goldens") and not updated:
            golden, updated = update(case, golden, output), True
        for name, got in output.items():
            expected = golden.expected(name)
            if expected is not None and got != expected:
                where = f"{case.relative_to(ROOT)}: {name} with STEPSCOPE_JOBS={jobs}"
                pytest.fail(f"{where}\n{difference(expected, got)}", pytrace=False)


def update(case: Path, golden: Golden, output: dict[str, bytes]) -> Golden:
    """Writes what the program printed into the test, where the test compares it."""
    for name, got in output.items():
        if golden.expected(name) is not None:
            golden = golden.with_output(name, got)
    text = golden.render().encode("utf-8", "surrogateescape")
    if text != case.read_bytes():
        case.write_bytes(text)
    return golden
