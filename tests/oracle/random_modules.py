"""Small traces of models, different for every seed.

Modules that call modules, operators that launch, the backward pass on its own thread, activation
checkpointing, clocks that disagree.
"""

import json
import random
from typing import Any

CLASSES = ("Net", "Block", "Linear", "Norm")


class Model:
    """Writes the events of a run; times in nanoseconds."""

    def __init__(self, seed: int, naming: str) -> None:
        self.dice = random.Random(seed)
        self.naming = naming  # python, hierarchy, lightning or none
        self.events: list[dict[str, Any]] = []
        self.ids = 0
        self.forward: list[tuple[int, int]] = []  # sequence number, when

    def span(self, category: str, name: str, at: int, end: int, tid: int, **args: Any) -> None:
        """A complete event; now and then its clock is a little off."""
        noise = self.dice.choice((0, 0, 0, 0, 400)) if category != "kernel" else 0
        place = {"pid": args.pop("pid", 10), "tid": tid, "ts": at / 1000}
        self.events.append(
            {
                "ph": "X",
                "cat": category,
                "name": name,
                **place,
                "dur": (end - at + noise) / 1000,
                "args": args,
            }
        )

    def operator(self, at: int, tid: int, path: str, **more: Any) -> int:
        """An operator that may launch; returns its end."""
        dice = self.dice
        begin = at
        at += dice.randrange(0, 300)
        for _ in range(dice.randrange(3)):
            self.ids += 1
            end = at + dice.randrange(50, 400)
            if dice.random() < 0.9:
                self.span("cuda_runtime", "cudaLaunchKernel", at, end, tid, correlation=self.ids)
            if dice.random() < 0.95:
                start = end + dice.randrange(3000)
                on = {"pid": 0, "device": 0, "stream": 7, "correlation": self.ids}
                self.span(
                    "kernel",
                    dice.choice(("gemm", "a;b<c>")),
                    start,
                    start + dice.randrange(900),
                    7,
                    **on,
                )
            at = end + dice.randrange(100)
        if self.naming == "hierarchy" and path and dice.random() < 0.9:
            more["Module Hierarchy"] = path
        self.span("cpu_op", dice.choice(("aten::mm", "aten::add")), begin, at, tid, **more)
        return at

    def module(self, at: int, tid: int, depth: int, path: str) -> int:
        """A module with operators and modules inside; returns its end."""
        dice = self.dice
        kind, number = dice.choice(CLASSES), dice.randrange(2)
        own = f"{path}{kind.lower()}{number}({kind})::forward."
        begin = at
        at += dice.randrange(200)
        for _ in range(dice.randrange(1, 4)):
            if depth < 4 and dice.random() < 0.5:
                at = self.module(at, tid, depth + 1, own)
            else:
                self.forward.append((len(self.forward), at))
                at = self.operator(at, tid, own, **{"Sequence number": len(self.forward) - 1})
            at += dice.randrange(200)
        if self.naming == "python":
            self.span("python_function", f"nn.Module: {kind}_{number}", begin, at, tid)
        if self.naming == "lightning":
            name = ".".join(part.split("(")[0] for part in own.split("::forward.")[:-1])
            self.span("user_annotation", f"[pl][module]torch.nn.{kind}: {name}", begin, at, tid)
        return at

    def backward(self, at: int, tid: int) -> int:
        """The backward operators of all forward ones."""
        dice = self.dice
        while self.forward:
            sequence, _ = self.forward.pop()
            begin = at
            again = dice.random()
            more: dict[str, Any] = {"Sequence number": sequence, "Fwd thread id": 1}
            if again < 0.15:
                kept, self.forward = self.forward, []
                at = self.module(at, tid, 3, "")
                self.forward = kept
            elif again < 0.3:
                more = {}
            at = self.operator(at + 10, tid, "")
            self.span("cpu_op", "autograd::engine::evaluate_function: X", begin, at, tid, **more)
            at += dice.randrange(200)
        return at


def random_modules(seed: int, naming: str) -> bytes:
    """A trace as text; the same for the same seed."""
    model = Model(seed, naming)
    at = 1000
    for number in range(model.dice.choice((1, 2, 3))):
        begin = at
        for _ in range(model.dice.randrange(1, 3)):
            at = model.module(at + 20, 11, 0, "")
        at = model.operator(at + 30, 11, "")
        at = model.backward(at, model.dice.choice((11, 12)))
        model.span("user_annotation", f"ProfilerStep#{number}", begin, at + 500, 11)
        at += 2000
    model.dice.shuffle(model.events)
    return json.dumps({"schemaVersion": 1, "traceEvents": model.events}).encode()
