"""Ranks and restarts find their place in a run's folder, however many come at once."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from stepscope import Error, RecordingError, UsageError
from stepscope.recording.about import KEPT_VARIABLES, about_launch
from stepscope.recording.placement import Placement, expand, find_placement, launch_key
from stepscope.recording.run_folder import RankFolder, open_run


def about(script: str = "/scripts/train.py", start_ns: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "identity": {"script": script},
        "command": [script, "--lr", "0.1"],
        "start": "2026-01-01",
        "start_ns": start_ns,
        **more,
    }


def opened(
    folder: Path, rank: int = 0, launch: str = "one", run_id: str | None = None, **more: Any
) -> RankFolder:
    return open_run(str(folder), about(**more), run_id, launch, Placement(rank, 8))


def test_the_layout(tmp_path: Path) -> None:
    rank = opened(tmp_path / "new" / "run", rank=3)
    assert rank.path == tmp_path / "new" / "run" / "attempt-0" / "rank00003"
    run = json.loads((tmp_path / "new" / "run" / "run.json").read_text())
    attempt = json.loads((tmp_path / "new" / "run" / "attempt-0" / "attempt.json").read_text())
    assert (run["schema"], attempt["schema"]) == ("stepscope.run/1", "stepscope.attempt/1")
    assert run["id"] == rank.run_id
    assert attempt["launch"] == "one"
    everything = sorted(p.name for p in (tmp_path / "new" / "run").iterdir())
    assert everything == ["attempt-0", "run.json"]  # nothing temporary is left


def test_files_get_their_name_when_they_are_whole(tmp_path: Path) -> None:
    rank = opened(tmp_path)
    rank.partial("trace-0.json").write_text("{}")
    assert [p.name for p in rank.path.iterdir()] == ["trace-0.json.partial"]
    assert rank.complete("trace-0.json").read_text() == "{}"
    rank.write_json("rank.json", {"a": 1})
    rank.write_json("rank.json", {"a": 2})
    assert json.loads(rank.file("rank.json").read_text()) == {"a": 2}
    assert sorted(p.name for p in rank.path.iterdir()) == ["rank.json", "trace-0.json"]


def test_ranks_of_a_launch_meet_and_a_restart_comes_after(tmp_path: Path) -> None:
    first = [opened(tmp_path, rank, "one") for rank in (1, 0, 2)]
    again = [opened(tmp_path, rank, "two") for rank in (2, 1, 0)]
    assert {rank.attempt for rank in first} == {0}
    assert {rank.attempt for rank in again} == {1}
    assert len({rank.run_id for rank in first + again}) == 1
    # The same launch again, by hand: the rank's folder is taken.
    assert opened(tmp_path, 1, "two").attempt == 2
    assert opened(tmp_path, 0, "two").attempt == 2


def test_a_day_later_the_same_address_is_another_launch(tmp_path: Path) -> None:
    assert opened(tmp_path, 0, "localhost:29500").attempt == 0
    assert opened(tmp_path, 1, "localhost:29500", start_ns=86400 * 10**9).attempt == 1


def test_many_at_once(tmp_path: Path) -> None:
    found: list[RankFolder] = []
    ready = threading.Barrier(32)

    def come(rank: int, launch: str) -> None:
        ready.wait()
        found.append(opened(tmp_path, rank, launch))

    threads = [threading.Thread(target=come, args=(n % 16, f"l{n // 16}")) for n in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({rank.path for rank in found}) == 32
    assert len({rank.run_id for rank in found}) == 1
    assert {rank.attempt for rank in found} == {0, 1}
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".") or "partial" in p.name]


def test_another_run_is_refused(tmp_path: Path) -> None:
    opened(tmp_path)
    with pytest.raises(
        UsageError, match=r"holds another run, '/scripts/train.py --lr 0.1', started"
    ):
        opened(tmp_path, script="/scripts/other.py")
    with pytest.raises(UsageError, match="choose another folder"):
        opened(tmp_path, run_id="mine")
    assert not (tmp_path / "attempt-1").exists()


def test_a_name_of_ones_own_makes_it_the_same_run(tmp_path: Path) -> None:
    assert opened(tmp_path, run_id="mine").run_id == "mine"
    again = opened(tmp_path, launch="two", run_id="mine", script="/scripts/other.py")
    assert (again.run_id, again.attempt) == ("mine", 1)


@pytest.mark.parametrize("text", ["", "{", '{"schema": "other/1"}', "[]"])
def test_a_file_of_another_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError, match="is not of stepscope"):
        opened(tmp_path)
    assert (tmp_path / "run.json").read_text() == text


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match="a run cannot be recorded there: Not a directory"):
        opened(tmp_path / "file" / "run")
    with pytest.raises(Error, match="/proc/run: a run cannot be recorded there"):
        opened(Path("/proc/run"))


@pytest.mark.parametrize(
    ("variables", "rank", "world", "local"),
    [
        ({}, 0, 1, 0),
        ({"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}, 3, 8, 1),
        ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "16", "SLURM_LOCALID": "1"}, 5, 16, 1),
        # In the batch script itself, which is one process whatever the job asked for.
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "16"}, 0, 1, 0),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"}, 2, 4, 2),
        ({"RANK": "none", "WORLD_SIZE": "8"}, 0, 1, 0),
        ({"RANK": "9", "WORLD_SIZE": "8"}, 0, 1, 0),
    ],
)
def test_who_am_i(variables: dict[str, str], rank: int, world: int, local: int) -> None:
    found = find_placement(variables)
    assert (found.rank, found.world_size, found.local_rank) == (rank, world, local)


def test_a_launch_has_a_key() -> None:
    torchrun = {"MASTER_ADDR": "n1", "MASTER_PORT": "29500", "TORCHELASTIC_RESTART_COUNT": "0"}
    assert launch_key({**torchrun, "RANK": "0"}) == launch_key({**torchrun, "RANK": "1"})
    assert launch_key(torchrun) != launch_key({**torchrun, "TORCHELASTIC_RESTART_COUNT": "1"})
    assert launch_key({}) != launch_key({})  # by hand: every start is its own


def test_names_expand() -> None:
    slurm = {"SLURM_JOB_ID": "4711"}
    assert expand("runs/%j/%r", slurm, 3) == "runs/4711/3"
    assert expand("runs/%j-100%%-%x", {}, 0) == "runs/nojob-100%-%x"
    assert expand("%h", {}, 0) == os.uname().nodename.split(".")[0]


def test_only_listed_variables_are_kept() -> None:
    secret = {"AWS_SECRET_ACCESS_KEY": "hush", "WANDB_API_KEY": "hush", "OMP_NUM_THREADS": "4"}
    slurm = {"SLURM_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_JOB_ID": "6"}
    facts = about_launch({**secret, **slurm}, Placement(), {"lr": 0.1}, ("try",), False)
    assert facts["environment"] == {"OMP_NUM_THREADS": "4"}
    assert "hush" not in json.dumps(facts)
    assert set(facts["environment"]) <= set(KEPT_VARIABLES)
    assert facts["slurm"] == {"job_id": "7", "array_job_id": "6", "array_task_id": "2"}
    assert len(facts["command"]) == 1  # arguments were not wanted
    assert facts["identity"]["slurm_array_task_id"] == "2"
