"""Anemoi's Model report: model_summary.txt, from the summary that the recording holds.

The model is neither cast nor moved for it.
"""

from __future__ import annotations

from typing import Any

from stepscope.run import Run

_DEEPEST = 20
_WIDTH = 16
_HEAD = ("Trainable", "Input Shape", "Output Shape", "Param #", "Param %", "Mult-Adds")


def model_text(run: Run, remarks: list[str]) -> str | None:
    """Of the lowest rank that has one; None, with a remark, where none was summarized."""
    answer = run.model()
    summary = next(iter(answer["summary"].rows()), None)
    if summary is None:
        remarks.append(
            "Model: the recording holds no summary; prof.summarize(model, batch) writes one."
        )
        return None
    rank = summary["rank"]
    layers = [row for row in answer["layers"].rows() if row["rank"] == rank]
    rows = [_layer(row) for row in layers if row["depth"] <= _DEEPEST]
    widest = max([len(name) for name, _ in rows] + [len("Layer (type:name)")]) + 2
    line = "=" * (widest + len(_HEAD) * _WIDTH)
    head = "Layer (type:name)".ljust(widest) + "".join(one.ljust(_WIDTH) for one in _HEAD)
    body = [
        (name.ljust(widest) + "".join(one.ljust(_WIDTH) for one in cells)).rstrip()
        for name, cells in rows
    ]
    return "\n".join([line, head.rstrip(), line, *body, line, *_totals(summary, line)]) + "\n"


def _layer(row: dict[str, Any]) -> tuple[str, list[str]]:
    last = str(row["layer"] or "").rpartition(".")[2]
    name = "  " * row["depth"] + (f"{row['type']} ({last})" if row["depth"] else str(row["type"]))
    trainable = {0: "False", row["parameters"]: "True"}.get(row["trainable"], "Partial")
    cells = [
        trainable if row["parameters"] else "--",
        row["input"] or "--",
        row["output"] or "--",
        f"{row['parameters']:,}" if row["parameters"] else "--",
        f"{100 * row['parameter_share']:.2f}%" if row["parameters"] else "--",
        f"{row['mult_adds']:,}" if row["mult_adds"] else "--",
    ]
    return name, [str(cell) for cell in cells]


def _totals(of: dict[str, Any], line: str) -> list[str]:
    """Sizes are in MB of a million bytes, as torchinfo's; so is twice the outputs: gradients."""
    known = [
        f"Total params: {of['parameters']:,}",
        f"Trainable params: {of['trainable']:,}",
        f"Non-trainable params: {of['parameters'] - of['trainable']:,}",
    ]
    if of["mult_adds"] is not None:
        known.append(f"Total mult-adds: {of['mult_adds']:,}")
    if of["uncounted"]:
        known.append(f"Layers whose mult-adds are not known: {of['uncounted']}")
    known.append(line)
    outputs = of["output_bytes"]
    sizes = {
        "Input size (MB)": of["input_bytes"],
        "Forward/backward pass size (MB)": None if outputs is None else 2 * outputs,
        "Params size (MB)": of["parameter_bytes"],
    }
    known += [f"{name}: {size / 1e6:.2f}" for name, size in sizes.items() if size is not None]
    if None not in sizes.values():
        known.append(f"Estimated Total Size (MB): {sum(sizes.values()) / 1e6:.2f}")
    return [*known, line]
