"""The beginning of a recording: the rank, its folder, its file."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from typing import Any

from stepscope import _capture
from stepscope.errors import RecordingError
from stepscope.recording import children
from stepscope.recording.about import about_launch
from stepscope.recording.foreign_text import folder_for_recorder, utf8_text
from stepscope.recording.placement import expand, find_placement, launch_key
from stepscope.recording.run_folder import RANK_SCHEMA, RankFolder, open_run
from stepscope.recording.settings import Settings
from stepscope.recording.staging import staged


def begin(
    settings: Settings, stage: Mapping[str, str] | None = None, recorded_by: str = "profile"
) -> RankFolder:
    """Finds this process's place in the run and starts the recorder there, or in the stage."""
    placement = find_placement(os.environ)
    folder = expand(settings.folder, os.environ, placement.rank)
    about = about_launch(os.environ, placement, settings.config, settings.tags, settings.arguments)
    rank = open_run(folder, about, settings.run_id, launch_key(os.environ), placement)
    try:
        rank = staged(rank, stage)
    except OSError as error:
        raise RecordingError(f"the run cannot be staged: {error}") from None
    children.leave()
    if settings.ranges:
        facts = {
            "rank": str(placement.rank),
            "world_size": str(placement.world_size),
            "run": utf8_text(rank.run_id),
            "attempt": str(rank.attempt),
            "recorded_by": recorded_by,
        }
        try:
            _capture.start(folder_for_recorder(rank.path), "events.scope", facts)
        except OSError as error:
            raise RecordingError(f"{folder}: a run cannot be recorded there: {error}") from None
        try:
            children.invite(rank.path, settings.log_level)
            children.finish_in_forked_workers()
        except BaseException:  # a start that fails leaves nothing running
            children.withdraw()
            _capture.stop()
            raise
    return rank


def note_own_run(rank: RankFolder) -> None:
    """For `stepscope run`, whose program records itself: which run that is."""
    from stepscope.launched.waiting import note

    note("own", "")
    note("run", str(rank.run))
    note("rank", str(rank.path))


def rank_facts(rank: RankFolder) -> dict[str, Any]:
    """What rank.json begins with."""
    return {
        "schema": RANK_SCHEMA,
        "run": rank.run_id,
        "attempt": rank.attempt,
        "rank": rank.placement.rank,
        "local_rank": rank.placement.local_rank,
        "world_size": rank.placement.world_size,
        "rank_from": rank.placement.source,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "start_ns": time.time_ns(),
    }
