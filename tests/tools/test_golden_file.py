import gzip
import pickle
from pathlib import Path

import pytest
import zstandard
from golden_file import Command, GoldenError, parse

TEXT = """\
# Two commands, one of which fails.
run info --json a.json
run export 'b c.json'
exit 3
-- a.json
{"traceEvents":[]}
-- sub/b.json.gz gzip
[]
-- stdout
one
-- stderr
"""


def test_commands_and_sections_are_read() -> None:
    golden = parse(TEXT)
    assert golden.commands == [
        Command(("info", "--json", "a.json")),
        Command(("export", "b c.json"), exit_status=3),
    ]
    assert [s.name for s in golden.inputs()] == ["a.json", "sub/b.json.gz"]
    assert golden.inputs()[0].content() == b'{"traceEvents":[]}\n'
    assert gzip.decompress(golden.inputs()[1].content()) == b"[]\n"
    assert golden.expected("stdout") == b"one\n"
    assert golden.expected("stderr") == b""


def test_rendering_gives_the_same_text_back() -> None:
    assert parse(TEXT).render() == TEXT


def test_stdout_not_given_is_empty_and_stderr_not_given_is_not_compared() -> None:
    golden = parse("run --version\n")
    assert golden.expected("stdout") == b""
    assert golden.expected("stderr") is None


@pytest.mark.parametrize(
    ("option", "text", "content"),
    [
        ("hex", "00 ff\n1f\n", b"\x00\xff\x1f"),
        ("pickle", '{"a": [1]}\n', pickle.dumps({"a": [1]}, protocol=4)),
        ("escaped", '{"a":"\\xff\\n"}\n', b'{"a":"\xff\\n"}\n'),
        ("cut", '{"a":\n', b'{"a":'),
        ("", "carriage\r\nreturn\n", b"carriage\r\nreturn\n"),
    ],
)
def test_options_make_bytes(option: str, text: str, content: bytes) -> None:
    assert parse(f"run info a\n-- a {option}\n{text}").inputs()[0].content() == content


def test_options_combine() -> None:
    section = parse("run info a\n-- a cut zstd\nx\n").inputs()[0]
    assert zstandard.ZstdDecompressor().decompress(section.content()) == b"x"


def test_new_output_replaces_the_old_and_keeps_every_byte() -> None:
    golden = parse(TEXT).with_output("stdout", b"no line end, \xff")
    again = parse(golden.render())
    assert again.expected("stdout") == b"no line end, \xff"
    assert again.inputs() == parse(TEXT).inputs()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# nothing\n", "no 'run' line"),
        ("walk info\n", "line 1: expected"),
        ("exit 1\nrun a\n", "line 1: expected"),
        ("run a\n-- ../x\n", "line 2: '../x' is not a relative file name"),
        ("run a\n-- x bzip\n", "line 2: unknown option bzip"),
        ("run a\n-- stdout gzip\n", "line 2: unknown option gzip"),
        ("run a\n-- x\n-- x\n", "line 3: a second section 'x'"),
        ("run a\n-- x\nabc", "the last line has no end"),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(GoldenError, match=message.replace("(", r"\(")):
        parse(text)


def test_a_file_with_any_bytes_is_read(tmp_path: Path) -> None:
    from golden_file import read

    path = tmp_path / "x.test"
    path.write_bytes(b"run a\n-- stdout\n\xfe\n")
    assert read(path).expected("stdout") == b"\xfe\n"
