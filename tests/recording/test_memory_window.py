"""Snapshots of the allocator: what runs without a GPU. The rest: tests/recording/gpu_check.py."""

import json
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_allocator import OfTorch21, OfTorch215, a_rank, with_gpu
from recorded_program import Script, rank_facts, rank_folder

import stepscope
from stepscope.recording import memory_history, oom
from stepscope.recording.memory_window import MemoryWindow
from stepscope.recording.snapshot_options import snapshot, window_snapshot

MakeScript = Callable[[str], Script]

TRAIN = """
import sys, torch
import stepscope as ss

model = torch.nn.Linear(4, 4)
with ss.profile(sys.argv[1], trace=False, snapshot={snapshot},
                schedule=ss.schedule(wait=1, warmup=1, active=2, repeat=2)) as prof:
    for _ in range(12):
        model(torch.ones(2, 4)).sum().backward()
        prof.step()
print("done")
"""


def test_without_a_gpu_it_is_said_once_and_training_goes_on(
    training: MakeScript, tmp_path: Path
) -> None:
    done = training(TRAIN.format(snapshot="True")).run(str(tmp_path / "run"))
    assert done.stdout == "done\n", done.stderr
    facts = rank_facts(tmp_path / "run")
    texts = [warning["text"] for warning in facts["warnings"]]
    said = [text for text in texts if "no memory snapshot" in text]
    assert said == [
        "no memory snapshot was recorded: torch has no CUDA device here, and only the memory of "
        "CUDA devices is recorded"
    ]
    assert not list(rank_folder(tmp_path / "run").glob("memory-*.pickle*"))


def test_without_a_request_nothing_is_said(training: MakeScript, tmp_path: Path) -> None:
    done = training(TRAIN.format(snapshot="None")).run(str(tmp_path / "run"))
    assert done.stdout == "done\n", done.stderr
    assert rank_facts(tmp_path / "run")["warnings"] == []


ADDRESSES = """
import json, torch
from stepscope.recording.addresses import contents

class Lazy:
    woken = []
    def __getattribute__(self, name):
        Lazy.woken.append(name)
        raise RuntimeError("woken up by " + name)

lazy = Lazy()
kept = [lazy, torch.nn.LazyLinear(3), torch.nn.Linear(2, 2, device="meta")]
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8))
model.register_module("again", model[0])
optimizer = torch.optim.AdamW(model.parameters())
model(torch.ones(4, 8)).sum().backward()
optimizer.step()

def places(tensors):
    found = {(t.untyped_storage().data_ptr(), t.untyped_storage().nbytes()) for t in tensors}
    return sorted([a, b] for a, b in found)

right = {
    "parameters": places(model.parameters()),
    "buffers": places(model.buffers()),
    "gradients": places(p.grad for p in model.parameters()),
    "optimizer_state": places(t for s in optimizer.state.values() for t in s.values()),
}
master = [torch.nn.Parameter(p.detach().double()) for p in model.parameters()]
second = torch.optim.SGD(master, lr=0.1)
found = contents(device="cpu")
given = contents([model], [optimizer], device="cpu")
with_master = contents([model], [second], device="cpu")
alone = contents([], [optimizer], device="cpu")
strip = lambda places: json.loads(json.dumps({k: v for k, v in places.items() if k in right}))
assert given["found_by"] == "given" and found["found_by"] == "search"
assert strip(given) == right, (given, right)
for key in ("parameters", "buffers", "gradients"):
    assert strip(found)[key] == right[key], key
assert strip(found)["optimizer_state"] == sorted(right["optimizer_state"] + places(master))
assert strip(with_master)["optimizer_state"] == places(master)
assert strip(alone)["parameters"] == right["parameters"]
assert contents() == {"schema": "stepscope.addresses/1", "found_by": "search", "parameters": [],
                      "buffers": [], "gradients": [], "optimizer_state": []}
assert Lazy.woken == [], Lazy.woken
print("right")
"""


def test_addresses_of_a_real_model_are_right(training: MakeScript) -> None:
    """Found or given, each storage once; lazy objects sleep on."""
    done = training(ADDRESSES).run()
    assert done.stdout == "right\n", done.stderr


@pytest.mark.parametrize(
    ("memory", "asked"),
    [
        (OfTorch21, ("all", "alloc", "python", 100)),
        (OfTorch215, ("all", "alloc", "python", 100, True)),
    ],
)
def test_the_history_is_asked_for_as_each_torch_knows_it(
    memory: type[OfTorch21],
    asked: tuple[Any, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    made = memory({"segments": [], "device_traces": [[]]})
    with_gpu(monkeypatch, made)
    window = MemoryWindow(snapshot(max_entries=100))
    window.begin_run(*a_rank(tmp_path))
    window.open(3)
    window.on_step(3)
    facts = window.close("complete")
    assert made.asked == [asked, (None,)]
    assert facts["files"] == ["memory-0.pickle", "memory-0-addresses.json"]
    assert facts["whole"] is True
    assert pickle.loads((tmp_path / "memory-0.pickle").read_bytes()) == made.taken
    assert json.loads((tmp_path / "memory-0-addresses.json").read_text())["step"] == 4
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({}, ("alloc", "python")),
        ({"frees": True}, ("all", "python")),
        ({"stacks": "all"}, ("alloc", "all")),
        ({"stacks": "all", "frees": True}, ("all", "all")),
        ({"stacks": "none", "frees": True}, (None, "python")),
    ],
)
def test_stacks_are_taken_where_it_is_asked_for(
    options: dict[str, Any],
    asked: tuple[str | None, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    made = OfTorch215({"segments": [], "device_traces": [[]]})
    with_gpu(monkeypatch, made)
    window = MemoryWindow(snapshot(**options))
    window.begin_run(*a_rank(tmp_path))
    window.open(0)
    assert made.asked[0][1:3] == asked


def test_a_history_that_was_overwritten_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    late = {"action": "alloc", "addr": 1, "size": 1, "stream": 0, "time_us": 4 * 10**15}
    made = OfTorch215({"segments": [], "device_traces": [[late, late]]})
    with_gpu(monkeypatch, made)
    window = MemoryWindow(snapshot(max_entries=2))
    window.begin_run(*a_rank(tmp_path))
    window.open(0)
    window.on_step(0)
    with pytest.warns(stepscope.RecordingWarning, match="2 entries hold only the last 0 of 2 step"):
        facts = window.close("complete")
    assert facts["whole"] is False


def test_a_history_of_the_program_itself_is_left_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = OfTorch215({"segments": [], "device_traces": []})
    with_gpu(monkeypatch, made)
    sys.modules["torch"]._C._cuda_isHistoryEnabled = lambda: True
    window = MemoryWindow(snapshot())
    window.begin_run(*a_rank(tmp_path))
    window.open(0)
    assert window.close("complete")["stacks"] == "as the program chose"
    assert made.asked == []


def test_memory_that_runs_out_gives_few_snapshots_that_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    event = {"action": "oom", "device_free": 7, "size": 5, "stream": 0, "time_us": 1, "frames": []}
    observers = with_gpu(
        monkeypatch, OfTorch215({"segments": [], "device_traces": [[event]], "x": 1})
    )
    rank, notices = a_rank(tmp_path)
    options = window_snapshot(None)
    assert options is not None
    watch = oom.OomWatch(options, rank, notices, lambda: 9)
    watch.listen()
    watch.listen()
    assert len(observers) == 1
    with pytest.warns(
        stepscope.RecordingWarning, match="5,000 bytes were asked for, ran out in step"
    ):
        for _ in range(5):
            observers[0](0, 5000, 10, 7)
    watch.on_exception()  # already reported
    names = sorted(path.name for path in tmp_path.glob("memory-oom-*.pickle"))
    assert names == [f"memory-oom-{i}.pickle" for i in range(3)]
    (first, *_) = json.loads((tmp_path / "rank.json").read_text())["windows"]
    assert (first["closed"], first["asked_bytes"], first["free_bytes"]) == (
        "out of memory",
        5000,
        7,
    )
    assert stepscope.open_memory(tmp_path / names[0]).memory_oom().tables
    watch.forget()
    observers[0](0, 5000, 10, 7)
    assert len(list(tmp_path.glob("memory-oom-*.pickle"))) == 3


def test_a_disk_that_is_full_harms_no_training(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    observers = with_gpu(monkeypatch, OfTorch215({"segments": [], "device_traces": []}))
    rank, notices = a_rank(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(memory_history, "write", full)
    options = window_snapshot(True)
    assert options is not None
    watch = oom.OomWatch(options, rank, notices, lambda: 9)
    watch.listen()
    with pytest.warns(stepscope.RecordingWarning, match="no snapshot could be written"):
        observers[0](0, 5, 10, 7)
    watch.forget()


def test_wrong_settings_are_errors_at_the_call() -> None:
    for wrong in ({"stacks": "c++"}, {"max_entries": 0}, {"schedule": 3}):
        with pytest.raises(stepscope.UsageError):
            snapshot(**wrong)
    with pytest.raises(stepscope.UsageError, match="snapshot is True, False"):
        window_snapshot(3)
