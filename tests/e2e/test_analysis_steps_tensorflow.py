"""The split of TensorFlow's profiler against an oracle that sweeps in the order of its page."""

import re
from pathlib import Path

import pytest
from answers import Row, short_name, tables, traces
from oracle.events import Event
from oracle.host import host_roles, host_spans, share_out, times
from oracle.intervals import union
from oracle.random_trace import random_trace
from oracle.trace import read_trace
from oracle.work import View, Work, view_of, view_of_file
from program import Program

# By priority, with the part each class goes to.
CLASSES = {
    "narrow": "compute_16bit", "wide": "compute_32bit", "unsaid": "compute_unknown",
    "DtoH": "output", "DtoD": "device_to_device", "wait": "input", "collective": "collectives",
    "launch": "kernel_launch", "HtoD": "input", "compile": "compilation", "host": "host_compute",
}  # fmt: skip
PARTS = (*dict.fromkeys(CLASSES.values()), "other")

NARROW = re.compile(
    r"f16|fp16|float16|(?<!rotate_)half|h884|h1688|h16816|hmma|hgemm|fp8|float8|e4m3|e5m2|e2m1"
    r"|i8i8|opaquetype<2u?>|int8_t|imma|i8816"
)
WIDE = re.compile(
    r"f32|fp32|float32|f64|fp64|sgemm|dgemm|scudnn|s1688gemm|opaquetype<4u?>|opaquetype<8>"
    r"|\b(float|double)\b"
)
COMPILE = re.compile(
    r"\(dynamo_timed\)|ModuleLoad|LibraryLoadData|nvrtcCompile|hiprtcCompile|Module Loading"
    r"|Function Loading|zeModuleCreate"
)


def width(kernel: str) -> str:
    """Of the numbers a kernel computes with, by its name."""
    name = kernel.lower()
    if letter := re.match(r"nvjet_(?:sm[^_]*_)?(.)|cijk_[^_]*_[^_]*_(.)", name):
        found = letter[1] or letter[2]
        return "narrow" if found in "htbqo" else "wide" if found in "sdcz" else "unsaid"
    return "narrow" if NARROW.search(name) else "wide" if WIDE.search(name) else "unsaid"


def class_of_work(work: Work) -> str:
    """The class of a kernel, copy or memset."""
    if work.sort == "communication":
        return "collective"
    if work.sort == "compute":
        return width(work.event.name)
    found = re.search("HtoD|DtoH|DtoD", work.event.name)
    return found[0] if found else "DtoD"


def class_of_call(event: Event) -> str:
    """The class of a runtime or driver call."""
    if event.work or re.search("Launch|Memcpy|Memset", event.name):
        return "launch"
    return "compile" if COMPILE.search(event.name) else "host"


def check(found: dict[str, list[Row]], view: View) -> None:
    """Both tables of a run of one window."""
    spans = host_spans(view)
    roles = host_roles(view)
    calls = [e for e in spans if e.kind in ("runtime", "driver")]
    compiling = [
        e
        for e in spans
        if e.kind in ("cpu_op", "annotation", "overhead") and COMPILE.search(e.name)
    ]
    sets = {name: union(w.interval for w in view.work if class_of_work(w) == name)
            for name in CLASSES}  # fmt: skip
    for name in ("launch", "compile", "host"):
        sets[name] = union(sets[name] + times(e for e in calls if class_of_call(e) == name))
    sets["wait"] = roles["dataloader"]
    sets["collective"] = union(sets["collective"] + roles["communication"])
    sets["compile"] = union(sets["compile"] + times(compiling))
    sets["host"] = union(sets["host"] + roles["cpu_exec"])

    sums = dict.fromkeys(PARTS, 0)
    for row, step in zip(found["steps"], view.steps, strict=True):
        lengths = share_out([sets[name] for name in CLASSES], step.span)
        expected = dict.fromkeys(PARTS, 0)
        for part, length in zip([*CLASSES.values(), "other"], lengths, strict=True):
            expected[part] += length
            sums[part] += length
        assert {part: row[f"{part}_ns"] for part in PARTS} == expected
        assert sum(expected.values()) == row["step_ns"] == step.span[1] - step.span[0]
    assert {row["part"]: row["sum_ns"] for row in found["parts"]} == sums


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_every_trace(path: Path, program: Program) -> None:
    check(tables(program, "steps-tensorflow", path), view_of_file(path))


@pytest.mark.parametrize("seed", range(30))
def test_traces_of_everything_at_once(seed: int, program: Program, tmp_path: Path) -> None:
    data = random_trace(seed)
    path = tmp_path / "trace.json"
    path.write_bytes(data)
    check(tables(program, "steps-tensorflow", path), view_of(read_trace(data)))


def test_bf16_training_is_16_bit(program: Program, samples: Path) -> None:
    found = tables(program, "steps-tensorflow", samples / "gpt_bf16.json.gz")["parts"]
    shares = {row["part"]: row["share"] for row in found}
    assert shares["compute_16bit"] > 0.5 * sum(
        shares[part] for part in ("compute_16bit", "compute_32bit", "compute_unknown")
    )
