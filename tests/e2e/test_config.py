"""One table of keys: the reader, the schema, the printed default and Python say the same."""

import inspect
import json
import logging
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from program import ROOT, Program

import stepscope
from stepscope import _core
from stepscope.recording.snapshot_options import snapshot
from stepscope.recording.trace_options import trace_options

SCHEMA = ROOT / "docs" / "formats" / "config.schema.json"


def schema_of(program: Program) -> dict[str, Any]:
    done = program.run("config", "--schema")
    assert done.exit_status == 0
    schema: dict[str, Any] = json.loads(done.stdout)
    return schema


def default_lines(program: Program) -> list[str]:
    return program.run("config").stdout.decode().splitlines()


def leaves(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, one in schema["properties"].items():
        if "properties" in one:
            yield from leaves(one, f"{path}{name}.")
        else:
            yield f"{path}{name}", one


def plain(lines: list[str]) -> list[str]:
    """Groups and keys of the printed default, all of them uncommented."""
    from_anemoi = lines.index("#benchmark_profiler:")
    lines = [*lines[:from_anemoi], *(line[1:] for line in lines[from_anemoi:])]
    known = (re.match(r"( *)#?(\w+:.*)", line) for line in lines)
    return [found[1] + found[2] for found in known if found]


def one_by_one(lines: list[str]) -> Iterator[str]:
    """Each key alone, in its groups."""
    groups: list[str] = []
    for line in plain(lines):
        depth = (len(line) - len(line.lstrip())) // 2
        groups = groups[:depth]
        if line.endswith(":"):
            groups.append(line)
        else:
            yield "\n".join([*groups, line])


def test_the_published_schema_is_current(program: Program) -> None:
    assert program.run("config", "--schema").stdout == SCHEMA.read_bytes()
    jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA.read_text()))


def test_the_printed_default_sets_nothing(program: Program, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(program.run("config").stdout)
    done = program.run("config", tmp_path / "a.yaml")
    assert (done.exit_status, done.stdout) == (0, b"{}\n")


def test_every_key_of_the_default_can_be_uncommented(program: Program, tmp_path: Path) -> None:
    """And the schema has the same key with the same default."""
    schema = schema_of(program)
    known = {path: one for path, one in leaves(schema) if not one.get("deprecated")}
    seen = set()
    for text in one_by_one(default_lines(program)):
        (tmp_path / "a.yaml").write_text(text)
        done = program.run("config", tmp_path / "a.yaml")
        assert done.exit_status == 0, done.stderr
        content = yaml.safe_load(text)
        jsonschema.validate(content, schema)
        path, value = "", content
        while isinstance(value, dict):
            ((name, value),) = [(key, one) for key, one in value.items() if one is not None]
            path = f"{path}.{name}" if path else name
        seen.add(path)
        if "default" in known[path] and path != "max_bytes":
            assert known[path]["default"] == value, path
    assert seen == set(known)


@pytest.mark.parametrize(
    "text",
    [
        "folder: 3\nlogs: info\nmax_bytes: 500MB",
        "window: {epoch: 4}",
        "window: {steps: '1:2', epochs: [1]}",
        "trace: {keep: shapes}",
        "benchmark_profiler: {memory: {track_rank0_only: true}}",
        "snapshots: {}",
        "trace: {keep: [shape]}",
        "system: {rate: 101}",
        "system: {rate: 0}",
        "logs: loud",
        "window: {active: 0}",
        "window: {epochs: []}",
        "max_bytes: [1]",
        "stage: 3",
        "tags: {a: b}",
    ],
)
def test_reader_and_schema_agree(program: Program, tmp_path: Path, text: str) -> None:
    """What excludes each other is for the reader alone to know."""
    (tmp_path / "a.yaml").write_text(text)
    is_read = program.run("config", tmp_path / "a.yaml").exit_status == 0
    errors = list(
        jsonschema.Draft202012Validator(schema_of(program)).iter_errors(yaml.safe_load(text))
    )
    assert is_read == (not errors) or "epochs: [1]" in text, errors


def test_python_has_the_same_defaults(program: Program) -> None:
    defaults = {
        path: one["default"] for path, one in leaves(schema_of(program)) if "default" in one
    }
    profile = inspect.signature(stepscope.profile).parameters
    for name in ("ranges", "logs", "rank0_only", "max_bytes", "max_seconds", "first_step"):
        assert defaults[name] == profile[name].default, name
    assert defaults["first_epoch"] == profile["first_epoch"].default
    assert defaults["arguments"] == profile["arguments"].default
    assert profile["system"].default is defaults["system.enabled"]
    options = inspect.signature(snapshot).parameters
    for name in ("stacks", "frees", "max_entries", "rank0_only", "on_oom"):
        assert defaults[f"snapshot.{name}"] == options[name].default, name
    turns = inspect.signature(stepscope.schedule).parameters
    assert stepscope.schedule(active=1).warmup == defaults["window.warmup"]
    for name in ("repeat", "skip_first"):
        assert defaults[f"window.{name}"] == turns[name].default, name
    from stepscope.recording.settings import window_schedule
    from stepscope.recording.system import DEFAULT_HZ

    usual = window_schedule(None, None)
    assert (usual.wait, usual.active) == (defaults["window.wait"], defaults["window.active"])
    assert defaults["system.rate"] == DEFAULT_HZ


def test_python_knows_the_same_words(program: Program) -> None:
    known = dict(leaves(schema_of(program)))
    words = [*known["trace.keep"]["items"]["enum"], *known["trace.activities"]["items"]["enum"]]
    assert sorted(trace_options(words).words()) == sorted(words)
    for stacks in known["snapshot.stacks"]["enum"]:
        if stacks is not None:
            snapshot(stacks=stacks)


def test_levels_of_log_lines_are_those_of_python(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    levels = [
        word for word in dict(leaves(schema_of(program)))["logs"]["enum"] if isinstance(word, str)
    ]
    assert len(levels) == 5
    for word in levels:
        file.write_text(f"logs: {word}\n")
        assert json.loads(_core.config_json(str(file)))["logs"] == getattr(logging, word.upper())


def test_any_text_gives_settings_or_an_error_with_its_place(
    program: Program, tmp_path: Path
) -> None:
    """Lines of the default, uncommented, cut, swapped and spoilt at random."""
    chance = random.Random(20)
    lines = plain(default_lines(program))
    spoilers = ["", ":", "- ", "[", "{a: ", "&a *a", "!!int ", "\t", "\x00", "0x", "~", "é", "'"]
    file = tmp_path / "a.yaml"
    read = 0
    for _ in range(300):
        text = chance.sample(lines, chance.randrange(6))
        text.sort(key=lines.index)
        whole = "\n".join(text)
        for _ in range(chance.randrange(3)):
            at = chance.randrange(len(whole) + 1)
            whole = whole[:at] + chance.choice(spoilers) + whole[at + chance.randrange(3) :]
        file.write_text(whole, encoding="utf-8")
        try:
            json.loads(_core.config_json(str(file)))
            read += 1
        except stepscope.FormatError as error:
            assert re.match(rf"{re.escape(str(file))}:\d+:\d+: .", str(error)), str(error)
    assert read > 10


def test_settings_of_python_are_settings_of_the_file(program: Program) -> None:
    """But for objects that only a program has."""
    known = dict(leaves(schema_of(program)))
    groups = {"schedule": "window.", "epochs": "window.epochs", "trace": "trace."}
    groups |= {"snapshot": "snapshot.", "system": "system."}
    for name in inspect.signature(stepscope.profile).parameters:
        path = groups.get(name, name)
        assert name == "config" or any(key.startswith(path) for key in known), name
    for name in inspect.signature(snapshot).parameters:
        of_program = name in ("schedule", "models", "optimizers")
        assert of_program or f"snapshot.{name}" in known, name
    for name in inspect.signature(stepscope.schedule).parameters:
        assert f"window.{name}" in known, name
