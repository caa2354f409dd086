"""DistributedDataParallel, recorded: all ranks in one folder.

torchrun --nproc-per-node 2 ddp.py runs/ddp
"""

import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import stepscope as ss


def main(folder: str) -> None:
    """Trains a little; the run goes into `folder`."""
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(32, 32))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(320, 32))
    sampler = DistributedSampler(data, dist.get_world_size(), dist.get_rank())
    loader = DataLoader(data, batch_size=16, sampler=sampler)

    plan = ss.schedule(wait=2, warmup=1, active=3)
    with ss.profile(folder, schedule=plan) as prof:  # the rank is known by now
        for (batch,) in prof.watch(loader):
            with ss.range("forward"):
                loss = (model(batch) - batch).square().mean()
            with ss.range("backward"):  # gradients are averaged meanwhile
                loss.backward()
            with ss.range("update"):
                optimizer.step()
                optimizer.zero_grad()
            prof.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "runs/ddp")
