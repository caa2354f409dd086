"""What every Python test may ask for: the program, the samples, the corpus."""

import os
import shutil
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from program import ROOT, Program, default_program

RECORDING = Path(__file__).parent / "recording"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens",
        action="store_true",
        help="rewrite the expected output in tests/golden with what the program prints",
    )
    parser.addoption(
        "--threads",
        default="4",
        metavar="N,...",
        help="how many threads the goldens run with; the output must be the same for each number",
    )


def pytest_configure() -> None:
    """A shell starts jobs in the background deaf to Ctrl-C, and what a test starts inherits that.

    A server that is to end by it would go on until the test gives up.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# Random inputs: by the name of the parameter, how many the gate tries; `make nightly` tries all.
IN_THE_GATE = {"seed": 10, "share": 3}


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Tests of one file follow each other: the oracles keep what they read of the latest few."""

    def file_of(item: pytest.Item) -> str:
        parameters = getattr(item, "callspec", None)
        path = parameters.params.get("path") if parameters else None
        return str(path) if isinstance(path, Path) else ""

    for item in items:
        indices = getattr(getattr(item, "callspec", None), "indices", {})
        if any(indices.get(name, 0) >= most for name, most in IN_THE_GATE.items()):
            item.add_marker(pytest.mark.nightly)
        if item.get_closest_marker("timing_sensitive"):
            item.add_marker(pytest.mark.flaky(reruns=2))
    yield  # leaves out what is not asked for
    items.sort(key=file_of)
    items[:] = by_worker(items, getattr(config, "workerinput", {}).get("workercount", 1))


def records(item: pytest.Item) -> bool:
    """Whether it is a test of recordings: they take by far the longest."""
    return RECORDING in item.path.parents


def by_worker(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """What each begins with, one after the other: short ones last, which can be shared out."""
    long = [item for item in items if records(item)]
    short = [item for item in items if not records(item)]
    out: list[pytest.Item] = []
    for worker in range(workers):
        for sort in (long, short):
            begin, end = (len(sort) * at // workers for at in (worker, worker + 1))
            out += sort[begin:end]
    return out


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why a test was tried again: it may be the fault and not the machine."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"tried again: {report.nodeid}", sep="_")
        terminalreporter.write_line(report.longreprtext)


@pytest.fixture(scope="session")
def program() -> Program:
    """The stepscope binary (STEPSCOPE_BIN, default build/stepscope)."""
    found = default_program()
    if not os.access(found.path, os.X_OK):
        pytest.fail(f"{found.path} is not there; run `make build`", pytrace=False)
    return found


@pytest.fixture(scope="session")
def samples() -> Path:
    """The small real traces in examples/data."""
    return ROOT / "examples" / "data"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """A folder of larger traces, named by STEPSCOPE_CORPUS; tests that need it skip without."""
    if folder := os.environ.get("STEPSCOPE_CORPUS"):
        return Path(folder)
    pytest.skip("STEPSCOPE_CORPUS is not set")


@pytest.fixture
def unprivileged(program: Program) -> list[str]:
    """What to put before a command so that permissions bind it: nothing, unless we are root."""
    if os.geteuid() != 0:
        return []
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if (
        not shutil.which("setpriv")
        or subprocess.run([*prefix, program.path, "--version"]).returncode
    ):
        pytest.skip("root may read everything, and there is no way to be another user here")
    return prefix
