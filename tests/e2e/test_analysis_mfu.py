"""mfu against models counted by hand: every multiply-add of a step in closed form."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from answers import Row, tables
from program import ROOT, Program

FIXTURES = ROOT / "tests" / "fixtures" / "operators"
GPT = ROOT / "examples" / "data" / "gpt_bf16.json.gz"
H200_BF16 = 989.5e12
H200_TF32 = 494.5e12


def gpt_step(layers: int, width: int, words: int, batch: int, tokens: int, heads: int) -> Row:
    """FLOPs of a training step of a GPT with tied or untied head, by the book."""
    rows = batch * tokens
    weights = layers * (3 + 1 + 4 + 4) * width * width + words * width
    dense = 3 * 2 * rows * weights  # forward, gradient of inputs, gradient of weights
    bias = layers * rows * (3 + 1 + 4 + 1) * width
    pairs = tokens * (tokens + 1) // 2
    depth = width // heads
    score = 2 * batch * heads * depth * layers
    return {
        "dense": dense,
        "bias": bias,
        "attention": 6 * score * pairs,  # 2 products forward, 4 backward
        "attention_full": 6 * score * tokens * tokens,
        "again": score * pairs,
    }


def test_gpt_step_is_counted_as_by_hand(program: Program) -> None:
    want = gpt_step(layers=8, width=512, words=8192, batch=16, tokens=256, heads=8)
    steps = tables(program, "mfu", GPT)["steps"]
    assert [r["step"] for r in steps] == [2, 3, 4, None]
    for row in steps[:3]:
        assert row["model_flops"] == want["dense"] + want["bias"] + want["attention"]
        assert row["recomputed_flops"] == want["again"]
        assert row["arithmetic"] == "bf16"
        assert row["peak_tflop_per_second"] == pytest.approx(H200_BF16 / 1e12)
        seconds = row["step_ns"] / 1e9
        assert row["mfu_share"] == pytest.approx(row["model_flops"] / seconds / H200_BF16)
        assert row["hfu_share"] > row["mfu_share"]
        # What everyone writes on paper: 6·N a token and attention, within 1 %.
        assert row["model_flops"] == pytest.approx(want["dense"] + want["attention"], rel=0.01)
    total = steps[3]
    assert total["model_flops"] == sum(r["model_flops"] for r in steps[:3])
    assert total["step_ns"] == sum(r["step_ns"] for r in steps[:3])
    full = tables(program, "mfu", "--causal", "full", GPT)["steps"]
    assert full[0]["model_flops"] == want["dense"] + want["bias"] + want["attention_full"]


def resnet50_convolutions() -> Iterator[tuple[int, int, int, int]]:
    """Output size, kernel size, channels in and out of every convolution of ResNet-50 v1.5."""
    yield 112, 7, 3, 64
    channels, size = 64, 56
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            yield size, 1, channels, width
            size //= stride
            yield size, 3, width, width
            yield size, 1, width, 4 * width
            if block == 0:
                yield size, 1, channels, 4 * width
            channels = 4 * width


def test_resnet50_step_is_counted_as_by_hand(program: Program, corpus: Path) -> None:
    path = corpus / "h200/resnet50_dataloader_bound.json.gz"
    batch = 64
    macs = [size * size * k * k * i * o for size, k, i, o in resnet50_convolutions()]
    assert sum(macs) + 2048 * 1000 == pytest.approx(4.09e9, rel=0.005)  # the published number
    head = 3 * 2 * batch * 2048 * 1000 + batch * 1000
    # Images need no gradient: the first convolution has one product backward, the others two.
    want = 2 * batch * (3 * sum(macs) - macs[0]) + head
    steps = tables(program, "mfu", path)["steps"]
    for row in steps[:3]:
        assert row["model_flops"] == want
        assert row["arithmetic"] == "tf32"
        assert row["recomputed_flops"] == 0
        assert row["mfu_share"] == pytest.approx(want / (row["step_ns"] / 1e9) / H200_TF32)


def test_checkpointing_is_no_model_flops(program: Program, corpus: Path) -> None:
    """Stacks show the second forward pass: model FLOPs are three times the forward's."""
    path = corpus / "tracelens/mi300_resnet_checkpoint.json.gz"
    steps = tables(program, "mfu", path)["steps"]
    total = steps[-1]
    assert total["recomputed_flops"] > 0
    assert total["recomputed_flops"] < total["model_flops"] / 2
    assert total["hfu_share"] > total["mfu_share"]


def write(path: Path, events: list[dict[str, Any]], **header: Any) -> Path:
    path.write_text(json.dumps({**header, "traceEvents": events}))
    return path


def test_recorded_matmul(program: Program) -> None:
    """A measured 8192³ product in bf16: its rate by the trace is that of CUDA events within 2 %."""
    oracle = recorded("matmul")
    rows = tables(program, "roofline", "--top", "0", FIXTURES / "matmul.json.gz")["operators"]
    (row,) = [r for r in rows if r["operator"] in ("aten::mm", "aten::matmul")]
    assert row["flops"] == row["calls"] * 2 * oracle["size"] ** 3
    rate = 2 * oracle["size"] ** 3 * oracle["products"] / (oracle["events_ms"] / 1e3)
    assert row["tflop_per_second"] * 1e12 == pytest.approx(rate, rel=0.02)
    assert row["arithmetic"] == "bf16"


def recorded(name: str) -> dict[str, Any]:
    """What torch said of a recording."""
    answer: dict[str, Any] = json.loads(
        gzip.decompress((FIXTURES / f"{name}.oracle.json.gz").read_bytes())
    )
    return answer


def family(operator: str) -> str:
    """Which kind of product an operator is, in torch's words or in ours."""
    name = operator.removeprefix("aten::").removeprefix("aten.")
    if "conv" in name:
        return "convolution_backward" if "backward" in name else "convolution"
    return "product" if name in {"mm", "addmm", "bmm", "baddbmm"} else "other"


# torch's counter takes every output channel of a grouped convolution's backward for every input
# channel, so the U-Net, which has one, is held to its forward pass. Attention is counted in full
# there and with its mask here: the closed form above holds it.
@pytest.mark.parametrize(
    ("name", "steps", "kinds"),
    [
        ("gpt", 2, ["product"]),
        ("resnet50", 1, ["product", "convolution", "convolution_backward"]),
        ("unet", 2, ["convolution"]),
    ],
)
def test_flops_are_those_of_torchs_counter(
    program: Program, name: str, steps: int, kinds: list[str]
) -> None:
    """Matrix products and convolutions of a whole training step, counted by torch itself."""
    counted: Counter[str] = Counter()
    for operator, flops in recorded(name)["flops"].items():
        counted[family(operator)] += flops * steps
    ours: Counter[str] = Counter()
    trace = FIXTURES / f"{name}.json.gz"
    for row in tables(program, "roofline", "--top", "0", trace)["operators"]:
        ours[family(row["operator"])] += row["flops"] or 0
    for kind in kinds:
        assert counted[kind] > 0
        assert ours[kind] == pytest.approx(counted[kind], rel=0.01), kind


def test_attention_made_of_products_counts_once(program: Program) -> None:
    """Plain attention is products of matrices, with kernels for the mask around them."""
    oracle = recorded("zoo")["flops"]
    plain = sum(oracle["attention_math"].values()) + sum(oracle["attention_math_causal"].values())
    trace = FIXTURES / "zoo.json.gz"
    rows = tables(program, "roofline", "--top", "0", trace)["operators"]
    bmm = [r for r in rows if r["operator"] == "aten::bmm"]
    batches = sum(r["flops"] for r in bmm if r["inputs"].startswith("16×"))
    assert batches == plain
    around = [r for r in rows if r["operator"] == "aten::scaled_dot_product_attention"]
    assert len(around) == 2
    for row in around:
        assert row["flops"] is None
        assert row["missing"] == "its parts, which are counted themselves"
    got = tables(program, "mfu", trace)
    products = [r for r in rows if r["family"] in ("matrix product", "convolution", "attention")]
    total = got["steps"][-1]
    known = sum(r["flops"] or 0 for r in products)
    assert total["model_flops"] + total["recomputed_flops"] == known
    assert not [r for r in got["unknown"] if "attention" in r["operator"]]


def test_recurrent_network_is_counted_as_by_hand(program: Program) -> None:
    """10 steps of 4 sequences, 32 inputs, 64 of state, 4 gates: on a GPU one operator."""
    rows = tables(program, "roofline", "--top", "0", FIXTURES / "zoo.json.gz")["operators"]
    flops = {r["operator"]: r["flops"] for r in rows}
    products = 10 * 4 * 2 * (4 * 64) * (32 + 64)
    assert flops["aten::_cudnn_rnn"] == products + 10 * 4 * 2 * (4 * 64)  # with two biases
    assert flops["aten::_cudnn_rnn_backward"] == 2 * products


def test_counts_of_the_profiler_stand_beside_ours(program: Program, tmp_path: Path) -> None:
    def call(at: int, name: str, dims: list[Any], flops: int) -> dict[str, Any]:
        args = {"Input Dims": dims, "Input type": ["float"] * len(dims), "flops": flops}
        return {
            "ph": "X", "cat": "cpu_op", "name": name, "ts": at, "dur": 5, "pid": 1, "tid": 1,
            "args": args,
        }  # fmt: skip

    events = [
        call(0, "aten::mm", [[2, 3], [3, 4]], 48),
        call(10, "aten::mm", [[2, 3], [9, 4]], 48),
        call(20, "aten::mul", [[2, 3], [2, 3]], 6),
    ]
    rows = tables(program, "mfu", write(tmp_path / "t.json", events))["profiler"]
    assert rows == [
        {"rank": 0, "operator": "aten::mm", "calls": 2, "profiler_flops": 96, "known_calls": 1,
         "flops": 48, "ratio": 1, "differing_calls": 0},
        {"rank": 0, "operator": "aten::mul", "calls": 1, "profiler_flops": 6, "known_calls": 1,
         "flops": 6, "ratio": 1, "differing_calls": 0},
    ]  # fmt: skip


def with_counts(name: str, path: Path, shapes: bool = True) -> Path:
    """The recording with the FLOPs that with_flops=True gave torch's key_averages(), by call."""

    def key(operator: str, dims: list[list[Any]]) -> str:
        plain = [[] if any(isinstance(n, list) for n in d) else d for d in dims]
        return json.dumps([operator, plain])

    rows = [r for r in recorded(name)["key_averages_by_shape"] if r["flops"]]
    counts = {key(r["name"], r["shapes"]): r["flops"] // r["calls"] for r in rows}
    trace = json.loads(gzip.decompress((FIXTURES / f"{name}.json.gz").read_bytes()))
    for event in trace["traceEvents"]:
        if event.get("cat") != "cpu_op":
            continue
        dims = event["args"].get("Input Dims", [])
        if flops := counts.get(key(event["name"], dims)):
            event["args"]["flops"] = flops
        if not shapes:
            event["args"].pop("Input Dims", None)
    path.write_text(json.dumps(trace))
    return path


@pytest.mark.parametrize(
    "name",
    ["compiled", "gpt", "gpt_recompute_stacks", "matmul", "resnet50", "scripted", "unet", "zoo"],
)
def test_flops_are_those_of_with_flops(program: Program, name: str, tmp_path: Path) -> None:
    rows = tables(program, "mfu", with_counts(name, tmp_path / "trace.json"))["profiler"]
    assert {"aten::mm", "aten::conv2d"} & {r["operator"] for r in rows}
    for row in rows:
        # Autocast's own call of conv2d mixes types, which no kernel does; the one inside is known.
        outer = row["calls"] // 2 if (name, row["operator"]) == ("resnet50", "aten::conv2d") else 0
        assert row["known_calls"] >= row["calls"] - outer, row
        assert row["ratio"] == pytest.approx(1, rel=0.01), row
        if row["operator"] in ("aten::mm", "aten::bmm", "aten::conv2d"):
            assert row["ratio"] == 1, row


def test_counts_are_used_where_shapes_are_missing(program: Program, tmp_path: Path) -> None:
    path = with_counts("gpt", tmp_path / "trace.json", shapes=False)
    said = {r["name"]: r["flops"] for r in recorded("gpt")["key_averages"]}
    want = said["aten::mm"] + said["aten::addmm"]  # add multiplies no matrices
    total = tables(program, "mfu", path)["steps"][-1]
    assert total["model_flops"] == total["profiler_flops"] == want
    rows = tables(program, "roofline", "--top", "0", path)["operators"]
    assert {r["flops_from"] for r in rows} == {None, "profiler"}
    known = tables(program, "mfu", FIXTURES / "gpt.json.gz")["steps"][-1]
    assert known["profiler_flops"] == 0
    assert known["model_flops"] > want  # with attention


WITH_GPU = [
    path
    for path in sorted((ROOT / "examples" / "data").rglob("*.json.gz"))
    if "run" not in path.relative_to(ROOT).parts  # recorded on a CPU
]


@pytest.mark.parametrize("sample", WITH_GPU)
def test_known_and_unknown_are_all(program: Program, sample: Path) -> None:
    """Time with FLOPs and time without add up to the compute kernels' time."""
    got = tables(program, "mfu", sample)
    events = json.loads(gzip.decompress(sample.read_bytes()))["traceEvents"]
    kernels = sum(1 for e in events if e.get("cat") == "kernel")
    assert kernels > 0
    unknown = sum(r["device_ns"] for r in got["unknown"])
    rows = [r for r in got["steps"] if r["step"] is not None]
    known = sum(r["known_share"] * r["compute_ns"] for r in rows)
    compute = sum(r["compute_ns"] for r in rows)
    assert known + unknown == pytest.approx(compute)
    assert all(0 <= r["known_share"] <= 1 for r in rows)
