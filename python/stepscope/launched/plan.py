"""What `stepscope run` wants recorded, as it stands in the environment of the program."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepscope.recording import children
from stepscope.recording.config_file import arguments_of
from stepscope.recording.placement import find_placement

VARIABLE = "STEPSCOPE_RUN_PLAN"


@dataclass(frozen=True)
class Plan:
    """JSON of the command: arguments of `profile`, and what it needs beside them."""

    content: dict[str, Any]

    def why_not(self) -> str:
        """A process that a recorded one started is part of it, unless it is another rank."""
        invited = Path(os.environ.get(children.VARIABLE, "")).name
        rank = find_placement(os.environ).rank
        if invited == f"rank{rank:05}":
            return (
                f"process {os.getpid()} trains, too, but was started by a process that is recorded "
                f"as rank {rank} already: only its ranges are recorded"
            )
        return ""

    def arguments(self) -> dict[str, Any]:
        """Of `profile`."""
        return arguments_of(self.content)


def plan_from() -> Plan | None:
    """None where no command left one."""
    text = os.environ.get(VARIABLE)
    return Plan(json.loads(text)) if text else None
