"""Charts follow the descriptors, for every table that is drawn."""

from typing import Any

import pytest
from program import ROOT

import stepscope
from stepscope.analyses import descriptors, python_name

DATA = ROOT / "examples" / "data"
DRAWN = [
    (about, table["name"])
    for about in descriptors()
    for table in about["tables"]
    if table.get("drawing")
]


@pytest.fixture(scope="module")
def runs() -> list[stepscope.Run]:
    both = [DATA / "snap_gpt_leak.pickle.gz", DATA / "snap_oracle.pickle.gz"]
    return [
        stepscope.open(DATA / "gpt_stack.json.gz"),
        stepscope.open(DATA / "ddp"),
        stepscope.open_memory(both),
    ]


@pytest.mark.parametrize(
    ("about", "table"), DRAWN, ids=[f"{about['name']}.{table}" for about, table in DRAWN]
)
def test_every_drawn_table_has_a_chart(
    runs: list[stepscope.Run], about: dict[str, Any], table: str
) -> None:
    drawing = next(t["drawing"] for t in about["tables"] if t["name"] == table)
    for run in runs:
        answer = run.ask(about["name"])
        figure = getattr(run.plot, python_name(about["name"]))(table=table)
        rows = list(answer[table].rows())
        drawn = sum(len(t.values if t.type == "icicle" else t.y) for t in figure.data)
        lines = 1 if drawing["chart"] == "tree" else len(drawing["y"])
        assert drawn == len(rows) * lines
        figure.to_json()


def test_ranks_are_drawn_apart() -> None:
    figure = stepscope.open(DATA / "ddp").plot.steps()
    assert [note.text for note in figure.layout.annotations] == ["rank 0", "rank 1"]
    assert [len(trace.y) for trace in figure.data] == [8, 8]


def test_values_are_those_of_the_table_in_readable_units() -> None:
    run = stepscope.open(DATA / "gpt_bf16.json.gz")
    figure = run.plot.steps()
    means = run.steps().table["mean_ns"].tolist()
    assert list(figure.data[0].y) == pytest.approx([mean / 1e6 for mean in means])
    assert figure.layout.yaxis.title.text == "ms"


def test_a_tree_keeps_its_branches() -> None:
    run = stepscope.open(DATA / "gpt_stack.json.gz")
    tree = run.plot.modules().data[0]
    by_id = dict(zip(tree.ids, tree.labels, strict=True))
    above = {by_id[i]: by_id.get(p, "") for i, p in zip(tree.ids, tree.parents, strict=True)}
    assert above["Block_0"] == "GPT_0"
    whole = run.modules().table["device_ns"].tolist()
    assert list(tree.customdata) == pytest.approx([ns / 1e6 for ns in whole])
    assert min(tree.values) >= 0


def test_what_is_not_there_is_said() -> None:
    run = stepscope.open(DATA / "gpt_bf16.json.gz")
    with pytest.raises(AttributeError, match="there is no analysis 'nothing'"):
        _ = run.plot.nothing
    with pytest.raises(stepscope.UsageError, match="has no table 'no'"):
        run.plot.steps(table="no")
    assert "idle_time" in dir(run.plot)
