"""A loader and a training step whose best setting `stepscope sweep` finds.

stepscope sweep dataloader examples/tune_loader.py:make_loader --num-workers 0,2,6
"""

import time
from collections.abc import Callable

import torch
from torch.utils.data import DataLoader, Dataset


class Files(Dataset[torch.Tensor]):
    """As from a file system that takes its time: 10 ms for each sample."""

    def __len__(self) -> int:
        """Samples."""
        return 65536

    def __getitem__(self, index: int) -> torch.Tensor:
        """One of them."""
        time.sleep(0.01)
        return torch.full((64,), float(index))


def make_loader(
    num_workers: int = 0,
    batch_size: int = 8,
    pin_memory: bool = False,
    prefetch_factor: int | None = None,
    persistent_workers: bool = False,
    non_blocking: bool = False,
) -> tuple[DataLoader[torch.Tensor], Callable[[torch.Tensor], None]]:
    """The loader of the training, and what it does with a batch."""
    loader = DataLoader(
        Files(),
        batch_size=batch_size,
        shuffle=True,
        num_workers=num_workers,
        pin_memory=pin_memory,
        prefetch_factor=prefetch_factor,
        persistent_workers=persistent_workers,
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.nn.Linear(64, 64).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def train_step(batch: torch.Tensor) -> None:
        batch = batch.to(device, non_blocking=non_blocking)
        loss = torch.nn.functional.mse_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.02)  # a larger model would compute

    return loader, train_step


if __name__ == "__main__":
    loader, train_step = make_loader(num_workers=4)
    for batch in loader:
        train_step(batch)
