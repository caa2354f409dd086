"""Trials of `stepscope sweep` on a GPU: pinned memory and copies that are not waited for.

    python tests/recording/gpu_sweep.py

For machines with a GPU and torch; needs nothing else, the package is not imported. Each of the four
settings is tried three times, in alternation. A line per trial, then what must hold: batches of
64 MB from pinned memory, copied without waiting, take less than those from pageable memory, and no
block ends before the GPU is done (the time of steps is at least that of the products alone).
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

SWEEP = Path(__file__).resolve().parents[2] / "python" / "stepscope" / "sweep"
TRIAL = SWEEP / "trial" / "__main__.py"
PRODUCTS, WIDTH = 12, 4096

TARGET = f"""
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self):
        self.row = torch.ones(16, 1 << 20)
    def __len__(self):
        return 100_000
    def __getitem__(self, index):
        return self.row[index % 16]

def make(num_workers=4, pin_memory=False, non_blocking=False):
    loader = DataLoader(Rows(), batch_size=16, num_workers=num_workers, pin_memory=pin_memory)
    weight = torch.randn({WIDTH}, {WIDTH}, device="cuda")
    def train_step(batch):
        batch = batch.to("cuda", non_blocking=non_blocking)
        out = weight
        for _ in range({PRODUCTS}):
            out = out @ weight
        batch.sum()
    return loader, train_step
"""


def products_ms() -> float:
    """The products of one step alone, by the GPU's own clock."""
    import torch

    weight = torch.randn(WIDTH, WIDTH, device="cuda")
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(20):
        begin.record()
        out = weight
        for _ in range(PRODUCTS):
            out = out @ weight
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return float(statistics.median(times[5:]))


def one_trial(folder: Path, pin: bool, non_blocking: bool) -> dict[str, float]:
    """Milliseconds per step, and what the trial took."""
    request = {
        "target": "target:make",
        "names": ["num_workers", "pin_memory", "non_blocking"],
        "keywords": {"num_workers": 4, "pin_memory": pin, "non_blocking": non_blocking},
        "seconds": 3,
        "hopeless_ns": None,
        "per_sample": True,
    }
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, TRIAL, json.dumps(request)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert lines and lines[-1] == "end", (done.stdout[-500:], done.stderr[-2000:])
    blocks = [[int(word) for word in line.split()[1:]] for line in lines if line[:5] == "block"]
    steps = sum(block[0] for block in blocks)
    return {
        "steps": steps,
        "steps_of_block": blocks[0][0],
        "loading_ms": sum(block[1] for block in blocks) / steps / 1e6,
        "training_ms": sum(block[2] for block in blocks) / steps / 1e6,
        "wall_s": time.monotonic() - began,
    }


def main() -> int:
    """All of them; the exit status says whether all held."""
    alone = products_ms()
    print(json.dumps({"products_alone_ms": alone}), flush=True)
    found: dict[tuple[bool, bool], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "target.py").write_text(TARGET, encoding="utf-8")
        for _ in range(3):
            for setting in ((False, False), (True, False), (False, True), (True, True)):
                figures = one_trial(folder, *setting)
                trial = {"pin_memory": setting[0], "non_blocking": setting[1], **figures}
                print(json.dumps(trial), flush=True)
                found[setting].append(figures["loading_ms"] + figures["training_ms"])
    medians = {key: statistics.median(times) for key, times in found.items()}
    holds = {
        "the fastest is pinned and not waited for": min(medians, key=lambda k: medians[k])
        == (True, True),
        "pageable memory is slower": medians[False, False] > 1.02 * medians[True, True],
        "the GPU was waited for": min(min(times) for times in found.values()) > 0.95 * alone,
    }
    print(json.dumps({"step_ms": {str(k): v for k, v in medians.items()}, **holds}))
    return 0 if all(holds.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
