"""Hugging Face's Accelerate, recorded: all ranks in one folder.

accelerate launch accelerate_loop.py runs/accelerate
"""

import sys

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

import stepscope as ss


def main(folder: str) -> None:
    """Trains a little; the run goes into `folder`."""
    accelerator = Accelerator(cpu=not torch.cuda.is_available(), gradient_accumulation_steps=2)
    model = torch.nn.Linear(32, 32)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(TensorDataset(torch.randn(320, 32)), batch_size=8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

    with ss.profile(folder, schedule=ss.schedule(wait=2, warmup=1, active=3)) as prof:
        for (batch,) in prof.watch(loader):
            with accelerator.accumulate(model):
                with ss.range("forward"):
                    loss = (model(batch) - batch).square().mean()
                with ss.range("backward"):
                    accelerator.backward(loss)
                with ss.range("update"):
                    optimizer.step()
                    optimizer.zero_grad()
            if accelerator.sync_gradients:  # a step of the optimizer, not of the loader
                prof.step()
    accelerator.end_training()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "runs/accelerate")
