"""What a trace holds, in one word each."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from stepscope.errors import UsageError

# By the word of `trace=`: torch.profiler's argument.
_ARGUMENTS = {
    "shapes": "record_shapes",
    "memory": "profile_memory",
    "stacks": "with_stack",
    "flops": "with_flops",
    "modules": "with_modules",
}
_ACTIVITIES = ("cpu", "cuda", "xpu", "mtia")


@dataclass(frozen=True)
class TraceOptions:
    """Of torch.profiler: activities (all there are when empty) and what is kept of operators."""

    activities: frozenset[str] = frozenset()
    keeps: frozenset[str] = frozenset()

    def arguments(self) -> dict[str, bool]:
        """For torch.profiler.profile."""
        return {_ARGUMENTS[word]: True for word in sorted(self.keeps)}

    def words(self) -> list[str]:
        """As `trace=` takes them."""
        return sorted(self.activities) + sorted(self.keeps)


def trace_options(trace: Collection[str] | Mapping[str, bool] | str) -> TraceOptions:
    """From words: `["shapes", "stacks"]`, `"shapes"` or `{"shapes": True}`.

    Example:
        >>> trace_options(["cpu", "shapes"]).arguments()
        {'record_shapes': True}
        >>> trace_options("shape")
        Traceback (most recent call last):
        stepscope.errors.UsageError: trace: 'shape' is unknown; did you mean 'shapes'?
    """
    if isinstance(trace, str):
        trace = [trace]
    if isinstance(trace, Mapping):
        trace = [word for word, wanted in trace.items() if wanted]
    known = [*_ACTIVITIES, *_ARGUMENTS]
    for word in trace:
        if word not in known:
            if word == "gpu":
                raise UsageError("trace: 'gpu' is unknown; did you mean 'cuda'?")
            near = difflib.get_close_matches(str(word), known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(known)}"
            raise UsageError(f"trace: {word!r} is unknown; {hint}")
    words = frozenset(trace)
    return TraceOptions(words & frozenset(_ACTIVITIES), words & frozenset(_ARGUMENTS))
