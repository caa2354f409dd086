"""Settings of a DataLoader: a dictionary of whole numbers, in which switches are 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping

Settings = dict[str, int]

# In the order of what they ask of a machine: of two loaders as fast as each other, the one that
# compares less is the one to take.
NAMES = (
    "num_workers",
    "batch_size",
    "pin_memory",
    "non_blocking",  # of copies to a device: no property of the loader, but tried with it
    "prefetch_factor",
    "persistent_workers",
    "drop_last",
)
SWITCHES = ("pin_memory", "non_blocking", "persistent_workers", "drop_last")
OF_WORKERS = ("prefetch_factor", "persistent_workers")  # without workers they mean nothing


def demand(settings: Mapping[str, int]) -> tuple[int, ...]:
    """What they ask of a machine, to be compared."""
    return tuple(settings.get(name, -1) for name in NAMES)


def python_text(name: str, value: int) -> str:
    """The value as Python writes it."""
    return str(bool(value)) if name in SWITCHES else str(value)


def keywords_text(settings: Mapping[str, int]) -> str:
    """`num_workers=4, pin_memory=True`: what is set, to be pasted."""
    return ", ".join(f"{n}={python_text(n, settings[n])}" for n in NAMES if n in settings)
