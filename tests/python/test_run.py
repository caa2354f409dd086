"""Opening, choosing, failing: what a person at a prompt meets."""

import gc
import inspect
import math
import os
import pickle
import shutil
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stepscope
from stepscope import __main__, _core

ROOT = Path(__file__).parents[2]
GPT = ROOT / "examples/data/gpt_bf16.json.gz"
DDP = ROOT / "examples/data/ddp"
LEAK = ROOT / "examples/data/snap_gpt_leak.pickle.gz"
ODD = os.fsdecode(b"caf\xe9.json.gz")  # a name that is no UTF-8


@pytest.fixture(scope="module")
def run() -> Any:
    return stepscope.open(GPT)


def test_says_what_it_holds(run: Any) -> None:
    assert run.ranks == [0]
    assert run.step_numbers == [2, 3, 4]
    assert run.devices[0]["name"] == "NVIDIA H200"
    assert repr(run).endswith(": 1 rank, 3 steps, 20,146 events>")


def test_several_paths_are_one_run() -> None:
    files = sorted(DDP.glob("*.gz"))
    assert stepscope.open(files).ranks == stepscope.open(str(DDP)).ranks == [0, 1]


def test_chooses_ranks_and_steps() -> None:
    run = stepscope.open(DDP)
    one = run.kernels(ranks=1).table
    assert set(one["rank"]) == {1}
    chosen = run.steps(ranks=[0], steps=[3])["steps"]
    assert [(row["rank"], row["step"]) for row in chosen.rows()] == [(0, 3)]


@pytest.mark.parametrize(
    "steps", [np.int64(3), np.array([3]), np.array([3.0]), [np.float32(3)], iter([3]), 3.0]
)
def test_numbers_come_in_several_kinds(run: Any, steps: Any) -> None:
    assert run.steps(steps=steps)["steps"]["step"].tolist() == [3]


def test_a_limit_of_memory_may_be_written_as_a_float() -> None:
    assert stepscope.open(GPT, max_memory=8e9, jobs=np.int64(2)).ranks == [0]  # type: ignore[arg-type]


@pytest.mark.parametrize("delay", ["30us", 30_000, timedelta(microseconds=30)])
def test_durations_come_in_several_spellings(run: Any, delay: Any) -> None:
    assert list(run.idle_time(delay=delay).table.rows()) == list(run.idle_time().table.rows())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda run: run.idle_time(dealy=3), "did you mean 'delay'"),
        (lambda run: run.idle_time(delay="3 parsecs"), "a length of time such as 30us"),
        (lambda run: run.idle_time(within=True), "is not a switch"),
        (lambda run: run.idle_time(ranks="zero"), "takes a number or several"),
        (lambda run: run.idle_time(ranks=[]), "leave it out for all"),
        (lambda run: run.idle_time(ranks=[7]), "7"),
        (lambda run: run.ask("idle-tmie"), "did you mean 'idle-time'"),
        (lambda run: run.idle_time()["no"], "it has devices"),
        (lambda run: run.idle_time().table["no"], "has no column 'no'"),
        (lambda run: run.steps(steps="23"), "'steps' takes a number or several, not '23'"),
        (lambda run: run.steps(ranks=b"\0"), "'ranks' takes a number or several, not b'"),
        (lambda run: run.steps(steps=[2.9]), "'steps' takes whole numbers, not 2.9"),
        (lambda run: run.steps(steps=["2"]), "'steps' takes whole numbers, not '2'"),
        (lambda run: run.steps(steps=True), "'steps' takes a number or several, not True"),
        (lambda run: run.steps(ranks=[math.inf]), "'ranks' takes whole numbers, not inf"),
        (lambda run: run.steps(ranks=2**31), "'ranks' takes numbers up to 2147483647"),
        (lambda run: run.steps(steps=2**63), "'steps' takes numbers up to 9223372036854775807"),
        (lambda run: run.diff(run, other_ranks="0"), "'other_ranks' takes a number or several"),
        (lambda run: run.diff(3), "diff takes another run"),
        (lambda run: run.ask(3), "an analysis is asked by its name"),
        (lambda run: run.kernels(top=ODD), r"'top' is not UTF-8: 'caf\xe9.json.gz'"),
        (lambda run: stepscope.open(ODD), r"is not UTF-8: 'caf\xe9.json.gz'; rename the file"),
        (lambda run: stepscope.open([Path(ODD)]), r"is not UTF-8: 'caf\xe9.json.gz'"),
        (lambda run: stepscope.open(GPT, peaks=ODD), "peaks is not UTF-8"),
        (lambda run: run.findings(thresholds=ODD), "thresholds is not UTF-8"),
        (lambda run: stepscope.open(GPT, steps=None), "regular expression"),  # type: ignore[arg-type]
        (lambda run: stepscope.open(GPT, jobs=2**31), "up to 4096, not 2147483648"),
        (lambda run: stepscope.open(GPT, jobs=1.5), "not 1.5"),  # type: ignore[arg-type]
        (lambda run: stepscope.open(GPT, max_memory=2**64), "max_memory is a number of bytes"),
        (lambda run: stepscope.open(GPT, max_memory=0.5), "max_memory is a number of bytes"),
        (lambda run: stepscope.open(GPT, progress=3), "progress is called"),  # type: ignore[arg-type]
        (lambda run: stepscope.check_steps([0.1], [0.1]), "of one run, [times]"),  # type: ignore[list-item]
        (lambda run: stepscope.check_steps([[0.1]], [[0.1]], rules=ODD), "rules is not UTF-8"),
        (lambda run: stepscope.open([]), "no path given"),
        (
            lambda run: stepscope.open(3),  # type: ignore[arg-type]
            "paths",
        ),
        (lambda run: stepscope.open(GPT, jobs=0), "1 or more"),
        (lambda run: stepscope.open(GPT, max_memory=0), "a number of bytes"),
        (lambda run: stepscope.open(GPT, peaks="none.yaml"), "none.yaml"),
        (lambda run: stepscope.open(GPT, steps="("), "("),
        (lambda run: stepscope.open_memory(GPT), "there is no memory snapshot"),
        (lambda run: run.report(batch_size=8), "there is none here"),
        (lambda run: stepscope.open(LEAK).report(batch_size=-1), "batch-size"),
        (lambda run: run.to_html(ranks=[7]), "7"),
    ],
)
def test_wrong_arguments_say_what_is_right(run: Any, wrong: Any, says: str) -> None:
    with pytest.raises(stepscope.Error) as error:
        wrong(run)
    assert says in str(error.value)


def test_errors_say_where(tmp_path: Path) -> None:
    with pytest.raises(stepscope.NotFoundError) as missing:
        stepscope.open(tmp_path / "no.json")
    assert missing.value.file == str(tmp_path / "no.json")
    assert isinstance(missing.value, LookupError)
    broken = tmp_path / "broken.json"
    broken.write_text("no trace at all")
    with pytest.raises(stepscope.FormatError) as unread:
        stepscope.open(broken)
    assert unread.value.file == str(broken)
    assert unread.value.position == 0
    assert "expected" in unread.value.expectation
    again = pickle.loads(pickle.dumps(unread.value))  # as a worker process would hand it on
    assert (again.file, again.position, str(again)) == (str(broken), 0, str(unread.value))


def test_notebooks_show_tables_and_charts(run: Any) -> None:
    shown = run.idle_time()._repr_html_()
    assert "<svg" in shown
    assert "@scope (.stepscope)" in shown
    assert "<script" not in shown


def test_methods_describe_themselves() -> None:
    signature = inspect.signature(stepscope.Run.idle_time)
    assert list(signature.parameters) == [
        "self",
        "ranks",
        "steps",
        "delay",
        "within",
        "definition",
        "top",
    ]
    assert (stepscope.Run.idle_time.__doc__ or "").startswith("Why is the GPU waiting")


def test_arrays_outlive_the_run() -> None:
    column = stepscope.open(GPT).kernels().table["sum_ns"]
    before = column.sum()
    gc.collect()
    stepscope.open(DDP)
    assert column.sum() == before
    with pytest.raises(ValueError, match="read-only"):
        column[0] = 1


def test_progress_is_reported(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    stepscope.open(DDP, jobs=1, progress=lambda done, total: calls.append((done, total)))
    assert all(0 <= done <= total for done, total in calls)


def test_no_leak_over_many_opens(tmp_path: Path) -> None:
    small = tmp_path / "small.json"
    small.write_text(
        '{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2}]}'
    )

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

    def once() -> None:
        run = stepscope.open(small)
        for table in run.kernels():
            _ = [table[column.name] for column in table.columns]
        run.kernels()._repr_html_()

    for _ in range(200):
        once()
    gc.collect()
    before = resident()
    for _ in range(1000):
        once()
    gc.collect()
    assert resident() - before < 4 << 20


def test_import_brings_nothing_heavy() -> None:
    code = (
        "import sys, stepscope; "
        "print([m for m in ('numpy', 'pandas', 'torch', 'pyarrow', 'plotly') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    out = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    ).stdout
    assert out.strip() == "[]"


def test_command_is_the_program() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        [sys.executable, "-m", "stepscope", "info", "nowhere.json"],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert "nowhere.json" in done.stderr


def test_the_command_takes_a_name_that_is_no_text(tmp_path: Path) -> None:
    shutil.copy(GPT, tmp_path / ODD)
    done = subprocess.run(
        [sys.executable, "-m", "stepscope", "info", ODD],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        check=False,
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"NVIDIA H200" in done.stdout


@pytest.mark.parametrize(("given", "used"), [("/bin/false", "/bin/false"), ("", sys.executable)])
def test_the_python_that_the_user_chose_is_kept(
    monkeypatch: pytest.MonkeyPatch, given: str, used: str
) -> None:
    seen: list[str] = []

    def run_command(_: list[bytes]) -> int:
        seen.append(os.environ["STEPSCOPE_PYTHON"])
        return 0

    monkeypatch.setenv("STEPSCOPE_PYTHON", given)
    monkeypatch.setenv("STEPSCOPE_PACKAGE", "")  # which it sets, and is to be as before afterwards
    monkeypatch.setattr(signal, "signal", lambda number, act: None)
    monkeypatch.setattr(_core, "main", run_command)
    assert __main__.main() == 0
    assert seen == [used]
