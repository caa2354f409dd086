"""patterns: sequences by asking every kernel for its root, fusions by counting every stretch."""

import json
import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from answers import Row, answer, short_name, tables, traces
from oracle import read_trace
from oracle.events import ON_DEVICE, Event
from oracle.header import steps
from oracle.random_trace import random_trace
from oracle.repeats import find_repeats
from oracle.work import View, Work, view_of, view_of_file
from program import Program

MOST_GAP, KERNEL_COST = 50_000, 2_000
MATRIX = re.compile(
    "gemm|gemv|matmul|_mm_|bmm_|triton_mm|tem_fused|cutlass|cublas|nvjet|xmma|cijk_|mfma|splitk"
    "|flash_fwd|flash_bwd|flash_attn|fmha|attention|attn|sdpa|convolve|conv[123]d|convolution"
    "|_conv_|implicit_con|fprop|dgrad|wgrad|winograd|scudnn|cask_|cudnn::fusion|cudnn_generated"
    "|ck::kernel_",
    re.I,
)


def ancestors(event: Event | None) -> list[Event]:
    """The event and what is around it, from the inside out."""
    found = []
    while event is not None:
        found.append(event)
        event = event.parent
    return found


def joined(names: list[str]) -> str:
    parts: list[list[str]] = []
    for name in names:
        if parts and parts[-1][0] == name:
            parts[-1].append(name)
        else:
            parts.append([name])
    said = [p[0] if len(p) == 1 else f"{len(p)} x {p[0]}" for p in parts]
    if len(said) > 32:
        said = [*said[:32], f"and {sum(len(p) for p in parts[32:])} more"]
    return " | ".join(said)


def root_of(work: Work, holds: str, depth: int | None) -> Event | None:
    around = ancestors(work.event.launch)
    if holds:
        matches = [e for e in around if is_match(e, holds)]
    else:
        matches = [e for e in around if e.kind == "cpu_op"]
    if depth is not None:
        matches = [e for e in matches if len(ancestors(e)) == depth]
    return matches[-1] if matches else None


def is_match(event: Event, holds: str) -> bool:
    return event.kind not in ON_DEVICE and event.shape == "span" and holds in event.name


def expected_sequences(view: View, holds: str, least: int, shallowest: bool) -> dict[object, Row]:
    depth = None
    if shallowest:
        depths = [len(ancestors(e)) for e in view.trace.events if is_match(e, holds)]
        depth = min(depths, default=0)
    of_root = defaultdict[int, list[Work]](list)
    roots = {}
    for work in view.work:
        root = root_of(work, holds, depth)
        if root is not None:
            of_root[root.ordinal].append(work)
            roots[root.ordinal] = root
    rows: dict[object, Row] = {}
    for ordinal, many in of_root.items():
        if len(many) < least:
            continue
        root = roots[ordinal]
        many.sort(key=lambda w: w.event.start)
        names = [w.event.name for w in many]
        empty = {"count": 0, "device_ns": 0, "host_ns": 0, "first_ns": root.start}
        row = rows.setdefault((root.name, joined(names), len(names)), empty)
        row["count"] += 1
        row["device_ns"] += sum(w.length for w in many)
        row["host_ns"] += root.duration
        row["first_ns"] = min(row["first_ns"], root.start)
    return rows


def check_sequences(program: Program, view: View, path: Path, holds: str, roots: str) -> None:
    options = ["--operator", holds, "--roots", roots, "--min-count", "1", "--top", "0"]
    got = tables(program, "patterns", *options, "--min-length", "2", path)["sequences"]
    # Longer ones than are written out may look the same; none of these traces has such.
    wanted = expected_sequences(view, holds, 2, roots == "shallowest")
    all_work = sum(w.length for w in view.work)
    found = {(row["operator"], row["sequence"], row["kernels"]): row for row in got}
    assert found.keys() == wanted.keys()
    for key, row in found.items():
        for column, value in wanted[key].items():
            assert int(row[column]) == value, (key, column)
        if all_work:
            assert row["device_share"] == pytest.approx(row["device_ns"] / all_work)
    order = [row["device_ns"] for row in got]
    assert order == sorted(order, reverse=True)


def is_fusible(work: Work, shorter_than: int) -> bool:
    if work.sort != "compute" or MATRIX.search(work.event.name.split("<")[0]):
        return False
    return not shorter_than or work.length <= shorter_than


@dataclass
class Text:
    """The kernels that may be fused, stream by stream; None is a break."""

    names: list[str | None] = field(default_factory=list)
    joining: list[int] = field(default_factory=list)
    works: list[Work | None] = field(default_factory=list)
    gaps: list[int] = field(default_factory=list)

    def add(self, name: str | None, joining: int, work: Work | None, gap: int) -> None:
        self.names.append(name)
        self.joining.append(joining)
        self.works.append(work)
        self.gaps.append(gap)


def fusible_text(view: View, shorter_than: int) -> Text:
    trace = view.trace
    said: Any = steps(trace.events, trace.tracks, trace.span, trace.header)
    has_borders = view.has_steps and said["source"] != "repetition"
    text = Text()
    for stream in sorted({(w.device, w.stream) for w in view.work}):
        step, end = None, None
        for work in view.work:
            if (work.device, work.stream) != stream:
                continue
            fusible = is_fusible(work, shorter_than)
            if end is not None and (not fusible or (has_borders and work.step is not step)):
                text.add(None, 0, None, 0)
                end = None
            step = work.step
            if not fusible:
                continue
            gap = 0 if end is None else max(work.event.start - end, 0)
            end = work.event.end if end is None else max(end, work.event.end)
            joining = min(gap, MOST_GAP) + min(work.length, KERNEL_COST)
            text.add(work.event.name, joining, work, gap)
        text.add(None, 0, None, 0)
    return text


def around(work: Work) -> str | None:
    outermost = None
    for event in ancestors(work.event.launch):
        if event.kind == "annotation" and not event.name.startswith("ProfilerStep#"):
            return event.name
        if event.kind == "python" and event.name.startswith("nn.Module: "):
            return re.sub(r"_\d+$", "", event.name)
        if event.kind == "cpu_op":
            outermost = event.name
    return outermost


def expected_fusions(
    view: View, longest: int, min_count: int, top: int, shorter_than: int
) -> list[Row]:
    text = fusible_text(view, shorter_than)
    measured = sum(end - start for start, end in view.measured)
    rows = []
    for repeat in find_repeats(text.names, text.joining, longest, min_count, top):
        row: Row = {"rank": view.rank, "kernels": repeat.length, "count": len(repeat.places)}
        row |= {"in_a_row": repeat.in_a_row, "saves_ns": 0, "launches": 0}
        row |= {"device_ns": 0, "gap_ns": 0, "saves_most_ns": 0}
        within, in_steps = Counter[str | None](), 0
        for at, count in repeat.places:
            works = [w for w in text.works[at : at + count] if w is not None]
            assert len(works) == count
            gap = sum(text.gaps[at + 1 : at + count])
            lengths = [w.length for w in works]
            row["launches"] += count
            row["device_ns"] += sum(lengths)
            row["gap_ns"] += gap
            most = gap + sum(lengths) - max(lengths)
            row["saves_most_ns"] += most
            saves = min(sum(text.joining[at + 1 : at + count]), most)
            row["saves_ns"] += saves
            in_steps += saves if works[0].step is not None else 0
            within[around(works[0])] += 1
        at, count = repeat.places[0]
        first = [w for w in text.works[at : at + count] if w is not None]
        ops = [w.event.launch.op if w.event.launch else None for w in first]
        names = ["unknown" if op is None else op.name for op in ops]
        known = any(op is not None for op in ops)
        row["operators"] = joined(names[: repeat.length]) if known else None
        row["sequence"] = joined([w.event.name for w in first[: repeat.length]])
        row["within"] = next((n for n, _ in within.most_common() if n is not None), None)
        row["first_ns"] = first[0].event.start
        row["saves_share"] = pytest.approx(in_steps / measured) if measured else None
        rows.append(row)
    return sorted(rows, key=lambda r: -r["saves_ns"])


def check_fusions(
    program: Program, view: View, path: Path, longest: int, min_count: int, top: int, short: int
) -> None:
    options = ["--longest", str(longest), "--min-count", str(min_count), "--top", str(top)]
    options += ["--shorter-than", str(short)]
    got = tables(program, "patterns", *options, path)["fusions"]
    got = [row | {"first_ns": int(row["first_ns"])} for row in got]  # large ones come as text
    assert got == expected_fusions(view, longest, min_count, top, short)


def is_small(path: Path) -> bool:
    return path.stat().st_size < 200_000


@pytest.mark.parametrize("path", [p for p in traces() if is_small(p)], ids=short_name)
def test_real_traces_by_brute_force(program: Program, path: Path) -> None:
    view = view_of_file(path)
    check_sequences(program, view, path, "", "outermost")
    check_sequences(program, view, path, "aten::", "outermost")
    check_sequences(program, view, path, "aten::", "shallowest")
    check_fusions(program, view, path, 12, 2, 8, 0)
    check_fusions(program, view, path, 4, 3, 0, 10_000)


@pytest.mark.parametrize("seed", range(40))
def test_random_traces_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(random_trace(seed))
    view = view_of(read_trace(path.read_bytes()))
    for holds in ("", "n", "aten"):
        for roots in ("outermost", "shallowest") if holds else ("outermost",):
            check_sequences(program, view, path, holds, roots)
    check_fusions(program, view, path, 5, 2, 0, 0)
    check_fusions(program, view, path, 32, 1, 3, 3_000)


def rounds(dice: random.Random) -> list[str]:
    """Kernels that come in rounds, with exceptions."""
    words = [dice.choices("abcd", k=dice.randrange(1, 6)) for _ in range(3)]
    out: list[str] = []
    for _ in range(dice.randrange(2, 25)):
        out += dice.choice(words) * dice.choice((1, 1, 2, 5))
        out += ["gemm"] * (dice.random() < 0.3) + dice.choices("abcd", k=dice.randrange(2))
    return out


@pytest.mark.parametrize("seed", range(60))
def test_rounds_by_brute_force(program: Program, seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    at, events = 0, []
    for name in rounds(dice):
        length = dice.choice((1, 3, 3, 9))
        on = {"pid": 0, "tid": 7, "args": {"device": 0, "stream": 7}}
        events.append({"ph": "X", "cat": "kernel", "name": name, "ts": at, "dur": length, **on})
        at += length + dice.choice((0, 1, 1, 4, 300))
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))
    view = view_of(read_trace(path.read_bytes()))
    for longest, min_count, top in ((32, 2, 0), (3, 2, 2), (7, 3, 0)):
        check_fusions(program, view, path, longest, min_count, top, 0)


def test_an_unfused_optimizer_is_found(program: Program, corpus: Path) -> None:
    path = corpus / "planted" / "gpt__unfused_optimizer.json.gz"
    row = answer(program, "patterns", path)["tables"]["fusions"][0]
    assert row["within"] == "Optimizer.step#AdamW.step"
    assert (row["kernels"], row["launches"]) == (8, 2464)
    assert row["operators"].startswith("aten::mul_ | aten::lerp_ | aten::mul_ | aten::addcmul_")


# What HTA (traceinsight 0.6.1, pandas 2) says with its last step: calls, device time in us.
HTA_SAYS = {"evaluate_function": (25, 80946), "Optimizer.step": (4, 112317), "## f": (2, 188749)}


@pytest.mark.parametrize("holds", HTA_SAYS)
def test_roots_of_hta(program: Program, corpus: Path, holds: str) -> None:
    path = corpus / "hta" / "two_ranks_0.json.gz"
    options = ["--operator", holds, "--roots", "shallowest", "--min-count", "1", "--top", "0"]
    rows = tables(program, "patterns", *options, path)["sequences"]
    device_ns = sum(row["device_ns"] for row in rows)
    assert (sum(row["count"] for row in rows), device_ns // 1000) == HTA_SAYS[holds]
