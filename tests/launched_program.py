"""Programs that `stepscope run` starts, as from a user's shell."""

import os
import subprocess
from pathlib import Path

from program import Program
from recorded_program import LAUNCHERS, rank_facts

# Three epochs of ten batches, each followed by a pass of validation.
TRAINING = """
import os, sys, time
import torch
from torch.utils.data import DataLoader, TensorDataset

def loop(epochs=3, after=lambda epoch: None):
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train = DataLoader(TensorDataset(torch.randn(320, 64)), batch_size=32)
    check = DataLoader(TensorDataset(torch.randn(64, 64)), batch_size=32)
    for epoch in range(epochs):
        for (batch,) in train:
            loss = (model(batch) - batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            for (batch,) in check:
                model(batch)
        after(epoch)
"""


class Runner:
    """Starts programs by `stepscope run` in a folder."""

    def __init__(self, program: Program, folder: Path, python: str) -> None:
        self.program, self.folder, self.python = program.path, folder, python

    def script(self, text: str, name: str = "train.py") -> str:
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def start(self, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith((*LAUNCHERS, "STEPSCOPE"))}
        kept.pop("PYTHONPATH", None)
        return subprocess.Popen(
            [self.program, "run", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env={**kept, "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8", **variables},
        )

    def run(
        self, *words: str, stdin: bytes = b"", **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        return self.end_of(self.start(*words, **variables), stdin)

    def end_of(
        self, process: subprocess.Popen[bytes], stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            out, err = process.communicate(stdin, timeout=600)
        except subprocess.TimeoutExpired:
            process.terminate()  # passed on to the program
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def said(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """What the command itself said at the end."""
    lines = done.stderr.decode().splitlines()
    return [line.removeprefix("stepscope: ") for line in lines if line.startswith("stepscope: ")]


def windows(run: Path, rank: int = 0) -> list[tuple[int, int, str]]:
    return [(w["first_step"], w["steps"], w["closed"]) for w in rank_facts(run, rank)["windows"]]
