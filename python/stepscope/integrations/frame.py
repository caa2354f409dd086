"""A small table with names for its columns, as reports are kept and shown."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Frame:
    """Rows of texts and numbers.

    >>> print(Frame(["metric", "value"], [["rate", "2.50000"]]).csv(), end="")
    ,metric,value
    0,rate,2.50000
    """

    columns: Sequence[str]
    rows: list[list[Any]] = field(default_factory=list)

    def csv(self) -> str:
        """As pandas writes it: a column without a name counts the rows."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["", *self.columns])
        writer.writerows([number, *row] for number, row in enumerate(self.rows))
        return out.getvalue()

    def columns_of_values(self) -> dict[str, list[Any]]:
        """By column, as trackers take tables."""
        return {name: [row[i] for row in self.rows] for i, name in enumerate(self.columns)}

    def text(self, most: int = 60) -> str:
        """With lines around the cells; long ones are cut."""
        cells = [
            [_cut(str(cell), most) for cell in row] for row in [list(self.columns), *self.rows]
        ]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        line = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
        rows = [
            "| "
            + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            + " |"
            for row in cells
        ]
        return "\n".join([line, rows[0], line, *rows[1:], line])


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
