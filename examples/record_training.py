"""Records a small training with torch, on a GPU if there is one.

python examples/record_training.py runs/example
stepscope report runs/example
"""

import logging
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset

import stepscope as ss

log = logging.getLogger("training")


@ss.range
def update(model: torch.nn.Module, optimizer: torch.optim.Optimizer, batch: torch.Tensor) -> float:
    """One step of gradient descent."""
    with ss.range("forward"):
        loss = torch.nn.functional.mse_loss(model(batch), batch)
    with ss.range("backward"):
        loss.backward()
    with ss.range("optimizer"):
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()


def main(folder: str) -> None:
    """Three epochs; of the second, four batches are traced."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 16), torch.nn.ReLU(), torch.nn.Linear(16, 64)
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(TensorDataset(torch.randn(512, 64)), batch_size=32)

    window = ss.schedule(epochs=1, batches=(4, 8))
    with ss.profile(folder, schedule=window, trace=["shapes"], config={"batch_size": 32}) as prof:
        for epoch in range(3):
            for (batch,) in prof.watch(loader):
                ss.counter("loss", update(model, optimizer, batch.to(device)))
                prof.step()
            prof.epoch()
            log.info("epoch %d is over", epoch)
    print(f"Recorded {prof.steps} steps. Look at them with: stepscope report {folder}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "runs/example")
