"""Measures what prof.watch costs a loader, and writes docs/bench/watching.md.

    bench/watching.py [--runs 15]

Passes over the bare loader and over the watched one take turns in one process of the environment
that tools/training_env makes. The figure is processor time, of the training process and of its
workers together, because a busy machine makes wall time say little: the median over the pairs of
the difference per batch, and of the ratio. "bare twice" compares the loader with itself:
differences below that are noise.
"""

import argparse
import datetime
import json
import statistics
import subprocess
from pathlib import Path
from typing import Any

from measure import ROOT, commit, machine

PAGE = ROOT / "docs" / "bench" / "watching.md"
PYTHON = ROOT / ".deps" / "training-env" / "bin" / "python"

PROGRAM = """
import json, resource, sys, tempfile, time
sys.path.insert(0, sys.argv[1])
import numpy, torch
import stepscope as ss
from torch.utils.data import DataLoader, Dataset
torch.set_num_threads(1)

class Nothing(Dataset):  # a batch costs as little as it can
    def __init__(self, length): self.length = length
    def __len__(self): return self.length
    def __getitem__(self, index): return 1.0

class Images(Dataset):  # a small picture, decoded and scaled
    def __init__(self, length): self.length, self.data = length, numpy.zeros((96, 96, 3), "uint8")
    def __len__(self): return self.length
    def transform(self, image): return torch.from_numpy(image).permute(2, 0, 1).float() / 255
    def __getitem__(self, index): return self.transform(self.data)

def cpu():
    both = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, both))

def one_pass(loader):
    before, count = cpu(), 0
    for _ in loader: count += 1
    return (cpu() - before) / count

rows = {}
with ss.profile(tempfile.mkdtemp(), trace=False, logs=False) as prof:
    for name, dataset, batch, workers in (
        ("a loop over a list", [1.0] * 20000, None, None),
        ("empty samples, no workers", Nothing(1000), 1, 0),
        ("empty samples, 2 workers", Nothing(500), 1, 2),
        ("32 pictures of 96 x 96, no workers", Images(32 * 40), 32, 0),
        ("32 pictures of 96 x 96, 2 workers", Images(32 * 40), 32, 2),
    ):
        bare = dataset if workers is None else DataLoader(dataset, batch, num_workers=workers)
        watched = prof.watch(bare, name=name)
        one_pass(bare), one_pass(watched)
        turns = rows[name] = []
        for _ in range(int(sys.argv[2])):
            turns.append([one_pass(bare), one_pass(watched), one_pass(bare)])
print(json.dumps(rows))
"""


def measured(runs: int) -> dict[str, list[list[float]]]:
    """Seconds per batch: bare, watched, bare again."""
    command = [str(PYTHON), "-c", PROGRAM, str(ROOT / "python"), str(runs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows: dict[str, list[list[float]]] = json.loads(done.stdout)
    return rows


def row_of(name: str, turns: list[list[float]]) -> str:
    """A line of the page."""
    bare = statistics.median(turn[0] for turn in turns)
    more = statistics.median(turn[1] - (turn[0] + turn[2]) / 2 for turn in turns)
    ratio = statistics.median(2 * turn[1] / (turn[0] + turn[2]) for turn in turns)
    noise = statistics.median(turn[2] / turn[0] for turn in turns)
    return f"| {name} | {bare * 1e6:.3g} | {more * 1e6:+.2g} | {ratio:.3f} | {noise:.3f} |"


def page(rows: dict[str, list[list[float]]], facts: dict[str, Any]) -> str:
    """The page."""
    runs = len(next(iter(rows.values())))
    lines = [
        "# What watching a loader costs",
        "",
        f"By `bench/watching.py`, {facts['date']}, commit {facts['commit']}, {facts['machine']}.",
        f"Processor time per batch, training process and workers together; medians of {runs} turns",
        "of bare, watched, bare.",
        "",
        "| loader | bare µs | watched, more µs | watched / bare | bare / bare |",
        "|---|---|---|---|---|",
        *[row_of(name, turns) for name, turns in rows.items()],
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    rows = measured(options.runs)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    text = page(rows, {"date": today, "commit": commit(), "machine": machine()})
    Path(PAGE).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
