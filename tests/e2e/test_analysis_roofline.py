"""roofline against loops that count every multiply-add one by one, and sums over real traces."""

import itertools
import json
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
from answers import short_name, tables, traces
from oracle.work import view_of_file
from program import Program

TYPES = {"c10::BFloat16": 2, "float": 4, "double": 8, "c10::Half": 2}


class Call:
    """An operator's inputs as torch records them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dims: list[Any] = []
        self.types: list[str] = []
        self.values: list[str] = []

    def tensor(self, kind: str, *dims: int) -> "Call":
        self.dims.append(list(dims))
        self.types.append(kind)
        self.values.append("")
        return self

    def value(self, text: str) -> "Call":
        self.dims.append([])
        self.types.append("ScalarList" if text.startswith("[") else "Scalar" if text else "")
        self.values.append(text)
        return self

    @property
    def shapes(self) -> str:
        """As the table writes them."""
        given = zip(self.dims, self.types, strict=True)
        named = ["×".join(map(str, d)) for d, t in given if t in TYPES]
        groups = [(name, len(list(same))) for name, same in itertools.groupby(named)]
        return ", ".join(n if times == 1 else f"{times} of {n}" for n, times in groups)


def count(*ranges: int) -> int:
    """One by one, as a machine would."""
    return sum(1 for _ in itertools.product(*map(range, ranges)))


def mm(rng: Random, kind: str) -> tuple[Call, int]:
    m, n, k = (rng.randint(1, 6) for _ in range(3))
    return Call("aten::mm").tensor(kind, m, k).tensor(kind, k, n), 2 * count(m, n, k)


def addmm(rng: Random, kind: str) -> tuple[Call, int]:
    m, n, k = (rng.randint(1, 6) for _ in range(3))
    call = Call("aten::addmm").tensor(kind, n).tensor(kind, m, k).tensor(kind, k, n)
    return call.value("1").value("1"), 2 * count(m, n, k) + count(m, n)


def bmm(rng: Random, kind: str) -> tuple[Call, int]:
    b, m, n, k = (rng.randint(1, 5) for _ in range(4))
    return Call("aten::bmm").tensor(kind, b, m, k).tensor(kind, b, k, n), 2 * count(b, m, n, k)


def linear(rng: Random, kind: str) -> tuple[Call, int]:
    b, m, n, k = (rng.randint(1, 5) for _ in range(4))
    call = Call("aten::linear").tensor(kind, b, m, k).tensor(kind, n, k).value("")
    return call, 2 * count(b, m, n, k)


class Shape:
    """A random convolution that fits."""

    def __init__(self, rng: Random) -> None:
        self.groups = rng.choice([1, 1, 2, 3])
        self.i, self.o = self.groups * rng.randint(1, 2), self.groups * rng.randint(1, 2)
        self.n = rng.randint(1, 2)
        self.kernel = rng.randint(1, 3), rng.randint(1, 3)
        self.stride = rng.randint(1, 3), rng.randint(1, 3)
        self.pad = rng.randint(0, 2), rng.randint(0, 2)
        self.dilation = rng.randint(1, 2), rng.randint(1, 2)
        self.size = rng.randint(5, 8), rng.randint(5, 8)

    def places(self) -> int:
        """Where the kernel can be put, tried one after the other."""
        found = 1
        for size, k, s, p, d in zip(
            self.size, self.kernel, self.stride, self.pad, self.dilation, strict=True
        ):
            here = [at for at in range(0, 99, s) if at + d * (k - 1) < size + 2 * p]
            found *= len(here)
        return found

    def out(self) -> list[int]:
        return [
            len([at for at in range(0, 99, s) if at + d * (k - 1) < size + 2 * p])
            for size, k, s, p, d in zip(
                self.size, self.kernel, self.stride, self.pad, self.dilation, strict=True
            )
        ]


def text(numbers: tuple[int, int]) -> str:
    return f"[{numbers[0]}, {numbers[1]}]"


def convolution(rng: Random, kind: str) -> tuple[Call, int]:
    s = Shape(rng)
    call = Call("aten::convolution").tensor(kind, s.n, s.i, *s.size)
    call.tensor(kind, s.o, s.i // s.groups, *s.kernel).value("")
    call.value(text(s.stride)).value(text(s.pad)).value(text(s.dilation))
    call.value("False").value("[0, 0]").value(str(s.groups))
    return call, 2 * count(s.n, s.places(), s.o, s.i // s.groups, *s.kernel)


def transposed(rng: Random, kind: str) -> tuple[Call, int]:
    """Every element of the input is spread over the kernel, for the outputs of its group."""
    s = Shape(rng)
    s.pad = 0, 0
    call = Call("aten::convolution").tensor(kind, s.n, s.i, *s.size)
    call.tensor(kind, s.i, s.o // s.groups, *s.kernel).value("")
    call.value(text(s.stride)).value(text(s.pad)).value(text(s.dilation))
    call.value("True").value("[0, 0]").value(str(s.groups))
    return call, 2 * count(s.n, s.i, *s.size, s.o // s.groups, *s.kernel)


def backward(rng: Random, kind: str) -> tuple[Call, int]:
    s = Shape(rng)
    mask = rng.choice([(True, True), (False, True), (True, False)])
    call = Call("aten::convolution_backward").tensor(kind, s.n, s.o, *s.out())
    call.tensor(kind, s.n, s.i, *s.size).tensor(kind, s.o, s.i // s.groups, *s.kernel)
    call.value("[0]").value(text(s.stride)).value(text(s.pad)).value(text(s.dilation))
    call.value("False").value("[0, 0]").value(str(s.groups))
    call.value(f"[{mask[0]}, {mask[1]}, False]")
    once = count(s.n, s.places(), s.o, s.i // s.groups, *s.kernel)
    return call, 2 * once * sum(mask)


def attention(rng: Random, kind: str) -> tuple[Call, int]:
    b, h, group = rng.randint(1, 2), rng.randint(1, 2), rng.randint(1, 2)
    queries, keys, d = rng.randint(1, 6), rng.randint(1, 6), rng.randint(1, 4)
    causal = rng.random() < 0.5
    call = Call("aten::_scaled_dot_product_flash_attention").tensor(kind, b, h * group, queries, d)
    call.tensor(kind, b, h, keys, d).tensor(kind, b, h, keys, d)
    call.value("0.").value(str(causal)).value("False").value("0.1")
    pairs = sum(1 for i in range(queries) for j in range(keys) if not causal or j <= i)
    return call, 2 * b * h * group * pairs * count(d) * 2


def attention_backward(rng: Random, kind: str) -> tuple[Call, int]:
    b, h, s, d = rng.randint(1, 2), rng.randint(1, 2), rng.randint(1, 6), rng.randint(1, 4)
    causal = rng.random() < 0.5
    call = Call("aten::_flash_attention_backward")
    for _ in range(5):
        call.tensor(kind, b, s, h, d)
    call.tensor("float", b, h, s)
    call.value("").value("").value(str(s)).value(str(s)).value("0.").value(str(causal))
    for _ in range(3):
        call.value("")
    call.value("").value("")
    pairs = sum(1 for i in range(s) for j in range(s) if not causal or j <= i)
    return call, 2 * b * h * pairs * d * 5


MAKERS = [
    mm, addmm, bmm, linear, convolution, transposed, backward, attention, attention_backward,
]  # fmt: skip


def recorded(calls: list[Call]) -> bytes:
    """Each call launches one kernel."""
    events: list[dict[str, Any]] = []
    for number, call in enumerate(calls, 1):
        at = 10 * number
        host = {"ph": "X", "pid": 1, "tid": 1}
        args = {"Input Dims": call.dims, "Input type": call.types, "Concrete Inputs": call.values}
        events += [
            {**host, "cat": "cpu_op", "name": call.name, "ts": at, "dur": 8, "args": args},
            {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 1, "dur": 1,
             "args": {"correlation": number}},
            {"ph": "X", "cat": "kernel", "name": "k", "ts": at + 3, "dur": 4, "pid": 0, "tid": 7,
             "args": {"device": 0, "stream": 7, "correlation": number}},
        ]  # fmt: skip
    return json.dumps({"traceEvents": events}).encode()


@pytest.mark.parametrize("seed", range(6))
def test_every_multiply_add_is_counted(program: Program, tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    made = [rng.choice(MAKERS)(rng, rng.choice(sorted(TYPES))) for _ in range(120)]
    path = tmp_path / "t.json"
    path.write_bytes(recorded([call for call, _ in made]))
    rows = tables(program, "roofline", "--top", "0", path)["operators"]
    got = defaultdict[tuple[str, str], int](int)
    wanted = defaultdict[tuple[str, str], int](int)
    for row in rows:
        assert row["flops"] is not None, row
        got[row["operator"], row["inputs"]] += row["flops"]
    for call, flops in made:
        wanted[call.name, call.shapes] += flops
    assert got == wanted


@pytest.mark.parametrize("path", traces(), ids=short_name)
def test_all_compute_time_is_there(program: Program, path: Path) -> None:
    """Both tables hold all compute kernels, known or not; figures agree with each other."""
    view = view_of_file(path)
    compute = sum(w.length for w in view.work if w.sort == "compute")
    got = tables(program, "roofline", "--top", "0", path)
    for name in ("operators", "kernels"):
        assert sum(r["device_ns"] for r in got[name]) == compute
    for row in got["operators"] + got["kernels"]:
        if row["roof_ns"] is not None:
            assert row["lost_ns"] == max(row["device_ns"] - row["roof_ns"], 0)
        if row["flops"] is not None and row["device_ns"]:
            rate = row["flops"] / row["device_ns"] / 1e3
            assert row["tflop_per_second"] == pytest.approx(rate)
    for row in got["operators"]:
        if row["flops"] is None or row["moved_bytes"] is None:
            assert row["missing"], row
