"""What is no JSON in the header costs only its own value.

torch's add_metadata_json writes what it is given, JSON or not.
"""

import json
from pathlib import Path

import pytest
from program import Program

VALUES = {
    "words": "hello world",
    "a command": "python train.py --lr 0.1",
    "a date": "2024-01-01 10:00:00",
    "a Namespace": "Namespace(lr=0.1, name='x')",
    "two words": "a, b",
    "YAML": "lr: 0.1",
    "a dict": "{'lr': 0.1, 'name': 'x'}",
    "a dict with quotes": """{'a': "x", "b": 2}""",
    "a list": "['a', 'b']",
    "a tuple": "(1, 2)",
    "nothing": "",
    "an open brace": '{"a": 1',
    "an open quote": '{"a": "1}',
    "a brace too many": '{"a":1}}',
    "quotes": '"he said "hi""',
    "two strings": '"a", "b"',
    "braces too many": '{"a":1}}}}',
    "a key of headers inside": """{'a': {"host_name": "x"}}""",
    "braces in a text": """{'x': {'a': '}}', "b": 1}}""",
    "an object inside": 'Namespace(a={"x": {"host_name": "q"}})',
}
EVENT = '{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2}'
RANK = '"distributedInfo":{"backend":"nccl","rank":6,"world_size":8}'
BASE = '"baseTimeNanoseconds":1700000000000000000'
LAYOUTS = {
    "one line, before": '{"schemaVersion":1,"user":VALUE,RANK,BASE,"traceEvents":[EVENT]}',
    "one line, after": '{"schemaVersion":1,"traceEvents":[EVENT],"user":VALUE,RANK,BASE}',
    "lines, before": '{\n  "user": VALUE,\n  RANK,\n  BASE,\n  "traceEvents": [\n  EVENT\n  ]\n}',
    "lines, after": '{\n  "traceEvents": [\n  EVENT\n  ],\n  "user": VALUE,\n  RANK,\n  BASE\n}',
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_value_alone_is_lost(program: Program, tmp_path: Path, value: str, layout: str) -> None:
    text = LAYOUTS[layout].replace("RANK", RANK).replace("BASE", BASE)
    path = tmp_path / "trace.json"
    path.write_text(text.replace("EVENT", EVENT).replace("VALUE", VALUES[value]))
    outcome = program.run("export", "--to", "jsonl", path)
    assert outcome.exit_status == 0, outcome.stderr
    header, event = map(json.loads, outcome.stdout.splitlines())
    assert (header["rank"], header["header"]["base_time_ns"]) == (6, "1700000000000000000")
    assert (event["name"], event["ordinal"]) == ("a", 0)
    notes = json.loads(program.run("info", "--json", path).stdout)["notes"]
    assert {"unreadable_metadata", "unescaped_quote"} & {note["id"] for note in notes}


def test_a_key_without_a_value(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(f'{{"x",{RANK},"traceEvents":[{EVENT}]}}')
    about = json.loads(program.run("info", "--json", path).stdout)
    assert about["windows"][0]["rank"] == 6
    assert "unreadable_metadata" in {note["id"] for note in about["notes"]}


@pytest.mark.parametrize("size", [10, 5_000_000])
def test_valid_values_may_hold_what_headers_hold(
    program: Program, tmp_path: Path, size: int
) -> None:
    own = {"a": {"distributedInfo": {"rank": 9}, "baseTimeNanoseconds": 77, "pad": "x" * size}}
    own["b"] = {"traceEvents": [{"ph": "X", "name": "no event", "ts": 1}]}
    path = tmp_path / "trace.json"
    for text in (
        f'{{"user":{json.dumps(own)},{RANK},{BASE},"traceEvents":[{EVENT}]}}',
        f'{{"traceEvents":[{EVENT}],"user":{json.dumps(own)},{RANK},{BASE}}}',
    ):
        path.write_text(text)
        outcome = program.run("export", "--to", "jsonl", path)
        header, event = map(json.loads, outcome.stdout.splitlines())
        assert (header["rank"], header["header"]["base_time_ns"]) == (6, "1700000000000000000")
        assert (outcome.exit_status, event["name"]) == (0, "a")


@pytest.mark.parametrize("piece", ["\n", ", ", '"a",', '"a":"x,', '"a":{\n', "}", '{"a":['])
def test_damage_takes_no_longer_than_the_text_is_long(
    program: Program, tmp_path: Path, piece: str
) -> None:
    """What is quadratic takes hours with this."""
    path = tmp_path / "trace.json"
    path.write_text(f'{{"user":hello{piece * (4_000_000 // len(piece))},"traceEvents":[{EVENT}]}}')
    assert program.run("info", path, timeout=100).exit_status in (0, 3)
