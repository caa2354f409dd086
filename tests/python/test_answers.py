"""The package gives what the command gives, for every analysis and every sample."""

import json
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from program import ROOT, Program

import stepscope
from stepscope.analyses import descriptors, python_name

# Every trace and every snapshot there is, and the folder of ranks as one run.
DATA = ROOT / "examples" / "data"
SAMPLES = sorted([*DATA.glob("*.json.gz"), *DATA.glob("*.pickle.gz"), DATA / "ddp"])
NAMES = [about["name"] for about in descriptors()]


@pytest.fixture(scope="module", params=SAMPLES, ids=lambda path: path.name)
def sample(request: pytest.FixtureRequest) -> tuple[str, stepscope.Run]:
    return str(request.param), stepscope.open(request.param)


def command_answer(program: Program, name: str, path: str) -> dict[str, Any]:
    done = program.run("analyze", name, path, "-f", "json")
    answer: dict[str, Any] = json.loads(done.stdout) if done.exit_status in (0, 4) else {}
    return answer


def plain(value: Any) -> Any:
    """JSON keeps identifiers beyond 2^53 as text."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return str(value)
    return value


@pytest.mark.parametrize("name", NAMES)
def test_same_numbers_as_the_command(
    sample: tuple[str, stepscope.Run], name: str, program: Program
) -> None:
    path, run = sample
    expected = command_answer(program, name, path)
    if not expected:  # an analysis this recording cannot be asked
        with pytest.raises(stepscope.Error):
            run.ask(name)
        return
    answer = getattr(run, python_name(name))()
    assert answer.remarks == expected["remarks"]
    assert list(answer.tables) == list(expected["tables"])
    for table, rows in expected["tables"].items():
        got = [{k: plain(v) for k, v in row.items()} for row in answer[table].rows()]
        assert got == rows, table


@pytest.mark.parametrize("name", NAMES)
def test_frames_hold_the_same_values(sample: tuple[str, stepscope.Run], name: str) -> None:
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
        frame = table.to_pandas(sums=True)
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


def test_frames_hold_rows_of_one_kind(sample: tuple[str, stepscope.Run]) -> None:
    """A row that adds up the others would count them twice; it is kept aside."""
    _, run = sample
    table = run.kernels(top=1).table
    rows = list(table.rows())
    if len(rows) < 2:
        pytest.skip("one kernel, and no others")
    assert rows[-1]["name"] is None
    frame = table.to_pandas()
    assert list(frame["name"]) == [row["name"] for row in rows if row["name"] is not None]
    assert frame.attrs["sums"] == [row for row in rows if row["name"] is None]
    named = [row for row in rows if row["name"] is not None]
    assert table.to_polars().rows(named=True) == named
    assert len(table.to_pandas(sums=True)) == len(table.to_polars(sums=True)) == len(rows)
    assert "sums" not in run.kernels(top=0).to_pandas().attrs
