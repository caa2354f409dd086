"""The package gives what the command gives, for every analysis and every sample."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

stepscope = pytest.importorskip("stepscope", reason="the extension is not built: make python")

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("STEPSCOPE_BIN", ROOT / "build" / "stepscope"))
SAMPLES = [
    "examples/data/gpt_bf16.json.gz",
    "examples/data/gpt_stack.json.gz",
    "examples/data/ddp",
]
NAMES = [about["name"] for about in stepscope.analyses.descriptors()]


@pytest.fixture(scope="module", params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> tuple[str, Any]:
    path = str(ROOT / request.param)
    return path, stepscope.open(path)


def command_answer(name: str, path: str) -> dict[str, Any]:
    done = subprocess.run(
        [PROGRAM, "analyze", name, path, "-f", "json"], capture_output=True, text=True, check=False
    )
    answer: dict[str, Any] = json.loads(done.stdout) if done.returncode in (0, 4) else {}
    return answer


def plain(value: Any) -> Any:
    """JSON keeps identifiers beyond 2^53 as text."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return str(value)
    return value


@pytest.mark.parametrize("name", NAMES)
def test_same_numbers_as_the_command(sample: tuple[str, Any], name: str) -> None:
    path, run = sample
    expected = command_answer(name, path)
    if not expected:  # an analysis this recording cannot be asked
        with pytest.raises(stepscope.Error):
            run.ask(name)
        return
    answer = getattr(run, name.replace("-", "_"))()
    assert answer.remarks == expected["remarks"]
    assert list(answer.tables) == list(expected["tables"])
    for table, rows in expected["tables"].items():
        got = [{k: plain(v) for k, v in row.items()} for row in answer[table].rows()]
        assert got == rows, table


@pytest.mark.parametrize("name", NAMES)
def test_frames_hold_the_same_values(sample: tuple[str, Any], name: str) -> None:
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    _, run = sample
    try:
        answer = run.ask(name)
    except stepscope.Error:
        return
    for table in answer:
        rows = list(table.rows())
        names = [column.name for column in table.columns]
        arrow = pa.table(table)
        arrow.validate(full=True)
        assert arrow.column_names == names
        assert arrow.to_pylist() == rows
        assert pl.DataFrame(table).rows(named=True) == rows
        frame = table.to_pandas()
        assert list(frame.columns) == names
        assert len(frame) == len(rows)
        for column in table.columns:
            for value, row in zip(frame[column.name], rows, strict=True):
                expected = row[column.name]
                if expected is None:
                    assert value is None or pd.isna(value)
                elif column.type == "list":
                    assert list(value) == expected
                else:
                    assert value == expected
