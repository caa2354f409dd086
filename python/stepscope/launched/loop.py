"""The training loop of a program that does not know it is recorded.

It hears of optimizer steps and of passes over loaders, decides when recording begins, and calls
`step()` and `epoch()` as the program's author would. Whatever fails in here ends the recording with
a note, and the program goes on.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from stepscope import _capture
from stepscope.launched.loop_iterator import LoopIterator
from stepscope.launched.model_watch import ModelWatch
from stepscope.launched.plan import Plan, plan_from
from stepscope.launched.waiting import note, take_early_logs
from stepscope.recording.loading.watched import Watching
from stepscope.recording.loading.watching import WatchRequest, as_the_file_says
from stepscope.recording.profile import current, profile

# Steps of another optimizer without one of the leader, after which that one leads.
_PATIENCE = 50


class Leader:
    """The optimizer whose steps are the training's: the first one, while it goes on."""

    def __init__(self) -> None:
        self._leader: weakref.ref[Any] | None = None
        self._others: dict[int, int] = {}  # steps since the leader's last

    def is_step(self, optimizer: Any) -> bool:
        """Whether this optimizer's step ends one of the training."""
        leader = self._leader() if self._leader is not None else None
        if leader is optimizer:
            if self._others:
                self._others.clear()
            return True
        count = self._others.get(id(optimizer), 0) + 1
        if leader is None or count >= _PATIENCE:
            self._leader = weakref.ref(optimizer)
            self._others.clear()
            return True
        self._others[id(optimizer)] = count
        return False


class TrainingLoop:
    """One per process."""

    def __init__(self) -> None:
        self.is_recording = False
        self.model = ModelWatch()
        self._prof: profile | None = None
        self._has_optimizer = self._is_decided = False
        self._when_decided: list[Callable[[], None]] = []
        self._depth = 0  # optimizers that step within steps of others
        self._leader = Leader()
        self._range = _capture.range("optimizer step")
        self._is_in_range = self._is_after_closure = False
        self._is_followed = False  # a framework tells steps and passes itself
        self._loader: weakref.ref[Any] | None = None  # that gave the last batch
        self._training: weakref.ref[Any] | None = None  # that gave the last one before a step
        self._steps_of_pass = 0
        self._batches_of_step = 0
        self._is_ahead = False  # batches come one earlier than they are used
        self._is_pass_over = False  # but its last step is still to come
        self._step_thread: int | None = None  # that steps; another may read ahead
        self._evaluations = 0  # that a framework says are under way

    # Beginning.

    def optimizer_made(self) -> None:
        """A program that makes an optimizer means to train."""
        self._has_optimizer = True

    def when_decided(self, act: Callable[[], None]) -> None:
        """Called once, when recording has begun or is given up."""
        self._when_decided.append(act)

    def begin(self) -> None:
        """Training begins, if it has not."""
        if self._is_decided or not self._has_optimizer:
            return
        self._is_decided = True
        self._guarded(self._begin)
        self._guarded(self._tell_decided)

    def _begin(self) -> None:
        if current() is not None:  # the program's own, which has been noted
            return
        plan = plan_from()
        if plan is None or (why := plan.why_not()):
            note("skipped", why if plan is not None else "no plan")
            return
        self._start(plan)

    def _start(self, plan: Plan) -> None:
        prof = profile(**plan.arguments())
        early = take_early_logs()
        prof.recorded_by = "run"
        prof.gives_way, prof.tell = True, lambda text: note("warning", text)
        prof.plan, prof.stage = plan.content, plan.content.get("stage")
        prof.start()
        prof.add_early_lines(early)
        self._prof, self.is_recording = prof, True
        note("run", str(prof.rank.run))
        note("rank", str(prof.rank.path))

    def _tell_decided(self) -> None:
        for act in self._when_decided:
            act()

    # Steps.

    def step_begins(self, with_range: bool = True) -> None:
        """Of an optimizer; its range begins later where a closure comes first."""
        if not self._is_decided:
            self.begin()
        self._depth += 1
        if with_range and self.is_recording and self._depth == 1:
            self._enter_range()

    def closure_begins(self) -> None:
        """What it does is no part of the optimizer's work."""
        if self._depth == 1:
            self._leave_range()

    def closure_ends(self) -> None:
        """The optimizer goes on."""
        if self.is_recording and self._depth == 1:
            self._is_after_closure = True
            self._enter_range()

    def step_with_closure_ends(self) -> None:
        """The range that began in torch's own ends in it, too."""
        if self._is_after_closure and self._depth == 1:
            self._leave_range()

    def _enter_range(self) -> None:
        if not self._is_in_range:
            self._is_in_range = True
            self._range.__enter__()

    def _leave_range(self) -> None:
        if self._is_in_range:
            self._is_in_range = self._is_after_closure = False
            self._range.__exit__(None, None, None)

    def step_ends(self, optimizer: Any) -> None:
        """The same, well or not."""
        self._depth -= 1
        if self._depth == 0:
            self._leave_range()
        if not self.is_recording or self._depth != 0:
            return
        if not self.model.is_done and (prof := self._running()) is not None:
            self.model.stepped(optimizer, lambda seen: prof.rank.write_json("model.json", seen))
        if not self._is_followed:
            self._guarded(self._end_step, optimizer)

    def _end_step(self, optimizer: Any) -> None:
        prof = self._running()
        if prof is None or not self._leader.is_step(optimizer):
            return
        self._training = self._loader
        self._step_thread = threading.get_ident()
        self._steps_of_pass += 1
        if self._batches_of_step > 0:
            prof.count_batches(self._batches_of_step)
        self._batches_of_step = 0
        prof.step()
        if self._is_pass_over:
            self._end_pass(prof)

    # Loaders.

    def iterate(
        self, loader: Any, make: Callable[[], Iterator[Any]], is_ahead: bool = False
    ) -> Iterator[Any]:
        """A pass over a loader begins; it gets the iterator that it would have, with a clock.

        Args:
            loader: which one.
            make: gives its own iterator.
            is_ahead: the caller keeps a batch back, as Accelerate does to know the last one: the
                pass is over before its last batch is used.
        """
        self.begin()
        if not self.is_recording or self._is_followed or isinstance(loader, Watching):
            return make()
        self._is_ahead = is_ahead
        made: list[Iterator[Any]] = []

        def make_once() -> Iterator[Any]:
            if not made:  # an error of the loader's is the program's
                made.append(make())
            return made[0]

        watched = self._guarded(self._watched, loader, make_once)
        return watched if watched is not None else make_once()

    def _watched(self, loader: Any, make: Callable[[], Iterator[Any]]) -> Iterator[Any] | None:
        prof = self._running()
        if prof is None:
            return None
        trains = self._evaluations == 0 and _gradients_are_on()
        if trains and self._is_training_loader(loader) and not self._is_beside():
            self._end_pass(prof)
            prof.begin_step()
        request = WatchRequest(None if trains else "validation", None, None, (), False)
        request = as_the_file_says(request, prof.plan)

        def iterator(*args: Any, **kwargs: Any) -> LoopIterator:
            return LoopIterator(self, loader, trains, *args, **kwargs)

        return prof.loaders.iterate(loader, make, request, iterator, self._is_ahead)

    def evaluation_begins(self) -> None:
        """Of a framework that switches gradients off later than its loader begins."""
        self._evaluations += 1

    def evaluation_ends(self) -> None:
        """The same, well or not."""
        self._evaluations -= 1

    def _is_training_loader(self, loader: Any) -> bool:
        return self._training is not None and self._training() is loader

    def batch_came(self, loader: weakref.ref[Any], number: int) -> None:
        """From a pass with gradients, as its batch of this number (from 0)."""
        self._loader = loader
        if not (self._is_ahead and number == 0):  # which is kept back
            self._batches_of_step += 1

    def pass_ended(self, loader: Any, trains: bool, batches: int) -> None:
        """Or was left."""
        prof = self._running()
        if prof is None:
            return
        if not trains:
            # What came since the last step is part of none, unless the next has begun.
            if self._batches_of_step == 0 and not self._is_beside():
                prof.begin_step()
        elif batches > 1 and self._is_training_loader(loader):  # next(iter(loader)) is no epoch
            if self._is_ahead:
                self._is_pass_over = True
                self._batches_of_step += 1  # the one that was kept back
            elif self._is_beside():
                self._is_pass_over = True  # the loop uses its batches still
            else:
                self._end_pass(prof)

    def _is_beside(self) -> bool:
        """On a thread that reads ahead of the loop: where that is, it does not know."""
        return self._step_thread not in (None, threading.get_ident())

    def _end_pass(self, prof: profile) -> None:
        self._is_pass_over = False
        if self._steps_of_pass > 0:
            self._steps_of_pass = 0
            prof.epoch()

    # Frameworks that tell more than torch does.

    def follow(self) -> profile | None:
        """From now on a framework's own events say what is a step; the recording, if there is one.

        It begins now where it has not.
        """
        self._has_optimizer = True
        self.begin()
        prof = self._running()
        self._is_followed = prof is not None
        return prof

    def unfollow(self) -> None:
        """What comes now is a loop of the program's own."""
        self._is_followed = False
        self._steps_of_pass = self._batches_of_step = 0

    # Inside.

    def _running(self) -> profile | None:
        """The recording, while it is ours and goes on: also forked children ask."""
        if self._prof is not None and current() is self._prof:
            return self._prof
        self.is_recording = False
        return None

    def _guarded(self, call: Callable[..., Any], *args: Any) -> Any:
        try:
            return call(*args)
        except Exception as error:
            self.is_recording = False
            note("failed", f"{type(error).__name__}: {error}")
            return None


def _gradients_are_on() -> bool:
    torch = sys.modules.get("torch")
    return bool(torch is None or torch.is_grad_enabled())


LOOP = TrainingLoop()
