"""Names with quotes and no backslash before them, as Kineto has written them.

Every event must come out as it was, and so must those around it.
"""

import json
import random
from pathlib import Path

import pytest
from program import Outcome, Program

KNOWN = [
    'lambda "x" called',
    '{"device": "cpu", "dtype": "float32"}(12): run',
    '{"device": "cpu", "dtype": "float32"}',
    'cfg = [{"device": "cpu"}](3): run',
    '[{"a": "b"}]',
    '{"k": [{"a": "b"}]}',
    'print("a", "b")(3): <module>',
    '["a", "b"]',
    'print("}")',
    'd["a"]["b"]',
    'x = "]"',
    're.sub("]", "b")',
    'f("a", "k": 1, "b": {"c": []})',
    '"quoted"',
    '"',
    '""',
    '{"a": "b"}, {"c": "d"}',
    '"}',
    '"]}',
    '}"',
]  # fmt: skip
PIECES = [
    '"', '"', "{", "}", "[", "]", ",", ":", " ", ", ", ": ", '"a"', '"b c"', "(3)", "run", "0.1",
    '{"k": "v"}', '["x"]', "'", "<module>",
]  # fmt: skip
LAYOUTS = {
    "Kineto": (
        '  {{\n    "ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 7, "tid": 8,\n'
        '    "ts": {ts}, "dur": 2,\n    "args": {{\n      "Ev Idx": {number}, "Call stack": '
        '"{stack}", "External id": {number}\n    }}\n  }}',
        ",\n",
    ),
    "one line": (
        '{{"ph":"X","cat":"cpu_op","name":"{name}","pid":7,"tid":8,"ts":{ts},"dur":2,'
        '"args":{{"Ev Idx":{number},"Call stack":"{stack}","External id":{number}}}}}',
        ",",
    ),
    "stack last": (
        '{{"ph":"X","cat":"cpu_op","name":"{name}","pid":7,"tid":8,"ts":{ts},"dur":2,'
        '"args":{{"External id":{number},"Call stack":"{stack}"}}}}',
        ", ",
    ),
}


def random_names(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(PIECES, k=rng.randint(1, 9))) for _ in range(count)]


def trace_of(names: list[str], stacks: list[str], layout: str) -> str:
    event, between = LAYOUTS[layout]
    events = between.join(
        event.format(name=name, stack=stack, ts=10 * number, number=number + 1)
        for number, (name, stack) in enumerate(zip(names, stacks, strict=True))
    )
    return f'{{"schemaVersion": 1,\n"traceEvents": [\n{events}\n],\n"baseTimeNanoseconds": 5\n}}'


def rows_of(outcome: Outcome) -> list[tuple[object, ...]]:
    rows = [json.loads(line) for line in outcome.stdout.splitlines()][1:]
    keys = ("ordinal", "name", "pid", "tid", "start_ns", "external_id", "call_stack")
    return [tuple(row.get(key) for key in keys) for row in rows]


def expected(names: list[str], stacks: list[str]) -> list[tuple[object, ...]]:
    return [
        (number, name, "7", "8", 10_000 * number, number + 1, stack)
        for number, (name, stack) in enumerate(zip(names, stacks, strict=True))
    ]


def check(program: Program, path: Path, names: list[str], stacks: list[str]) -> None:
    for way in ({}, {"STEPSCOPE_REFERENCE_READER": "1"}, {"STEPSCOPE_BLOCK_BYTES": "256"}):
        outcome = program.run("export", "--to", "jsonl", path, env=way)
        assert rows_of(outcome) == expected(names, stacks), way


@pytest.mark.parametrize("layout", LAYOUTS)
def test_names_that_were_met(program: Program, tmp_path: Path, layout: str) -> None:
    path = tmp_path / "trace.json"
    plain = ["x"] * len(KNOWN)
    for names, stacks in ((KNOWN, plain), (plain, KNOWN)):
        path.write_text(trace_of(names, stacks, layout))
        check(program, path, names, stacks)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_that_is_not_understood_costs_only_itself(
    program: Program, tmp_path: Path, layout: str
) -> None:
    path = tmp_path / "trace.json"
    lost = 0
    for seed in range(8, 14):
        names, stacks = random_names(seed, 40), random_names(seed + 1000, 40)
        path.write_text(trace_of(names, stacks, layout))
        rows = {row[1:] for row in rows_of(program.run("export", "--to", "jsonl", path))}
        lost += len({row[1:] for row in expected(names, stacks)} - rows)
    assert lost <= 3  # of 240: that seem to end, and others that seem to go on as events do


@pytest.mark.parametrize("more", [[], ['a"}, b']], ids=len)
def test_they_are_written_again(program: Program, tmp_path: Path, more: list[str]) -> None:
    path, copy = tmp_path / "trace.json", tmp_path / "copy.json"
    names = KNOWN + more
    path.write_text(trace_of(names, KNOWN + ["s"] * len(more), "Kineto"))
    assert program.run("export", "--to", "chrome", "-o", copy, path).exit_status == 0
    events = json.loads(copy.read_text())["traceEvents"]
    assert [e["name"] for e in events if e["ph"] == "X"] == names
    assert [e["args"]["Call stack"] for e in events if e["ph"] == "X"][: len(KNOWN)] == KNOWN


@pytest.mark.parametrize(
    ("between", "lost"), [(",null,", 1), (",7,", 1), (",,", 0), (",", 0)], ids=repr
)
def test_what_follows_is_not_taken_for_a_name(
    program: Program, tmp_path: Path, between: str, lost: int
) -> None:
    """Also where it begins with a key that events do not have, so that none seems to follow."""
    event = '{{"own":1,"ph":"X","pid":7,"tid":8,"ts":{},"dur":2,"name":"{}"}}'
    events = [event.format(i, name) for i, name in enumerate(('a"b', "c", 'd"e', "f"))]
    path = tmp_path / "trace.json"
    path.write_text("[" + between.join(events) + "]")
    outcome = program.run("export", "--to", "jsonl", path)
    assert [row[1] for row in rows_of(outcome)] == ['a"b', "c", 'd"e', "f"]
    assert outcome.exit_status == (4 if lost else 0)


def test_an_event_that_is_cut_is_not_made_one_with_the_next(
    program: Program, tmp_path: Path
) -> None:
    whole = LAYOUTS["one line"][0]
    events = [whole.format(name=f"n{i}", stack="s", ts=10 * i, number=i + 1) for i in range(4)]
    path = tmp_path / "trace.json"
    for size in range(2, len(events[1])):
        path.write_text("[" + ",".join((events[0], events[1][:size], *events[2:])) + "]")
        names = [row[1] for row in rows_of(program.run("export", "--to", "jsonl", path))]
        assert [name for name in names if name != "n1"] == ["n0", "n2", "n3"], size


def test_a_bracket_in_a_name_at_the_end_of_a_block(program: Program, tmp_path: Path) -> None:
    names = [f"f{i}" if i % 7 else f'g{i}("}}]")' for i in range(60)]
    path = tmp_path / "trace.json"
    path.write_text(trace_of(names, ["s"] * 60, "one line"))
    for size in range(64, 700, 37):
        outcome = program.run(
            "export", "--to", "jsonl", path, env={"STEPSCOPE_BLOCK_BYTES": str(size)}
        )
        assert [row[1] for row in rows_of(outcome)] == names, size
