"""A model of many small modules within modules, for what depends on how deep stacks are.

Adapters beside every weight, norms and gates made of plain operators, wrappers around it all, and
every block computed again in the backward pass: as an adapter is trained on a checkpointed model
inside a framework. Its steps ask for much memory in small pieces, from deep stacks of Python and of
C++.
"""

from __future__ import annotations

import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


class Around(torch.nn.Module):
    """Calls what it holds: a framework's, a parallelism's, an adapter's wrapper."""

    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *args: torch.Tensor, **kwargs: torch.Tensor) -> torch.Tensor:
        """Nothing of its own."""
        return self.inner(*args, **kwargs)  # type: ignore[no-any-return]


def around(inner: torch.nn.Module, levels: int) -> torch.nn.Module:
    """Within so many."""
    for _ in range(levels):
        inner = Around(inner)
    return inner


class Norm(torch.nn.Module):
    """By the root of the mean square, operator by operator."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """In 32 bits, as models do it."""
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(
            x.dtype
        ) * self.weight


class Adapted(torch.nn.Module):
    """A weight that stays, and a small one beside it that is trained."""

    def __init__(self, width: int, out: int, rank: int = 8) -> None:
        super().__init__()
        self.base = torch.nn.Linear(width, out, bias=False).requires_grad_(False)
        self.down = around(torch.nn.Linear(width, rank, bias=False), 1)
        self.up = around(torch.nn.Linear(rank, out, bias=False), 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Their sum."""
        return self.base(x) + self.up(self.down(x)) * 0.5  # type: ignore[no-any-return]


class Layer(torch.nn.Module):
    """Attention and a gated perceptron."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = torch.nn.ModuleList([Norm(width) for _ in range(2)])
        self.parts = torch.nn.ModuleList(
            [around(Adapted(width, width), 1) for _ in range(4)]
            + [around(Adapted(width, 2 * width), 1) for _ in range(2)]
            + [around(Adapted(2 * width, width), 1)]
        )

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Residual, both times."""
        ask, key, value, out, gate, up, down = self.parts
        seen = self.norms[0](x)
        mixed = functional.scaled_dot_product_attention(
            self._split(ask(seen)), self._split(key(seen)), self._split(value(seen)), is_causal=True
        )
        x = x + out(mixed.transpose(1, 2).reshape(x.shape))
        seen = self.norms[1](x)
        return x + down(functional.silu(gate(seen)) * up(seen))  # type: ignore[no-any-return]


class Again(torch.nn.Module):
    """Computed again when its gradients are asked for."""

    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Keeps its input alone. Reentrant: the other kind fails under torch's default history.

        torch 2.11 with C++ stacks: "SystemError: run_backward returned NULL".
        """
        return checkpoint(self.inner, x, use_reentrant=True)  # type: ignore[no-any-return]


class NestedTraining:
    """The model, its optimizer and a step."""

    def __init__(
        self, width: int = 256, depth: int = 3, levels: int = 10, device: str = "cuda"
    ) -> None:
        layers = [Again(around(Layer(width, width // 64), 2)) for _ in range(depth)]
        self.model = around(torch.nn.Sequential(*layers), levels)
        self.model.to(device, torch.bfloat16)
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(trained, lr=1e-5)
        self.data = torch.randn(4, 128, width, device=device, dtype=torch.bfloat16)
        self.data.requires_grad_()  # else a block that is computed again has nothing to go back to

    def step(self) -> None:
        """One training step."""
        self.model(self.data).float().square().mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
