"""A slow, obvious, right reader of Kineto and Chrome trace JSON: what the engine is held to.

    from oracle import read_trace
    rows = read_trace(Path("rank0.json.gz").read_bytes()).rows(rank=0, window=0)

Its rules are in README.md; nothing here is shared with the engine.
"""

from oracle.text import NotJsonError
from oracle.trace import Trace, read_trace

__all__ = ["NotJsonError", "Trace", "read_trace"]
