"""Interactive charts of any analysis, drawn with plotly as its descriptor says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.analyses import Analyses
    from stepscope.table import Table


class Plots:
    """`run.plot.idle_time(steps=[3])` draws what `run.idle_time(steps=[3])` answers."""

    def __init__(self, run: Analyses) -> None:
        self._run = run

    def __getattr__(self, name: str) -> Callable[..., Any]:
        from stepscope.analyses import descriptors, python_name

        by_name = {python_name(about["name"]): about for about in descriptors()}
        if name not in by_name:
            raise AttributeError(f"there is no analysis '{name}'; there are {', '.join(by_name)}")

        def draw(*, table: str | None = None, **options: Any) -> Any:
            answer = self._run.ask(by_name[name]["name"], **options)
            shapes = {t["name"]: t for t in by_name[name]["tables"]}
            drawn = [n for n, shape in shapes.items() if shape.get("drawing")]
            if table is not None and table not in shapes:
                raise UsageError(f"'{name}' has no table '{table}'; it has {', '.join(shapes)}")
            chosen = table or (drawn[0] if drawn else None)
            if chosen is None or not shapes[chosen].get("drawing"):
                raise UsageError(
                    f"'{name}' has no table that is drawn; use to_pandas() and your own"
                )
            return figure(answer[chosen], shapes[chosen]["drawing"], by_name[name]["title"])

        return draw

    def __dir__(self) -> list[str]:
        from stepscope.analyses import descriptors, python_name

        return [python_name(about["name"]) for about in descriptors()]


def figure(table: Table, drawing: dict[str, Any], title: str) -> Any:
    """A plotly figure of a table; drawing is {"chart", "x", "y", "group"} of its descriptor."""
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise ImportError("charts need plotly: pip install 'stepscope[plots]'") from error
    units = {column.name: column.unit for column in table.columns}
    scale, unit = _scale(units.get(drawing["y"][0], ""))
    shown = go.Figure()
    for y in drawing["y"]:
        values = [None if v is None else v * scale for v in table[y].tolist()]
        x = table[drawing["x"]].tolist() if drawing.get("x") else list(range(len(values)))
        if drawing["chart"] == "line":
            shown.add_trace(go.Scatter(x=x, y=values, name=_words(y), mode="lines"))
        else:
            shown.add_trace(go.Bar(x=x, y=values, name=_words(y)))
    shown.update_layout(
        title=title,
        xaxis_title=_words(drawing.get("x") or ""),
        yaxis_title=unit,
        barmode="stack" if drawing["chart"] == "stack" else "group",
    )
    return shown


def _scale(unit: str) -> tuple[float, str]:
    return {"ns": (1e-6, "ms"), "bytes": (1 / 2**20, "MiB")}.get(unit, (1.0, unit))


def _words(column: str) -> str:
    for ending in ("_ns", "_bytes", "_share"):
        column = column.removesuffix(ending)
    return column.replace("_", " ")
