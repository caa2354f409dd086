"""Allocator snapshots the slow way: Python's own pickle, a dictionary of what is alive."""

import gzip
import json
import os
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Frames = tuple[tuple[str, str, int], ...]


@dataclass
class Allocation:
    """One allocation; events are places in the history, None where it has none."""

    address: int
    requested: int
    alloc: int | None = None
    let_go: int | None = None
    freed: int | None = None
    frames: Frames = ()
    stream: int = 0
    let_go_before: bool = False  # the history begins

    @property
    def used_until(self) -> int | None:
        return self.let_go if self.let_go is not None else self.freed

    def held(self, event: int) -> bool:
        if self.let_go_before:
            return False
        begun = self.alloc is None or self.alloc <= event
        return begun and (self.used_until is None or self.used_until > event)


@dataclass
class Snapshot:
    """What a file holds, and what became of its allocations."""

    path: Path
    content: dict[str, Any]
    answers: dict[str, Any] = field(default_factory=dict)

    def history(self, device: int = 0) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.content["device_traces"][device]
        return found

    def blocks(self, device: int = 0) -> dict[int, dict[str, Any]]:
        return {
            block["address"]: block
            for segment in self.content["segments"]
            if segment["device"] == device
            for block in segment["blocks"]
            if block["state"].startswith("active")
        }

    def allocations(self, device: int = 0) -> list[Allocation]:
        alive: dict[int, Allocation] = {}
        found: list[Allocation] = []
        for place, event in enumerate(self.history(device)):
            action, address = event["action"], int(event.get("addr", 0))
            if action == "alloc":
                allocation = Allocation(address, event["size"], place, stream=event["stream"])
                allocation.frames = frames_of(event)
                alive[address] = allocation
                found.append(allocation)
            elif action in ("free_requested", "free_completed"):
                if address not in alive:
                    alive[address] = Allocation(address, event["size"], stream=event["stream"])
                    alive[address].let_go_before = action == "free_completed"
                    found.append(alive[address])
                if action == "free_requested":
                    alive[address].let_go = place
                else:
                    alive.pop(address).freed = place
        for address, block in self.blocks(device).items():
            if address not in alive:
                size = block["requested_size"] or block["size"]
                found.append(Allocation(address, size, frames=frames_of(block)))
                found[-1].let_go_before = block["state"] == "active_pending_free"
            elif not alive[address].frames:
                alive[address].frames = frames_of(block)
        return found


def frames_of(item: dict[str, Any]) -> Frames:
    return tuple((f["name"], f["filename"], f["line"]) for f in item.get("frames") or [])


def snapshot_files() -> list[Path]:
    """Every snapshot the project has, and those of the corpus where there is one."""
    found = [*(ROOT / "tests" / "fixtures" / "memory").glob("*.pickle.gz")]
    found += (ROOT / "examples" / "data").rglob("snap*.pickle.gz")
    if corpus := os.environ.get("STEPSCOPE_CORPUS"):
        known = {path.name for path in found}
        found += [p for p in Path(corpus).rglob("snap*.pickle.gz") if p.name not in known]
    return sorted(found)


def load(path: Path) -> Snapshot:
    beside = path.with_name(path.name.replace(".pickle.gz", ".oracle.json"))
    answers = json.loads(beside.read_text()) if beside.exists() else {}
    return Snapshot(path, pickle.loads(gzip.decompress(path.read_bytes())), answers)


def with_answers(*keys: str) -> list[Path]:
    """Snapshots beside which these facts were recorded."""
    return [path for path in snapshot_files() if all(load(path).answers.get(k) for k in keys)]


def name_of(path: Path) -> str:
    return path.name.removesuffix(".pickle.gz")
