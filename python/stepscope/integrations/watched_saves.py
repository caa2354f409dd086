"""Checkpoints that a trainer saves are watched at the function that saves them.

No hook of a callback is called when a save begins, and of some frameworks none when it has ended.
"""

from __future__ import annotations

import functools
from typing import Any

from stepscope.integrations.following import Follower


class WatchedSaves:
    """Of one trainer, or of a class of them, between `watch` and `forget`."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._owner: Any = None
        self._name = ""
        self._before: Any = None
        self._ours: Any = None

    def watch(self, owner: Any, name: str) -> None:
        """Its method of this name saves; again: nothing."""
        theirs = getattr(owner, name, None)
        if theirs is None or self._owner is not None:
            return
        self._owner, self._name, self._before = owner, name, vars(owner).get(name)

        @functools.wraps(theirs)
        def save(*args: Any, **kwargs: Any) -> Any:
            if not self._follower.is_running:
                return theirs(*args, **kwargs)
            self._follower.save_begins()
            try:
                return theirs(*args, **kwargs)
            finally:
                self._follower.save_ends()

        self._ours = save
        setattr(owner, name, save)

    def forget(self) -> None:
        """What was there before, unless it was wrapped again since: that wrapper calls ours."""
        owner, self._owner = self._owner, None
        if owner is None or vars(owner).get(self._name) is not self._ours:
            return
        if self._before is None:
            delattr(owner, self._name)
        else:
            setattr(owner, self._name, self._before)
