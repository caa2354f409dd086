"""What training a large transformer asks of the allocator of torch, with the stacks of a real run.

Every layer stands on source lines of its own, as in generated code, so that a few thousand stacks
occur; they are real ones of a recorded snapshot with the lines of the model's code moved. Sequence
lengths differ from step to step, so that free memory is scattered and no step equals another.
"""

import random
from array import array
from collections.abc import Sequence
from typing import Any

from best_fit import BestFit

Frames = list[dict[str, Any]]
Event = dict[str, Any]

LAYERS, HIDDEN, HEADS, BATCH = 96, 1536, 24, 4
LENGTHS = range(512, 1025, 64)  # of the sequences of a step
VOCABULARY = 50304
COMMUNICATION = 0x5A00000  # the stream of the gradients' exchange
LAYERS_A_BUCKET = 8
LINES_A_LAYER = 40
ALLOC, FREE_REQUESTED, FREE_COMPLETED, SEGMENT_ALLOC = range(4)
ACTIONS = ("alloc", "free_requested", "free_completed", "segment_alloc")

# What stands between a program and its model when a library runs the steps, innermost first.
TRAINER = ("training_step", "call_hook", "optimizer_closure", "run_batch", "advance", "run_epoch",
           "fit_loop", "run_stage", "launch", "fit")  # fmt: skip

# The parameters of a layer, as multiples of the hidden size squared and of the hidden size.
MATRICES = (3, 1, 4, 4)
VECTORS = (1, 1, 3, 1, 1, 1, 4, 1)


def is_models_own(frame: dict[str, Any]) -> bool:
    """Whether a frame is of the program that was recorded, not of a library."""
    return frame["filename"].endswith(".py") and "site-packages" not in frame["filename"]


class Stacks:
    """Real stacks by what they are part of, and those made from them, each once."""

    def __init__(self, events: Sequence[Event]) -> None:
        """Sorts the stacks of a recorded history."""
        self.frames: list[Frames] = []
        self._numbers: dict[tuple[int, int], int] = {}  # recorded stack, layer
        self._moved: dict[tuple[int, int], dict[str, Any]] = {}  # frame, layer
        self._roles: dict[tuple[str, int], list[Frames]] = {}
        # Between two calls of Python stand those of its interpreter.
        within = [{"name": "_PyEval_EvalFrameDefault", "filename": "??", "line": 0},
                  {"name": "PyMethod_New", "filename": "??", "line": 0}]  # fmt: skip
        self._trainer: Frames = []
        for i, name in enumerate(TRAINER):
            file = f"/usr/lib/python3/site-packages/trainer/loops/{name}.py"
            self._trainer += [{"name": name, "filename": file, "line": 40 + 10 * i}, *within]
        seen = set()
        for event in events:
            frames = event["frames"]
            key = tuple(id(frame) for frame in frames)
            if event["action"] not in ("alloc", "free_requested") or not frames or key in seen:
                continue
            seen.add(key)
            action = ALLOC if event["action"] == "alloc" else FREE_REQUESTED
            self._roles.setdefault((self._role(frames), action), []).append(frames)

    def number(self, role: str, action: int, which: int, layer: int = 0) -> int:
        """Into `frames`: one of the stacks of this role, on the lines of this layer."""
        known = self._roles.get((role, action)) or self._roles["forward", action]
        frames = known[which % len(known)]
        key = (id(frames), layer)
        if key not in self._numbers:
            self._numbers[key] = len(self.frames)
            moved = [self._frame(frame, layer) for frame in frames]
            if moved[-1]["filename"].endswith(".py"):
                moved[-1:-1] = self._trainer
            self.frames.append(moved)
        return self._numbers[key]

    def _frame(self, frame: dict[str, Any], layer: int) -> dict[str, Any]:
        if layer == 0 or not (is_models_own(frame) and frame["name"] == "forward"):
            return frame
        moved = {**frame, "line": frame["line"] + layer * LINES_A_LAYER}
        return self._moved.setdefault((id(frame), layer), moved)

    @staticmethod
    def _role(frames: Frames) -> str:
        if any("/optim/" in frame["filename"] for frame in frames):
            return "optimizer"
        if any(is_models_own(f) and f["name"] == "forward" for f in frames):
            return "forward"
        if not any(frame["filename"].endswith(".py") for frame in frames):
            return "backward"
        return "setup"


class Training:
    """The history of a run, event by event, in columns."""

    def __init__(self, stacks: Stacks, begin_us: int) -> None:
        """Puts the model and the optimizer's state onto the device."""
        self.stacks = stacks
        self.allocator = BestFit()
        self.action = array("b")
        self.address = array("q")
        self.size = array("q")
        self.stream = array("q")
        self.stack = array("l")
        self.time_us = array("q")
        self.steps: list[tuple[int, int]] = []  # begin and end, in microseconds
        self._now = begin_us
        self._random = random.Random(1)
        self._size_of: dict[int, int] = {}  # by address
        layer = [n * HIDDEN * HIDDEN * 4 for n in MATRICES] + [n * HIDDEN * 4 for n in VECTORS]
        self.parameters = [VOCABULARY * HIDDEN * 4] + layer * LAYERS
        for i, size in enumerate(self.parameters):
            self.take(size, stacks.number("setup", ALLOC, i % 3))
        self._has_state = False

    def __len__(self) -> int:
        """How many events there are."""
        return len(self.action)

    def take(self, size: int, stack: int, stream: int = 0) -> int:
        """A request; where it lies."""
        event = len(self.action)
        address, taken = self.allocator.request(size, stream, event)
        if taken is not None:
            self._record(SEGMENT_ALLOC, taken.address, taken.size, stream, stack)
            taken.holder = event
            self.allocator.blocks[address].holder = event + 1
        self._record(ALLOC, address, size, stream, stack)
        self._size_of[address] = size
        return address

    def drop(self, address: int, stack: int) -> None:
        """Gives memory back that only its own stream has used."""
        self.let_go(address, stack)
        self.complete(address, stack)

    def let_go(self, address: int, stack: int) -> None:
        """The program has no use for it any more."""
        stream = self.allocator.blocks[address].pool[0]
        self._record(FREE_REQUESTED, address, self._size_of[address], stream, stack)

    def complete(self, address: int, stack: int) -> None:
        """No stream uses it any more."""
        stream = self.allocator.blocks[address].pool[0]
        self.allocator.give_back(address)
        self._record(FREE_COMPLETED, address, self._size_of[address], stream, stack)

    def step(self) -> None:
        """Forward, backward, optimizer."""
        begin = self._now
        tokens = BATCH * self._random.choice(LENGTHS)
        saved, casts = [], []
        for layer in range(LAYERS):
            kept, cast = self._forward(layer, tokens)
            saved.append(kept)
            casts += cast
        leaving = self.stacks.number("setup", FREE_REQUESTED, 0)
        for address in casts:
            self.drop(address, leaving)
        gradients = self._backward(saved, tokens)
        self._optimize()
        clearing = self.stacks.number("optimizer", FREE_REQUESTED, 1)
        for address in gradients:
            self.drop(address, clearing)
        self.steps.append((begin, self._now))
        self._now += 500

    def _record(self, action: int, address: int, size: int, stream: int, stack: int) -> None:
        self._now += 3
        self.action.append(action)
        self.address.append(address)
        self.size.append(size)
        self.stream.append(stream)
        self.stack.append(stack)
        self.time_us.append(self._now)

    def _forward(self, layer: int, tokens: int) -> tuple[list[int], list[int]]:
        """What the backward of a layer needs, and the weights cast to half precision."""
        wide, square = tokens * HIDDEN, HIDDEN * HIDDEN
        # s: saved for backward, t: a temporary, c: a cast weight.
        requests = (
            ("s", 2 * wide), ("s", 4 * tokens), ("s", 4 * tokens),  # normalised, mean, deviation
            ("c", 6 * square), ("s", 6 * wide), ("t", 2 * wide),  # queries, keys, values
            ("s", 2 * wide), ("s", 4 * tokens * HEADS), ("s", 8), ("s", 8), ("t", 3 * wide),
            ("c", 2 * square), ("t", 2 * wide), ("s", 4 * wide),  # projected and added
            ("s", 2 * wide), ("s", 4 * tokens), ("s", 4 * tokens),
            ("c", 8 * square), ("s", 8 * wide), ("s", 8 * wide), ("c", 8 * square),
            ("t", 2 * wide), ("s", 4 * wide),
        )  # fmt: skip
        kept, cast, last = [], [], None
        for which, (kind, size) in enumerate(requests):
            address = self.take(size, self.stacks.number("forward", ALLOC, which, layer))
            if last is not None:
                self.drop(last, self.stacks.number("forward", FREE_REQUESTED, which, layer))
                last = None
            if kind == "s":
                kept.append(address)
            elif kind == "c":
                cast.append(address)
            else:
                last = address
        return kept, cast

    def _backward(self, saved: list[list[int]], tokens: int) -> list[int]:
        """The gradients of all parameters."""
        alloc = [self.stacks.number("backward", ALLOC, i) for i in range(32)]
        free = [self.stacks.number("backward", FREE_REQUESTED, i) for i in range(32)]
        gradients: list[int] = []
        waiting: tuple[int, int] | None = None  # a bucket on its way to the other ranks
        flowing = self.take(4 * tokens * HIDDEN, alloc[0])
        widths = (8, 2, 6, 2, 2, 4, 8, 2)
        for layer in reversed(range(LAYERS)):
            kept = saved[layer]
            temporaries: list[int] = []
            for which, size in enumerate(self.parameters[1 : 1 + len(MATRICES) + len(VECTORS)]):
                width = widths[which % len(widths)] * tokens * HIDDEN
                temporaries.append(self.take(width, alloc[2 * which % 32]))
                half = self.take(size // 2, alloc[(2 * which + 1) % 32])
                gradients.append(self.take(size, alloc[(2 * which + 5) % 32]))
                self.drop(half, free[which])
                if len(temporaries) > 2:
                    self.drop(temporaries.pop(0), free[which + 3])
                if kept:
                    self.drop(kept.pop(), free[which + 8])
            for address in (*kept, *temporaries):
                self.drop(address, free[20])
            after = self.take(4 * tokens * HIDDEN, alloc[30])
            self.drop(flowing, free[21])
            flowing = after
            if layer % LAYERS_A_BUCKET == 0:
                if waiting is not None:
                    self.complete(*waiting)
                bucket = self.take(sum(self.parameters[1:13]) * LAYERS_A_BUCKET // 2, alloc[31],
                                   COMMUNICATION)  # fmt: skip
                self.let_go(bucket, free[22])
                waiting = (bucket, free[22])
        self.drop(flowing, free[23])
        gradients.append(self.take(self.parameters[0], alloc[7]))
        if waiting is not None:
            self.complete(*waiting)
        return gradients

    def _optimize(self) -> None:
        """Adam, many tensors at once: a temporary as large as each parameter."""
        if not self._has_state:
            for size in self.parameters:
                self.take(size, self.stacks.number("optimizer", ALLOC, 0))
                self.take(size, self.stacks.number("optimizer", ALLOC, 1))
            self._has_state = True
        update = self.stacks.number("optimizer", ALLOC, 2)
        done = self.stacks.number("optimizer", FREE_REQUESTED, 0)
        for first in range(0, len(self.parameters), 96):
            roots = [self.take(size, update) for size in self.parameters[first : first + 96]]
            for address in roots:
                self.drop(address, done)
