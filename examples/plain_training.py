"""A small training with torch that knows nothing of stepscope.

stepscope run -- python examples/plain_training.py
"""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main() -> None:
    """Three epochs with validation."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 16), torch.nn.ReLU(), torch.nn.Linear(16, 64)
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    training = DataLoader(TensorDataset(torch.randn(512, 64)), batch_size=32, shuffle=True)
    validation = DataLoader(TensorDataset(torch.randn(128, 64)), batch_size=32)

    for epoch in range(3):
        for (batch,) in training:
            batch = batch.to(device)
            loss = torch.nn.functional.mse_loss(model(batch), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            losses = [
                torch.nn.functional.mse_loss(model(batch.to(device)), batch.to(device))
                for (batch,) in validation
            ]
        print(f"epoch {epoch}: {torch.stack(losses).mean().item():.2f}")


if __name__ == "__main__":
    main()
