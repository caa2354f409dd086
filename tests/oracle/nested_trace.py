"""Small traces of calls within calls, of few names, so that they hold themselves.

Operators, annotations, Python frames, launches, marks of the allocator; spans of no length and
spans that outlive their callers by clock noise.
"""

import json
import random
from typing import Any


class Nested:
    """A trace of calls within calls: few names, so that they hold themselves."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.events: list[dict[str, Any]] = []
        self.correlation = 0

    def span(self, category: str, name: str, start: int, end: int, tid: int, **args: Any) -> None:
        place = {"pid": args.pop("pid", 1), "tid": tid}
        times = {"ts": start / 1000, "dur": (end - start) / 1000}
        event = {"ph": "X", "cat": category, "name": name, **place, **times, "args": args}
        self.events.append(event)

    def fill(self, start: int, end: int, tid: int, depth: int) -> None:
        dice = self.dice
        at = start
        while at < end and depth < 6:
            stop = min(end, at + dice.choice((0, 1, 40, 400, 3000)))
            sort = dice.random()
            if sort < 0.5:
                name = dice.choice(("aten::mm", "aten::to", "aten::linear"))
                more = {"External id": dice.randrange(1, 30)} if dice.random() < 0.5 else {}
                # Clocks differ a little: some outlive their callers.
                late = dice.choice((0, 0, 0, 300))
                self.span("cpu_op", name, at, stop + late, tid, **more)
                self.fill(at, stop, tid, depth + 1)
            elif sort < 0.6:
                self.span("user_annotation", dice.choice(("a", "b")), at, stop, tid)
                self.fill(at, stop, tid, depth + 1)
            elif sort < 0.7:
                name = dice.choice(("m.py(1): f", "m.py(9): g", "<built-in f>", "nn.Module: A_0"))
                self.span("python_function", name, at, stop, tid)
                self.fill(at, stop, tid, depth + 1)
            elif sort < 0.85:
                self.launch(at, stop, tid)
            else:
                size = dice.choice((-512, 512, 4096))
                args = {
                    "Bytes": size,
                    "Device Type": dice.choice((0, 1)),
                    "Device Id": 0,
                    "Addr": 1,
                }
                event = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1}
                self.events.append(event | {"tid": tid, "ts": at / 1000, "s": "t", "args": args})
            at = stop + dice.choice((0, 0, 1, 50))

    def launch(self, start: int, end: int, tid: int) -> None:
        dice = self.dice
        self.correlation += 1
        category, name = dice.choice(
            (
                ("cuda_runtime", "cudaLaunchKernel"),
                ("cuda_driver", "cuLaunchKernelEx"),
                ("cuda_runtime", "cudaGraphLaunch"),
            )
        )
        if dice.random() < 0.8:
            self.span(category, name, start, end, tid, correlation=self.correlation)
            if dice.random() < 0.3:
                self.span("cuda_driver", "cuLaunchKernel", start, (start + end) // 2, tid)
        more = {"External id": dice.randrange(1, 40)} if dice.random() < 0.5 else {}
        stream = dice.choice((7, 20))
        on = {"device": 0, "stream": stream, "correlation": self.correlation, **more}
        begin = start + dice.randrange(3000)
        kernel = dice.choice(("nvjet_tst_1", "volta_sgemm_64x64_nt", "mine"))
        self.span("kernel", kernel, begin, begin + dice.randrange(900), stream, pid=0, **on)


def nested_trace(seed: int) -> bytes:
    """A trace as text; the same for the same seed."""
    nested = Nested(seed)
    for tid in (101, 102):
        nested.fill(1000, 30_000, tid, 0)
    nested.dice.shuffle(nested.events)
    return json.dumps({"traceEvents": nested.events}).encode()
