"""Fully sharded data parallel, recorded: all ranks in one folder.

torchrun --nproc-per-node 2 fsdp.py runs/fsdp
"""

import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import stepscope as ss


def main(folder: str) -> None:
    """Trains a little; the run goes into `folder`."""
    kind = "cuda" if torch.cuda.is_available() else "cpu"
    dist.init_process_group("nccl" if kind == "cuda" else "gloo")
    mesh = init_device_mesh(kind, (dist.get_world_size(),))
    model = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(3))).to(kind)
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    plan = ss.schedule(wait=2, warmup=1, active=3)
    with ss.profile(folder, schedule=plan) as prof:
        for batch in prof.watch([torch.randn(16, 64) for _ in range(8)], samples=16):
            with ss.range("forward"):  # weights are gathered meanwhile
                loss = (model(batch.to(kind)) - batch.to(kind)).square().mean()
            with ss.range("backward"):  # gradients are scattered meanwhile
                loss.backward()
            with ss.range("update"):
                optimizer.step()
                optimizer.zero_grad()
            prof.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "runs/fsdp")
