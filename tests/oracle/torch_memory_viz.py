"""torch's own functions over snapshots: stats (segsum), memory and compare of _memory_viz.

Run where torch is installed, or where bench/torch_memory_viz.py has fetched that one file; what
they said of every sample is written down in tests/fixtures/memory/torch_memory_viz.json otherwise.

    .venv/bin/python -m oracle.torch_memory_viz    (in tests/) writes it down again
"""

import contextlib
import hashlib
import importlib.util
import io
import json
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

from oracle.memory import ROOT, load, name_of, snapshot_files

RECORDED = ROOT / "tests" / "fixtures" / "memory" / "torch_memory_viz.json"
FETCHED = ROOT / ".deps" / "torch-memory-viz" / "_memory_viz.py"
COMPARED = [
    ("fragmented", "fragmented_split64"),
    ("fragmented", "fragmented_expandable"),
    ("streams", "streams_expandable"),
    ("oom_training", "oom_collected"),
    ("gpt_autocast", "gpt_autocast"),
]


def module() -> ModuleType | None:
    """Torch's file, from torch or as it was fetched; None where neither is."""
    path: Path | None = None
    if importlib.util.find_spec("torch") is not None:
        found = importlib.util.find_spec("torch.cuda._memory_viz")
        path = Path(found.origin) if found and found.origin else None
    elif FETCHED.exists():
        path = FETCHED
    if path is None:
        return None
    spec = importlib.util.spec_from_file_location("torch_memory_viz", path)
    assert spec and spec.loader
    viz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(viz)
    # Its sums as whole numbers and not as "1.5GiB": only the writing is replaced.
    vars(viz)["_format_size"] = str
    vars(viz)["_report_free"] = lambda external, internal: f"{external} {internal}"
    return viz


def stats(viz: ModuleType, snapshot: dict[str, Any]) -> dict[str, int]:
    """What `_memory_viz.py stats` sums up below its picture of segments."""
    said = dict(
        line.split(": ", 1)
        for line in viz.segsum(snapshot).splitlines()
        if line.startswith(("segments: ", "total_"))
    )
    external, internal = said["total_free"].split()
    return {
        "segments": int(said["segments"]),
        "reserved": int(said["total_reserved"]),
        "allocated": int(said["total_allocated"]),
        "free_external": int(external),
        "free_internal": int(internal),
    }


def by_stack(lines: str) -> Counter[str]:
    """Bytes asked for by Python stack, of what the program has, from lines of a flame graph."""
    sums: Counter[str] = Counter()
    for line in lines.splitlines():
        path, size = line.rsplit(" ", 1)
        parts = path.split(";")
        state = next(i for i, part in enumerate(parts) if part in STATES)
        if parts[state] == "active_allocated" and parts[state + 1] != "<gaps>":
            sums[";".join(f for f in parts[state + 1 :] if is_python(f))] += int(size)
    return sums


STATES = ("active_allocated", "active_pending_free", "active_awaiting_free", "inactive")


def is_python(frame: str) -> bool:
    """Whether a frame of torch's, FILE:LINE:FUNCTION, is one of Python."""
    file = frame.split(":", 1)[0]
    return file.endswith(".py") or file.startswith("<string>")


def memory(viz: ModuleType, snapshot: dict[str, Any]) -> Counter[str]:
    """What `_memory_viz.py memory` draws."""
    return by_stack(viz.memory(snapshot, format_flamegraph=str))


def compare(viz: ModuleType, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What `_memory_viz.py compare` prints and draws: segments that only one of two has."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        drawn = viz.compare(before["segments"], after["segments"], format_flamegraph=str)
    out: dict[str, Any] = {}
    for line in printed.getvalue().splitlines():
        side, addresses = line.split(" = ")
        out[side] = sorted(json.loads(addresses))
        mine = [part for part in drawn.splitlines() if part.startswith(side)]
        out[f"{side}_bytes"] = sum(int(part.rsplit(" ", 1)[1]) for part in mine)
    return out


def digest(sums: Counter[str]) -> str:
    """The same for the same sums, and short."""
    lines = "\n".join(f"{stack} {size}" for stack, size in sorted(sums.items()) if size)
    return hashlib.sha256(lines.encode()).hexdigest()


def figures(viz: ModuleType) -> dict[str, Any]:
    """All that is compared, of the samples in the repository."""
    mine = [path for path in snapshot_files() if path.is_relative_to(ROOT)]
    contents = {name_of(path): load(path).content for path in mine}
    return {
        "samples": {
            name: stats(viz, content) | {"by_stack": digest(memory(viz, content))}
            for name, content in contents.items()
        },
        "compared": {f"{a} {b}": compare(viz, contents[a], contents[b]) for a, b in COMPARED},
    }


def recorded() -> dict[str, Any]:
    """What was written down."""
    found: dict[str, Any] = json.loads(RECORDED.read_text())
    return found


if __name__ == "__main__":
    found = module()
    assert found, "neither torch nor its _memory_viz.py is here"
    RECORDED.write_text(json.dumps(figures(found), indent=1, sort_keys=True) + "\n")
