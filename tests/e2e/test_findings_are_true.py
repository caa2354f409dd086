"""Every sentence of a finding is true of the trace it speaks of.

An independent reader (tests/oracle/program.py) lists a trace's own names. What looks like a name
in a finding has to be one of them, or a word of advice: something to call or to set. Each word of
advice has a condition, so that none speaks of another maker's tools, of calls that are not there,
or of what is done already.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from oracle.program import Program as Recorded
from oracle.program import read_program
from program import ROOT, Program

FAULTS = ROOT / "tests" / "fixtures" / "faults"
CORPUS = os.environ.get("STEPSCOPE_CORPUS")

# Findings that say what their trace does not hold, and are known to: "sample: rule: word". It only
# ever becomes shorter.
KNOWN: set[str] = {
    "amd_mi250: launch-bound: CUDA graph",
    "b200_eager: launch-bound: learning rate",
    "cuda_event_sync: launch-bound: learning rate",
    "gpu_idle: gpu-idle: foreach=True",
    "masked: host-sync: .item()",
    "masked_again: host-sync: .item()",
    "megatron_kineto_0: launch-bound: learning rate",
    "nccl_one_rank: gpu-idle: DistributedDataParallel",
    "nccl_one_rank: gpu-idle: backward pass",
    "nccl_one_rank: launch-bound: learning rate",
}


def sample_paths() -> Iterator[Path]:
    yield from sorted(FAULTS.glob("*.json.gz"))
    yield from sorted(one for one in FAULTS.iterdir() if one.is_dir())
    data = ROOT / "examples" / "data"
    yield from (data / "gpt_bf16.json.gz", data / "gpt_stack.json.gz", data / "ddp", data / "run")
    if CORPUS is None:
        return
    corpus = Path(CORPUS)
    yield from sorted(corpus.glob("*/*.json.gz"))
    beside = corpus.parent / "samples"
    yield from sorted((beside / "public").glob("*.json.gz"))
    yield from sorted((beside / "planted-unfamiliar").glob("*.json.zst"))
    yield from (one for one in [beside / "ranks" / "fsdp_rtx4090"] if one.is_dir())
    yield from sorted((beside / "ranks" / "megatron_tp8").glob("megatron_kineto_0.json.gz"))


SAMPLES = list(sample_paths())


@lru_cache(maxsize=4)
def recorded_of(path: Path) -> Recorded | None:
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return read_program(files)


@lru_cache(maxsize=4)
def advice_of(program: Program, path: Path) -> dict[str, Any]:
    advice: dict[str, Any] = json.loads(program.run("advise", "--all", "--json", path).stdout)
    return advice


# Conditions of words of advice.


def is_nvidia(it: Recorded) -> bool:
    return it.vendor in ("nvidia", None)


def is_amd(it: Recorded) -> bool:
    return it.vendor == "amd"


def has_new_types(it: Recorded) -> bool:
    """TF32 and bf16 begin with compute capability 8."""
    return it.compute_major is None or it.compute_major >= 8


def has_tf32(it: Recorded) -> bool:
    return has_new_types(it) and it.vendor != "amd"


def is_eager(it: Recorded) -> bool:
    return it.compiled_share < 0.1


def is_launched(it: Recorded) -> bool:
    """Most of it piece by piece."""
    return it.graph_share < 0.5


def has_no_stacks(it: Recorded) -> bool:
    return not it.stacks


def has_no_shapes(it: Recorded) -> bool:
    return not it.shapes


def has_no_memory(it: Recorded) -> bool:
    return not it.memory


def trains(it: Recorded) -> bool:
    return it.backward


def has_optimizer(it: Recorded) -> bool:
    return bool(it.optimizers)


def may_be_pageable(it: Recorded) -> bool:
    """Memory that copies name so, or copies that do not say."""
    return any("Pageable" in name or not re.search("Pinned|DtoD", name) for name, _ in it.copies)


def copies_to_device(it: Recorded) -> bool:
    return any(re.search(r"HtoD|Host ?-> ?Device|HostToDevice", name) for name, _ in it.copies)


def returns_memory(it: Recorded) -> bool:
    return it.called("(cuda|hip)Free(Async)?|cuMemUnmap|hipMemUnmap") > 0


def averages_gradients(it: Recorded) -> bool:
    """Several ranks that train, with a reduction over them."""
    reduces = re.compile(r"all_?reduce|reduce_?scatter", re.IGNORECASE)
    return trains(it) and any(reduces.search(name) for name in it.names)


def fetches_values(it: Recorded) -> bool:
    return bool({"aten::item", "aten::_local_scalar_dense"} & set(it.operators))


def always(_: Recorded) -> bool:
    return True


@dataclass(frozen=True)
class Word:
    """What a finding may say only where it holds."""

    pattern: str
    holds: Callable[[Recorded], bool]
    parts: str = "all"  # or advice: what to change and how to check; or facts: the rest


WORDS = [
    Word(r"torch\.compile\(model\)|torch_compile=True\)|[Cc]ompile the model", is_eager, "advice"),
    Word(r"reduce-overhead|CUDA graphs?\b|make_graphed_callables", is_launched, "advice"),
    Word(r"HIP graphs?\b", is_amd),
    Word(r"(?<!neither )\bTF32|tf32|set_float32_matmul_precision", has_tf32, "advice"),
    Word(r"(?<!neither TF32 nor )\bbf16|bfloat16", has_new_types, "advice"),
    Word(r"nvidia-smi|Nsight|\bnsys\b|\bncu\b|\bdcgm", is_nvidia),
    Word(r"cuDNN|cuBLAS|CUPTI|CUDA stream|CUDA graph", is_nvidia),
    Word(r"rocm-smi|amd-smi|rocprof|MIOpen|matrix cores", is_amd),
    Word(r"tensor cores", is_nvidia),
    Word(r"record (?:again )?with Python's stacks|Record Python's stacks", has_no_stacks),
    Word(r"record_shapes=True|Shapes were not recorded", has_no_shapes, "facts"),
    Word(r"profile_memory=True", has_no_memory, "facts"),
    Word(r"empty_cache", returns_memory),
    Word(r"pin_memory=True", copies_to_device, "advice"),
    Word(r"pageable", may_be_pageable, "facts"),
    Word(r"DistributedDataParallel|bucket_cap_mb|no_sync", averages_gradients, "advice"),
    Word(r"fused=True|foreach=True|adamw_torch_fused", trains, "advice"),
    Word(r"backward pass|\.backward\(\)|GradScaler", trains),
    Word(r"learning rate", trains),
    Word(r"\.item\(\)", fetches_values, "facts"),
]

# A name of the trace: a call into a runtime or driver, an operator.
CALL = re.compile(r"\b(?:cuda|hip|hsa|cu)[A-Z]\w+")
OPERATOR = re.compile(r"\b[A-Za-z_]\w*::[\w.]+")
# Names of libraries and settings that begin like calls.
NO_CALLS = {"cuDNN", "cuBLAS", "cuSPARSE", "cuFFT"}
# Of PyTorch's code, in what is to be called.
CODE = re.compile(r"^(?:torch|at|c10|std|nn|stepscope)::")


def facts_of(finding: dict[str, Any]) -> str:
    """What a finding says is so."""
    evidence = " ".join(piece["text"] for piece in finding["evidence"])
    return " ".join([finding["title"], finding["detail"], finding["measured"]["name"], evidence])


def advice_in(finding: dict[str, Any]) -> str:
    """What it says is to be done."""
    changes = " ".join(f"{one['why']} {one['code']}" for one in finding["changes"])
    return f"{changes} {finding['verify']}"


def untrue_words(finding: dict[str, Any], it: Recorded) -> Iterator[str]:
    texts = {"facts": facts_of(finding), "advice": advice_in(finding)}
    texts["all"] = f"{texts['facts']} {texts['advice']}"
    for word in WORDS:
        found = re.search(word.pattern, texts[word.parts])
        if found and not word.holds(it):
            yield found[0]


def unknown_names(finding: dict[str, Any], it: Recorded) -> Iterator[str]:
    text = facts_of(finding)
    called = set(it.calls)
    for name in set(CALL.findall(text)) - NO_CALLS:
        if not any(re.match(rf"{re.escape(name)}(_|\b)", one) for one in called):
            yield name
    for name in set(OPERATOR.findall(text)):
        # Short names leave out namespaces without a name.
        names = {one.replace("(anonymous namespace)::", "") for one in it.names}
        if not CODE.match(name) and not any(name.rstrip(".") in one for one in names):
            yield name
    for piece in finding["evidence"]:
        yield from (work for work in piece["kernels"] if work not in it.names)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name.split(".")[0])
def test_what_a_finding_names_is_in_the_trace(path: Path, program: Program) -> None:
    it = recorded_of(path)
    if it is None:
        pytest.skip("no trace of a profiler is in it")
    sample = path.name.split(".")[0]
    found = set()
    for finding in advice_of(program, path)["findings"]:
        for word in (*untrue_words(finding, it), *unknown_names(finding, it)):
            found.add(f"{sample}: {finding['rule']}: {word}")
    known = {one for one in KNOWN if one.startswith(f"{sample}: ")}
    assert sorted(found - known) == []
    assert sorted(known - found) == [], "mended: take it from the list"
