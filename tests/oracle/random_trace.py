"""Small traces of everything at once, different for every seed: what no one would write by hand.

Steps or none, two devices, launches of the runtime and the driver, graphs, work without a call and
calls without work, overlapping and empty kernels, collectives with and without arguments, ranges.
"""

import json
import random
from dataclasses import dataclass, field
from typing import Any

COMPUTE = ("gemm", "void at::native::add<float>(float*)", "softmax", "triton_poi_fused")
COLLECTIVES = ("allreduce", "_allgather_base", "reduce_scatter")
COPIES = (
    "Memcpy HtoD (Pageable -> Device)",
    "Memcpy HtoD (Pinned -> Device)",
    "Memcpy DtoH (Device -> Pinned)",
    "Memcpy DtoD (Device -> Device)",
)


@dataclass
class Writer:
    """Collects events; times in nanoseconds."""

    dice: random.Random
    events: list[dict[str, Any]] = field(default_factory=list)
    correlation: int = 0

    def span(self, category: str, name: str, at: int, length: int, **more: Any) -> None:
        """A complete event."""
        place = {"pid": more.pop("pid", 100), "tid": more.pop("tid", 101)}
        event = {"ph": "X", "cat": category, "name": name, **place}
        self.events.append(event | {"ts": at / 1000, "dur": length / 1000, "args": more})

    def work(self, at: int, correlation: int, device: int) -> None:
        """A kernel, copy or memset that starts about then."""
        dice = self.dice
        stream = dice.choice((7, 7, 7, 20, 24))
        length = dice.choice((0, 1, 500, 1500, 4000, dice.randrange(20_000)))
        on = {"pid": device, "tid": stream, "device": device, "stream": stream}
        on["correlation"] = correlation
        sort = dice.random()
        if sort < 0.15:
            size = dice.choice((0, 4, 4096, 1 << 20))
            self.span("gpu_memcpy", dice.choice(COPIES), at, length, bytes=size, **on)
        elif sort < 0.2:
            self.span("gpu_memset", "Memset (Device)", at, length, bytes=64, **on)
        elif sort < 0.4:
            self.collective(at, length, on)
        else:
            shape: dict[str, Any] = {"grid": [dice.randrange(1, 99), 1, 1], "block": [128, 1, 1]}
            percent = dice.randrange(101)
            shape["est. achieved occupancy %"] = percent if percent % 3 else 0
            shape["warps per SM"] = (0.0303, 0.999, 1, 12.5)[percent % 4]
            self.span("kernel", dice.choice(COMPUTE), at, length, **on, **shape)

    def collective(self, at: int, length: int, on: dict[str, int]) -> None:
        """A communication kernel, with or without arguments."""
        dice = self.dice
        if dice.random() < 0.3:
            name = dice.choice(("ncclDevKernel_Generic", "vllm::cross_device_reduce_1stage<half>"))
            self.span("kernel", name, at, length, **on)
            return
        name = dice.choice(COLLECTIVES)
        said: dict[str, Any] = {
            "Collective name": name,
            "Process Group Name": dice.choice(("0", "1")),
        }
        said |= {"In msg nelems": 1024, "Out msg nelems": 1024, "dtype": "Float", "Group size": 2}
        self.span("kernel", f"ncclDevKernel_{name}", at, length, **on, **said)

    def call(self, at: int, tid: int) -> int:
        """A call that starts work, or should have; returns when it ended."""
        dice = self.dice
        self.correlation += 1
        length = dice.randrange(100, 3000)
        category, name = dice.choice(
            (
                ("cuda_runtime", "cudaLaunchKernel"),
                ("cuda_driver", "cuLaunchKernel"),
                ("cuda_runtime", "cudaMemcpyAsync"),
                ("cuda_runtime", "cudaGraphLaunch"),
            )
        )
        if dice.random() < 0.9:
            self.span(category, name, at, length, tid=tid, correlation=self.correlation)
        device = 0 if dice.random() < 0.9 else 1
        pieces = 3 if name == "cudaGraphLaunch" else int(dice.random() < 0.95)
        start = at + dice.randrange(-500, 15_000)
        for _ in range(pieces):
            self.work(max(0, start), self.correlation, device)
            start += dice.randrange(8_000)
        return at + length

    def thread(self, at: int, until: int, tid: int) -> None:
        """Operators, ranges and calls one after another, nested."""
        dice = self.dice
        while at < until:
            begin = at
            at += dice.randrange(1, 2000)
            for _ in range(dice.randrange(3)):
                if dice.random() < 0.3:
                    length = dice.randrange(1, 900)
                    self.span("user_annotation", "inner", at, length, tid=tid)
                    at += length
                at = self.call(at, tid) + dice.randrange(500)
            if dice.random() < 0.5:
                self.span(
                    "cpu_op", dice.choice(("aten::mm", "aten::add_")), begin, at - begin, tid=tid
                )
            if dice.random() < 0.3:
                name = dice.choice(("forward", "optimizer", "enumerate(DataLoader)#_Iter.__next__"))
                self.span("user_annotation", name, begin, at - begin, tid=tid)
            if dice.random() < 0.1:
                self.span("user_annotation", "gloo:all_reduce", begin, at - begin, tid=tid)
            at += dice.randrange(3000)


def random_trace(seed: int) -> bytes:
    """A trace as text; the same for the same seed."""
    dice = random.Random(seed)
    writer = Writer(dice)
    at = dice.randrange(1_000_000)
    steps = dice.choice((0, 1, 3))
    for number in range(steps):
        length = dice.randrange(5_000, 60_000)
        writer.thread(at + 10, at + length - 5_000, 101)
        if dice.random() < 0.4:
            writer.thread(at + 500, at + length, 102)
        writer.span("user_annotation", f"ProfilerStep#{number + 4}", at, length)
        at += length + dice.choice((0, 0, 2000))
    if steps == 0 or dice.random() < 0.3:
        writer.thread(at, at + 20_000, 101)
    if dice.random() < 0.5:
        for start in range(at, at + 30_000, 9_000):
            on = {"pid": 0, "tid": 7}
            writer.span(
                "gpu_user_annotation", dice.choice(("forward", "inner")), start, 8_000, **on
            )
    header = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": seed % 3}}
    dice.shuffle(writer.events)
    return json.dumps(header | {"traceEvents": writer.events}).encode()
