"""Made by tools/make_stubs.py from the descriptors of the analyses."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Literal

from stepscope import _core
from stepscope.table import Answer

Numbers = int | Iterable[int] | None
Duration = int | str | timedelta

def descriptors() -> list[dict[str, Any]]: ...
def python_name(name: str) -> str: ...
def option_text(parameter: Mapping[str, Any], value: object) -> str: ...
def numbers(value: Numbers, name: str) -> list[int]: ...
def docstring(about: Mapping[str, Any]) -> str: ...

class Analyses:
    _core: _core.Recording
    def ask(
        self, analysis: str, *, ranks: Numbers = None, steps: Numbers = None, **options: Any
    ) -> Answer: ...
    def overview(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
    ) -> Answer: ...
    def steps(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        definition: Literal["stepscope", "tensorboard"] | None = None,
        outlier_deviations: int | None = None,
        outlier_share: float | str | None = None,
    ) -> Answer: ...
    def dataloader(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
    ) -> Answer: ...
    def temporal_breakdown(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        within: Literal["steps", "work"] | None = None,
    ) -> Answer: ...
    def idle_time(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        delay: Duration | None = None,
        within: Literal["steps", "work"] | None = None,
        definition: Literal["stepscope", "hta"] | None = None,
        top: int | None = None,
    ) -> Answer: ...
    def cpu(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        within: Literal["steps", "work"] | None = None,
    ) -> Answer: ...
    def kernel_types(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        within: Literal["steps", "work"] | None = None,
    ) -> Answer: ...
    def operators(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        frames: int | None = None,
    ) -> Answer: ...
    def kernels(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        memory: bool | None = None,
    ) -> Answer: ...
    def kernel_durations(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        memory: bool | None = None,
    ) -> Answer: ...
    def roofline(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        latency: Duration | None = None,
    ) -> Answer: ...
    def mfu(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        causal: Literal["half", "full"] | None = None,
    ) -> Answer: ...
    def overlap(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        within: Literal["steps", "work"] | None = None,
    ) -> Answer: ...
    def annotations(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        with_steps: bool | None = None,
    ) -> Answer: ...
    def modules(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        depth: int | None = None,
        by: Literal["instance", "class"] | None = None,
        from_: Literal["auto", "python", "hierarchy", "lightning", "ranges"] | None = None,
    ) -> Answer: ...
    def stacks(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        metric: Literal["host", "device"] | None = None,
        threads: Literal["together", "apart", "main"] | None = None,
        top: int | None = None,
        frames: int | None = None,
        depth: int | None = None,
        no_python: bool | None = None,
        no_ranges: bool | None = None,
        no_operators: bool | None = None,
        no_calls: bool | None = None,
        no_kernels: bool | None = None,
    ) -> Answer: ...
    def patterns(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        operator: str | None = None,
        roots: Literal["outermost", "shallowest"] | None = None,
        min_length: int | None = None,
        min_count: int | None = None,
        top: int | None = None,
        longest: int | None = None,
        shorter_than: Duration | None = None,
        most_gap: Duration | None = None,
        kernel_cost: Duration | None = None,
    ) -> Answer: ...
    def counters(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        by: Literal["operator", "outermost", "kernel"] | None = None,
        counter: str | None = None,
    ) -> Answer: ...
    def launches(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        short: Duration | None = None,
        kernels_only: bool | None = None,
        top: int | None = None,
        each: bool | None = None,
    ) -> Answer: ...
    def queue_length(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        full: int | None = None,
        points: int | None = None,
    ) -> Answer: ...
    def memory_bandwidth(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        points: int | None = None,
    ) -> Answer: ...
    def transfers(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
    ) -> Answer: ...
    def steps_tensorflow(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
    ) -> Answer: ...
    def memory_operators(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        min_bytes: int | None = None,
        points: int | None = None,
    ) -> Answer: ...
    def memory_summary(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
    ) -> Answer: ...
    def memory_timeline(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        points: int | None = None,
        axis: Literal["events", "time"] | None = None,
        top: int | None = None,
    ) -> Answer: ...
    def memory_peak(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        at: Literal["peak", "end"] | None = None,
    ) -> Answer: ...
    def memory_allocations(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        min_bytes: int | None = None,
        category: Literal["all", "parameters", "optimizer state", "gradients", "activations", "inputs", "temporaries", "autograd detail", "communication", "unknown"] | None = None,
        alive_at: str | None = None,
    ) -> Answer: ...
    def memory_diff(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
    ) -> Answer: ...
    def memory_oom(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        failures: int | None = None,
        top: int | None = None,
        batch_size: int | None = None,
        device_memory: str | None = None,
    ) -> Answer: ...
    def memory_leaks(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        device_memory: str | None = None,
    ) -> Answer: ...
    def memory_fragmentation(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
        points: int | None = None,
        device_memory: str | None = None,
    ) -> Answer: ...
    def memory_events(
        self,
        *,
        ranks: Numbers = None,
        steps: Numbers = None,
        top: int | None = None,
    ) -> Answer: ...
