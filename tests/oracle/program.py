"""What a trace says of the program it is of: its names, calls, devices, compiled code and graphs.

Read with Python's json alone, by simple loops: what findings say is held against it.
"""

import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oracle.text import NotJsonError, decompress

Entry = dict[str, Any]

OPERATORS = {"cpu_op", "operator"}
CALLS = {
    "cuda_runtime",
    "cuda_driver",
    "runtime",
    "hip_runtime",
    "xpu_runtime",
    "xpu_driver",
    "mtia_runtime",
    "privateuse1_runtime",
    "privateuse1_driver",
}
KERNELS = {"kernel", "mtia_ccp_events"}
COPIES = {"gpu_memcpy", "memcpy"}
COMPILED = re.compile(
    r"(autograd::engine::evaluate_function: )?(Torch-Compiled Region|CompiledFunction)"
)
INDUCTOR = re.compile(r"triton_(poi_|per_|red_|tem_|for_|mm)|triton_.*fused")
NVIDIA = re.compile(r"NVIDIA|Tesla|GeForce|Quadro|TITAN")
AMD = re.compile(r"AMD|Radeon|Instinct")
GENERATIONS = {
    "maxwell_": 5,
    "pascal_": 6,
    "volta_": 7,
    "turing_": 7,
    "ampere_": 8,
    "hopper_": 9,
    "nvjet_hsh": 9,
    "blackwell_": 10,
}


@dataclass
class Program:
    """Of one run, whose files may be several."""

    operators: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    kernels: Counter[str] = field(default_factory=Counter)
    copies: list[tuple[str, int]] = field(default_factory=list)  # name, bytes
    others: set[str] = field(default_factory=set)  # names of everything else
    devices: list[str] = field(default_factory=list)
    majors: set[int] = field(default_factory=set)
    stacks: bool = False
    shapes: bool = False
    memory: bool = False
    kernel_us: float = 0
    compiled_us: float = 0
    graph_us: float = 0
    ranks: int = 1

    @property
    def names(self) -> set[str]:
        """Every name there is."""
        return {*self.operators, *self.calls, *self.kernels, *self.others}

    @property
    def compiled_share(self) -> float:
        return self.compiled_us / self.kernel_us if self.kernel_us else 0.0

    @property
    def graph_share(self) -> float:
        return self.graph_us / self.kernel_us if self.kernel_us else 0.0

    @property
    def vendor(self) -> str | None:
        """By the names of devices, else by its calls."""
        for pattern, vendor in ((NVIDIA, "nvidia"), (AMD, "amd")):
            if any(pattern.search(device) for device in self.devices):
                return vendor
        if any(re.match(r"hip[A-Z]|hsa[A-Z]", call) for call in self.calls):
            return "amd"
        if any(re.match(r"cuda[A-Z]|cu[A-Z]", call) for call in self.calls):
            return "nvidia"
        return None

    @property
    def compute_major(self) -> int | None:
        """Of NVIDIA's oldest; of one that is not described, by the newest that kernels name."""
        if self.vendor != "nvidia":
            return None
        return min(self.majors) if self.majors else self.generation

    @property
    def generation(self) -> int | None:
        found = [major for part, major in GENERATIONS.items() if self.has_kernel(part)]
        numbers = re.compile(r"(?<![A-Za-z])sm_?(\d{2,3})(?!\d)")
        found += [int(one) // 10 for kernel in self.kernels for one in numbers.findall(kernel)]
        return max(found, default=None)

    @property
    def backward(self) -> bool:
        node = re.compile(r"autograd::engine::evaluate_function: |\S*Backward\d*$")
        return any(node.match(name) for name in self.names)

    @property
    def optimizers(self) -> set[str]:
        found = re.compile(r"Optimizer\.step#(.+?)(?:\.step)?$")
        return {
            match[1] for name in {*self.others, *self.operators} if (match := found.match(name))
        }

    def has_kernel(self, part: str) -> bool:
        return any(part in kernel for kernel in self.kernels)

    def called(self, *patterns: str) -> int:
        """How many calls into the runtime or driver have such a name."""
        return sum(
            count
            for name, count in self.calls.items()
            if any(re.fullmatch(pattern, name) for pattern in patterns)
        )

    def add_file(self, path: Path) -> bool:
        """Whether it was a trace."""
        try:
            text = decompress(path.read_bytes()).decode("utf-8", "replace")
            trace = json.loads(text, strict=False)
        except (NotJsonError, ValueError):
            return False
        entries = trace.get("traceEvents") if isinstance(trace, dict) else trace
        if not isinstance(entries, list):
            return False
        if isinstance(trace, dict):
            self.add_header(trace)
        self.add_events([one for one in entries if isinstance(one, dict) and "name" in one])
        return True

    def add_header(self, trace: Entry) -> None:
        for device in trace.get("deviceProperties") or []:
            name = str(device.get("name", ""))
            self.devices.append(name)
            major = device.get("computeMajor")
            if NVIDIA.search(name) and isinstance(major, int) and major > 0:
                self.majors.add(major)
        world = (trace.get("distributedInfo") or {}).get("world_size")
        if isinstance(world, int):
            self.ranks = max(self.ranks, world)

    def add_events(self, events: list[Entry]) -> None:
        launches: dict[Any, Entry] = {}
        compiled: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
        work: list[Entry] = []
        for one in events:
            name, category = str(one["name"]), str(one.get("cat", "")).lower()
            given = one.get("args")
            arguments: Entry = given if isinstance(given, dict) else {}
            if one.get("ph") != "X":
                self.memory = self.memory or name == "[memory]"
                continue
            if category in OPERATORS:
                self.operators[name] += 1
                self.shapes = self.shapes or "Input Dims" in arguments or "Input dims" in arguments
            elif category in CALLS:
                self.calls[name] += 1
                launches[arguments.get("correlation")] = one
            elif category in KERNELS:
                self.kernels[name] += 1
                work.append(one)
            elif category in COPIES:
                self.copies.append((name, int(arguments.get("bytes", 0) or 0)))
                self.others.add(name)
            else:
                self.others.add(name)
            if arguments.get("Collective name"):
                self.others.add(str(arguments["Collective name"]))
            self.stacks = self.stacks or category == "python_function"
            self.stacks = self.stacks or bool(arguments.get("Call stack"))
            if (category in OPERATORS or category == "user_annotation") and COMPILED.match(name):
                begin = float(one["ts"])
                compiled[track_of(one)].append((begin, begin + float(one.get("dur", 0))))
        spans = {track: Spans(list_) for track, list_ in compiled.items()}
        for one in work:
            length = float(one.get("dur", 0))
            launch = launches.get(one.get("args", {}).get("correlation"))
            inside = launch is not None and (
                (found := spans.get(track_of(launch))) is not None
                and found.holds(float(launch["ts"]))
            )
            self.kernel_us += length
            if inside or INDUCTOR.match(str(one["name"])):
                self.compiled_us += length
            if launch is not None and "GraphLaunch" in str(launch["name"]):
                self.graph_us += length


class Spans:
    """Stretches of a thread; those inside others add nothing."""

    def __init__(self, spans: list[tuple[float, float]]) -> None:
        self.begins: list[float] = []
        self.ends: list[float] = []
        for begin, end in sorted(spans):
            if self.ends and end <= self.ends[-1]:
                continue
            self.begins.append(begin)
            self.ends.append(end)

    def holds(self, time: float) -> bool:
        at = bisect_right(self.begins, time) - 1
        return at >= 0 and time < self.ends[at]


def track_of(entry: Entry) -> tuple[str, str]:
    return str(entry.get("pid")), str(entry.get("tid"))


def read_program(paths: list[Path]) -> Program | None:
    """Of traces that are one run; nothing where none is a trace."""
    program = Program()
    found = [program.add_file(path) for path in paths]
    return program if any(found) else None
