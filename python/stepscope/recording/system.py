"""The machine beside the training: one process of a node samples it into the node's folder.

What goes wrong with it is a warning: a training never fails because its machine was not measured.
"""

from __future__ import annotations

import socket

from stepscope import _capture
from stepscope.errors import UsageError
from stepscope.recording.foreign_text import folder_for_recorder
from stepscope.recording.notices import Notices
from stepscope.recording.run_folder import RankFolder

DEFAULT_HZ = 10.0
_MOST_HZ = 100.0


def samples_a_second(system: bool | float) -> float | None:
    """How often; None for not at all."""
    if system is True:
        return DEFAULT_HZ
    if system is False:
        return None
    if not isinstance(system, int | float) or not 0 < system <= _MOST_HZ:
        raise UsageError(
            f"system is True, False or samples a second, above 0 and up to 100, not {system!r}"
        )
    return float(system)


def start_system(hz: float | None, rank: RankFolder, notices: Notices) -> None:
    """Samples from here on, or waits until the process of this node that does has ended."""
    if hz is None:
        return
    host = socket.gethostname().replace("/", "_") or "unknown"
    folder = rank.path.parent / f"node-{host}"
    try:
        folder.mkdir(exist_ok=True)
        name = folder_for_recorder(folder)
        _capture.start_system(name, hz, rank.placement.rank, rank.placement.local_rank)
    except OSError as error:
        notices.warn(f"the machine is not measured: {error}")


def stop_system(notices: Notices) -> None:
    """The node's file is complete, where this process wrote it."""
    _capture.stop_system()
    state = _capture.system_state()
    if not state["path"]:
        return
    if error := state["write_error"]:
        notices.warn(f"some of the machine's samples could not be written: {error}")
    notices.set(system={key: state[key] for key in ("moments", "values", "cpu_ns")})
