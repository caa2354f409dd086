"""Answers and their tables: Arrow underneath, data frames on request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.errors import UsageError

TYPE_CHECKING = False  # as in analyses.py
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from stepscope import _core

_TYPES = ("int", "real", "bool", "text", "list")

# How a column says that a row without a value there adds other rows up.
_ADDS_UP = re.compile(r"null: (of )?all (the other|others|steps together|of it)")


class Column:
    """A column's name, type ("int", "real", "bool", "text", "list"), unit and meaning."""

    __slots__ = ("name", "type", "unit", "about")

    def __init__(self, name: str, type: str, unit: str, about: str) -> None:
        self.name = name
        self.type = type
        self.unit = unit
        self.about = about

    def __iter__(self) -> Iterator[str]:
        return iter((self.name, self.type, self.unit, self.about))

    def __repr__(self) -> str:
        unit = f", {self.unit}" if self.unit else ""
        return f"<{self.name}: {self.type}{unit}; {self.about}>"


class Table:
    """A table of numbers and names.

    It can be given to anything that reads Arrow (``pyarrow.table(t)``, ``polars.DataFrame(t)``,
    DuckDB) without copying. Times are whole nanoseconds and sizes bytes; `columns` says the unit.

    Example:
        >>> table = run.steps()["times"]
        >>> table["steps"].tolist(), table.columns[2].name, table.columns[2].unit
        ([3], 'mean_ns', 'ns')
    """

    def __init__(self, core: _core.Table) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """The table's name within its answer."""
        return self._core.name

    @property
    def about(self) -> str:
        """What one row is."""
        return self._core.about

    @property
    def columns(self) -> list[Column]:
        """Name, type, unit and meaning of every column."""
        return [
            Column(name, _TYPES[kind], unit, about)
            for name, kind, unit, about in self._core.columns()
        ]

    def __len__(self) -> int:
        return self._core.num_rows

    def _index(self, name: str) -> int:
        names = [column.name for column in self.columns]
        if name not in names:
            raise UsageError(
                f"table '{self.name}' has no column '{name}'; it has {', '.join(names)}"
            )
        return names.index(name)

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        """A column as a numpy array; numbers are not copied.

        Where values are missing, whole numbers become floats with NaN, and texts None.
        """
        column: np.ndarray[Any, Any] = self._array(self._index(name))
        return column

    def _array(self, index: int) -> Any:
        import numpy as np

        kind = self.columns[index].type
        values, missing = self._core.column(index), self._core.nulls(index)
        if kind == "text":
            codes, words = values
            texts = np.asarray([*words, None], dtype=object)
            if missing is not None:
                codes = np.where(missing, len(words), codes)
            return texts[codes]
        if kind == "list":
            offsets, items = values
            lists = np.empty(len(self), dtype=object)
            for row in range(len(self)):
                lists[row] = items[offsets[row] : offsets[row + 1]]
            if missing is not None:
                lists[missing.astype(bool)] = None
            return lists
        if kind == "bool":
            return values.astype(bool) if missing is None else _with_none(values, missing)
        if missing is None:
            return values
        out = values.astype(float)
        out[missing.astype(bool)] = np.nan
        return out

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every row as a dictionary of Python values; None where there is none.

        Example:
            >>> [row["step"] for row in run.steps()["steps"].rows()]
            [2, 3, 4]
        """
        names = [column.name for column in self.columns]
        for values in zip(*(self._core.values(i) for i in range(len(names))), strict=True):
            yield dict(zip(names, values, strict=True))

    def _adds_up(self) -> Any:
        """Which rows are the sum of others, left out or not; None: none of them."""
        adding = None
        for index, column in enumerate(self.columns):
            missing = self._core.nulls(index) if _ADDS_UP.search(column.about) else None
            if missing is not None:
                mask = missing.astype(bool)
                adding = mask if adding is None else adding | mask
        return adding if adding is not None and adding.any() else None

    def to_pandas(self, *, sums: bool = False) -> pd.DataFrame:
        """A pandas data frame, of rows of one kind: what adds up others is left out.

        Whole numbers with missing values become pandas' nullable integers. Units and meanings are
        in ``frame.attrs``, and the rows that were left out in ``frame.attrs["sums"]``.

        Args:
            sums: whether rows that add up others ("all the others together") stay among them.

        Example:
            >>> frame = run.steps()["steps"].to_pandas()
            >>> frame["step"].tolist(), frame.attrs["units"]["step_ns"]
            ([2, 3, 4], 'ns')
        """
        pandas = _needed("pandas")
        series = {}
        for index, column in enumerate(self.columns):
            missing = self._core.nulls(index)
            if missing is not None and column.type == "int":
                mask = missing.astype(bool)
                series[column.name] = pandas.arrays.IntegerArray(
                    self._core.column(index).copy(), mask
                )
            elif missing is not None and column.type == "bool":
                mask = missing.astype(bool)
                values = self._core.column(index).astype(bool)
                series[column.name] = pandas.arrays.BooleanArray(values, mask)
            else:
                series[column.name] = self._array(index)
        frame: pd.DataFrame = pandas.DataFrame(series)
        frame.attrs["units"] = {column.name: column.unit for column in self.columns}
        frame.attrs["about"] = {column.name: column.about for column in self.columns}
        adding = None if sums else self._adds_up()
        if adding is None:
            return frame
        rows = [row for row, adds in zip(self.rows(), adding, strict=True) if adds]
        kept: pd.DataFrame = frame[~adding].reset_index(drop=True)
        kept.attrs = {**frame.attrs, "sums": rows}
        return kept

    def to_polars(self, *, sums: bool = False) -> pl.DataFrame:
        """A polars data frame, of rows of one kind.

        Args:
            sums: whether rows that add up others ("all the others together") stay among them.
        """
        polars = _needed("polars")
        frame: pl.DataFrame = polars.DataFrame(self)
        adding = None if sums else self._adds_up()
        return frame if adding is None else frame.filter(polars.Series(~adding))

    def to_arrow(self) -> pa.Table:
        """A pyarrow table over the same memory."""
        table: pa.Table = _needed("pyarrow").table(self)
        return table

    def to_csv(self) -> str:
        """All rows in full precision, as `stepscope analyze -f csv` prints them."""
        return self._core.csv()

    def __arrow_c_schema__(self) -> object:
        return self._core.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._core.__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._core.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"{self.name}: {self.about}\n" + self._core.text(width=100, rows=20).rstrip("\n")

    def _repr_html_(self) -> str:
        return self._core.html(rows=50)


class Answer:
    """What an analysis answered: tables, and sentences about what could not be answered.

    The first table is the main one: `to_pandas()` and its like give that one. The others are
    reached by name: ``answer["by_device"]`` or ``answer.tables``.

    Example:
        >>> answer = run.memory_leaks()
        >>> len(answer.table), answer.remarks[0]
        (0, "'memory-leaks' needs a memory snapshot, and this is a trace; ...")
    """

    def __init__(self, core: _core.Answer) -> None:
        self._core = core
        self.tables: dict[str, Table] = {t.name: Table(t) for t in core.tables()}

    @property
    def name(self) -> str:
        """The analysis."""
        return self._core.name

    @property
    def question(self) -> str:
        """What it answers, in words."""
        return self._core.question

    @property
    def remarks(self) -> list[str]:
        """Plain sentences: what could not be answered, and why."""
        return self._core.remarks

    @property
    def table(self) -> Table:
        """The main table."""
        return next(iter(self.tables.values()))

    def __getitem__(self, table: str) -> Table:
        if table not in self.tables:
            known = ", ".join(self.tables)
            raise UsageError(f"'{self.name}' has no table '{table}'; it has {known}")
        return self.tables[table]

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables.values())

    def __len__(self) -> int:
        return len(self.tables)

    def to_pandas(self, *, sums: bool = False) -> pd.DataFrame:
        """The main table as a pandas data frame; the remarks are in ``frame.attrs``."""
        frame = self.table.to_pandas(sums=sums)
        frame.attrs["remarks"] = self.remarks
        return frame

    def to_polars(self, *, sums: bool = False) -> pl.DataFrame:
        """The main table as a polars data frame."""
        return self.table.to_polars(sums=sums)

    def to_arrow(self) -> pa.Table:
        """The main table as a pyarrow table."""
        return self.table.to_arrow()

    def __repr__(self) -> str:
        # Empty tables say nothing where a sentence says why they are empty.
        is_answered = not self.remarks or any(len(table) for table in self)
        tables = [repr(table) for table in self] if is_answered else []
        return "\n\n".join([self.question, *tables, *self.remarks])

    def _repr_html_(self) -> str:
        return self._core.html()


class Diff(Answer):
    """What changed from one run to another: an `Answer` that opens with a sentence.

    Example:
        >>> diff = run.diff(run)
        >>> diff.sentence
        'step ... (+0 % ± ... %): no difference beyond noise'
        >>> list(diff.tables)
        ['times', 'parts', 'kernels', 'operators', 'memory', 'sides']
    """

    def __init__(self, core: _core.Compared) -> None:
        super().__init__(core.answer)
        self.sentence: str = core.sentence

    def __repr__(self) -> str:
        return "\n\n".join([self.sentence, *map(repr, self), *self.remarks])


def _with_none(values: Any, missing: Any) -> Any:
    out = values.astype(bool).astype(object)
    out[missing.astype(bool)] = None
    return out


def _needed(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"this needs {module}: pip install {module}") from error
