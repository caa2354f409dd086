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

    def __repr__(self) -> str:
        return "charts, one per analysis: " + ", ".join(dir(self))

    def __dir__(self) -> list[str]:
        from stepscope.analyses import descriptors, python_name

        return [python_name(about["name"]) for about in descriptors()]


def figure(table: Table, drawing: dict[str, Any], title: str) -> Any:
    """A plotly figure of a table; drawing is {"chart", "x", "y", "group"} of its descriptor.

    One chart below the other for each value of the group, and for each rank.
    """
    try:
        import plotly.graph_objects as go
        from plotly.subplots import make_subplots
    except ImportError as error:
        raise ImportError("charts need plotly: pip install 'stepscope[plots]'") from error
    groups = _groups(table, drawing)
    if drawing["chart"] == "tree":
        kind, mode = "domain", _tree
    else:
        kind, mode = "xy", _series
    shown = make_subplots(
        rows=max(1, len(groups)),
        cols=1,
        subplot_titles=list(groups) if len(groups) > 1 else None,
        specs=[[{"type": kind}] for _ in range(max(1, len(groups)))],
    )
    for number, rows in enumerate(groups.values(), 1):
        mode(go, shown, number, table, drawing, rows)
    shown.update_layout(
        title=title,
        barmode="stack" if drawing["chart"] == "stack" else "group",
        height=max(450, 320 * len(groups)),
    )
    return shown


def _groups(table: Table, drawing: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    names = [column.name for column in table.columns]
    keys = [drawing["group"]] if drawing.get("group") else []
    if "rank" in names and "rank" not in (drawing["x"], *keys):
        keys.insert(0, "rank")
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in table.rows():
        label = ", ".join(f"{_words(key)} {row[key]}" for key in keys)
        groups.setdefault(label, []).append(row)
    return groups


def _series(
    go: Any,
    shown: Any,
    number: int,
    table: Table,
    drawing: dict[str, Any],
    rows: list[dict[str, Any]],
) -> None:
    columns = {column.name: column for column in table.columns}
    scale, unit = _scale(columns[drawing["y"][0]].unit)
    named = columns[drawing["x"]].type == "text"
    x_scale, x_unit = (1.0, "") if named else _scale(columns[drawing["x"]].unit)
    lines = _lines(drawing, rows)
    for line, (name, y, mine) in enumerate(lines):
        full: list[Any] = [row[drawing["x"]] or ("the rest" if named else 0) for row in mine]
        places = list(range(len(mine))) if named else [_scaled(value, x_scale) for value in full]
        values = [_scaled(row[y], scale) for row in mine]
        look = {
            "x": places,
            "y": values,
            "name": name,
            "hovertext": full,
            "legendgroup": name,
            "showlegend": number == 1 and len(lines) > 1,
            "marker": {"color": _COLOURS[line % len(_COLOURS)]},
        }
        kind = go.Scatter(mode="lines", **look) if drawing["chart"] == "line" else go.Bar(**look)
        shown.add_trace(kind, row=number, col=1)
    shown.update_yaxes(title=unit, row=number, col=1)
    if named:
        texts = [_short(name) for name in full]
        shown.update_xaxes(tickvals=places, ticktext=texts, row=number, col=1)
    else:
        words = f"{_words(drawing['x'])} ({x_unit})" if x_unit else _words(drawing["x"])
        shown.update_xaxes(title=words, row=number, col=1)


def _lines(
    drawing: dict[str, Any], rows: list[dict[str, Any]]
) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Name, column and rows of every line: a column each, or a part of one column each."""
    if not drawing.get("parts"):
        return [(_words(y), y, rows) for y in drawing["y"]]
    parts: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        parts.setdefault(row[drawing["parts"]] or "the rest", []).append(row)
    return [(name, drawing["y"][0], mine) for name, mine in parts.items()]


def _tree(
    go: Any,
    shown: Any,
    number: int,
    table: Table,
    drawing: dict[str, Any],
    rows: list[dict[str, Any]],
) -> None:
    y = drawing["y"][0]
    scale, unit = _scale({column.name: column.unit for column in table.columns}[y])
    parents: list[str] = []
    above: list[int] = []  # the rows on the way down to this one
    values = [_scaled(row[y], scale) or 0.0 for row in rows]
    own = list(values)  # what the branches below do not have; plotly adds it up again
    for place, row in enumerate(rows):
        del above[row["depth"] :]
        parents.append(str(above[-1]) if above else "")
        if above:
            own[above[-1]] -= values[place]
        above.append(place)
    tree = go.Icicle(
        ids=[str(place) for place in range(len(rows))],
        parents=parents,
        labels=[row[drawing["x"]] or "the rest" for row in rows],
        values=[max(0.0, value) for value in own],
        customdata=values,
        branchvalues="remainder",
        hovertemplate=f"%{{label}}<br>%{{customdata:.3f}} {unit}<extra></extra>",
        tiling={"orientation": "v"},
    )
    shown.add_trace(tree, row=number, col=1)


_COLOURS = (
    "#2f7ed8", "#e4572e", "#4d9f5b", "#8e5bb5", "#d9a400", "#17a2b8", "#c2547d", "#6b7280",
    "#9acd32", "#3b3b98", "#a0522d",
)  # fmt: skip


def _scaled(value: float | None, scale: float) -> float | None:
    if value is None:
        return None
    return value * scale if scale != 1.0 else value


def _scale(unit: str) -> tuple[float, str]:
    if unit.startswith("share"):
        return 100.0, "%"
    known = {"ns": (1e-6, "ms"), "bytes": (1 / 2**20, "MiB")}
    return known.get(unit, (1.0, "" if unit in ("number", "count") else unit))


def _short(name: str, most: int = 28) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _words(column: str) -> str:
    for ending in ("_ns", "_bytes", "_share"):
        column = column.removesuffix(ending)
    return column.replace("_", " ")
