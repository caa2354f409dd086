"""Real trainings with torch on the CPU: recorded, then opened with stepscope."""

import fcntl
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from program import Program
from recorded_program import Script, ranges_of, rank_facts, rank_folder, write_script

import stepscope

MakeScript = Callable[[str], Script]

# Small; its update is by hand because torch's optimizers load a compiler.
TRAINING = """
import os, sys, time
import torch
import stepscope as ss

model = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))

def train(batch):
    with ss.range("forward"):
        loss = model(batch).square().mean()
    with ss.range("backward"):
        loss.backward()
    with ss.range("update"), torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad
            parameter.grad = None
    ss.counter("loss", loss.item())

def batches(count):
    return [torch.randn(8, 32) for _ in range(count)]
"""

TWO_WINDOWS = (
    TRAINING
    + """
import logging
logging.getLogger().setLevel(logging.INFO)
plan = ss.schedule(batches=(2, 4), epochs=[1, 2])
with ss.profile("run", schedule=plan, trace=["shapes", "memory"], first_step=50) as prof:
    for epoch in range(3):
        for batch in prof.watch(batches(6)):
            train(batch)
            prof.step()
        time.sleep(0.3)
        logging.info("epoch %d is over", epoch)
        prof.epoch()
"""
)


@pytest.fixture(scope="session")
def recorded(training_python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with two windows, in epochs of six batches; one for all processes of the tests."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with (folder / "recorded.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "run").exists():
            done = write_script(training_python, folder / "recorded.py", TWO_WINDOWS).run()
            assert (done.returncode, done.stdout) == (0, ""), done.stderr
            assert "Warning" not in done.stderr
    return folder / "run"


def test_every_file_has_its_final_name(recorded: Path) -> None:
    names = sorted(file.name for file in rank_folder(recorded).iterdir())
    assert names == ["events.scope", "rank.json", "trace-0.json.gz", "trace-1.json.gz"]


def test_steps_of_trace_and_recording_are_the_same(recorded: Path) -> None:
    scope = stepscope.open(rank_folder(recorded) / "events.scope")
    assert scope.step_numbers == list(range(50, 68))
    traces = [
        stepscope.open(rank_folder(recorded) / f"trace-{n}.json.gz").step_numbers for n in (0, 1)
    ]
    assert traces == [[58, 59], [64, 65]]
    windows = rank_facts(recorded)["windows"]
    assert [(w["first_step"], w["steps"], w["closed"]) for w in windows] == [
        (58, 2, "complete"),
        (64, 2, "complete"),
    ]
    # The first of a window lies in its ProfilerStep: opening the window is no part of it.
    by_number = {row["step"]: row["host_ns"] for row in scope.ask("steps")["steps"].rows()}
    traced = stepscope.open(rank_folder(recorded) / "trace-0.json.gz").ask("steps")["steps"]
    first = next(traced.rows())
    assert first["step"] == 58
    assert 0 < by_number[58] <= first["host_ns"] + 1000
    assert by_number[56] < 300e6  # the first after an epoch, without what came between


def test_windows_cost_what_lies_between_the_steps(recorded: Path) -> None:
    """All that the training stood still for a window is in its cost."""
    scope = stepscope.open(rank_folder(recorded) / "events.scope")
    steps = {row["step"]: row for row in scope.ask("steps")["steps"].rows()}
    for window in rank_facts(recorded)["windows"]:
        first, after = window["first_step"], window["first_step"] + window["steps"]
        # Before the step of warm-up, before the first that is kept, and after the last.
        gaps = sum(
            steps[number]["start_ns"] - steps[number - 1]["start_ns"] - steps[number - 1]["host_ns"]
            for number in (first - 1, first, after)
        )
        assert sum(window["cost_ns"].values()) == pytest.approx(gaps, rel=0.1, abs=2e6)


def test_ranges_reach_the_trace(recorded: Path) -> None:
    everywhere = ranges_of(rank_folder(recorded) / "events.scope")
    assert (everywhere["forward"], everywhere["backward"], everywhere["update"]) == (18, 18, 18)
    traced = ranges_of(rank_folder(recorded) / "trace-1.json.gz")
    assert (traced["forward"], traced["backward"], traced["update"]) == (2, 2, 2)
    assert traced["wait for data#list"] >= 2


def test_the_trace_holds_what_was_asked_for(recorded: Path) -> None:
    run = stepscope.open(rank_folder(recorded) / "trace-0.json.gz")
    shapes = [
        row for row in run.ask("operators", top=0).table.rows() if row["name"] == "aten::linear"
    ]
    assert shapes[0]["calls"] == 4
    assert run.info["run"]["lost_data"] is False
    about = json.loads(subprocess.check_output(["zcat", rank_folder(recorded) / "trace-0.json.gz"]))
    assert about["record_shapes"] == about["profile_memory"] == 1
    assert about["stepscope"]["run"] == rank_facts(recorded)["run"]
    assert about["distributedInfo"] == {"rank": 0, "world_size": 1}
    # Before 2024 torch wrote Unix time, which needs no base.
    odd = {note["id"] for note in run.notes}
    assert odd == (set() if "baseTimeNanoseconds" in about else {"without_base_time"})
    # Either way trace and recording are on one clock.
    steps = stepscope.open(recorded).time()["steps"].rows()
    assert [row["step"] for row in steps if row["traced"]] == [58, 59, 64, 65]


def test_the_program_opens_it(recorded: Path, program: Program) -> None:
    for command in ("info", "report"):
        done = subprocess.run(
            [program.path, command, recorded], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "Step" in done.stdout


def test_a_trace_in_a_folder_whose_name_is_no_text(training: MakeScript, tmp_path: Path) -> None:
    program = training(
        TRAINING
        + r"""
odd = os.fsdecode(b"caf\xe9")
os.mkdir(odd)
os.chdir(odd)
files = []
with ss.profile("run", schedule=ss.schedule(wait=1, warmup=0, active=2, repeat=3)) as prof:
    for batch in batches(12):
        train(batch)
        prof.step()
        files.append(len(os.listdir("/proc/self/fd")))
assert files[-1] - files[3] < 2, ("each of two more windows left a file open", files)
"""
    )
    done = program.run()
    assert (done.returncode, "Warning" in done.stderr) == (0, False), done.stderr
    run = tmp_path / os.fsdecode(b"caf\xe9") / "run"
    assert [window["closed"] for window in rank_facts(run)["windows"]] == ["complete"] * 3
    assert {f"trace-{i}.json.gz" for i in range(3)} <= {f.name for f in rank_folder(run).iterdir()}


def test_two_ranks_with_gloo(training: MakeScript, tmp_path: Path) -> None:
    program = training(
        TRAINING
        + """
import torch.distributed as dist
rank, world = int(os.environ.pop("RANK")), int(os.environ.pop("WORLD_SIZE"))
early = ss.profile("early", trace=False, run_id=f"early {rank}") if rank == 1 else None
if early:
    early.start()
dist.init_process_group("gloo", rank=rank, world_size=world)
if early:
    early.step()
    early.stop()
for name, rank0_only in (("both", False), ("one", True)):
    plan = ss.schedule(wait=1, warmup=1, active=2)
    with ss.profile(name, schedule=plan, rank0_only=rank0_only) as prof:
        for batch in batches(6):
            train(batch)
            for parameter in model.parameters():
                dist.all_reduce(parameter.data)
            prof.step()
dist.destroy_process_group()
"""
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    launch = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    ranks = [program.start(RANK=str(rank), **launch) for rank in (0, 1)]
    for process in ranks:
        _, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
    for name in ("both", "one"):
        for rank in (0, 1):
            facts = rank_facts(tmp_path / name, rank)
            assert (facts["rank"], facts["world_size"]) == (rank, 2)
            assert facts["rank_from"] == "torch.distributed"
            assert len(facts["windows"]) == (1 if rank == 0 or name == "both" else 0)
            assert facts["steps"] == 6
    (early,) = rank_facts(tmp_path / "early")["warnings"]
    assert early["text"] == (
        "this process is recorded as rank 0, but torch.distributed says it is rank 1: start the "
        "recording after init_process_group"
    )
    both = [rank_folder(tmp_path / "both", rank) / "trace-0.json.gz" for rank in (0, 1)]
    run = stepscope.open(both)
    assert run.ranks == [0, 1]
    assert run.step_numbers == [2, 3]


def test_windows_that_go_wrong(training: MakeScript, tmp_path: Path, program: Program) -> None:
    """Several recordings in one process, because torch takes seconds to load."""
    script = training(
        TRAINING
        + """
import mmap, resource, tempfile, warnings
from torch.profiler import profile as torch_profile, ProfilerActivity

from stepscope.recording.profile import current as prof_now
def record(name, steps=6, inside=lambda step: None, after=lambda: None, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ss.profile(name, **options) as prof:
            for step, batch in enumerate(batches(steps)):
                train(batch)
                inside(step)
                prof.step()
            after()
    texts = [str(one.message) for one in caught if one.category is ss.RecordingWarning]
    print(name, "|", " / ".join(texts))

plan = ss.schedule(warmup=1, active=4)
record("slow", schedule=plan, inside=lambda step: time.sleep(step == 2), max_seconds=0.9)
def map_file(step):  # as data sets are: no memory of the process's own
    kept.append(mmap.mmap(large.fileno(), 0, prot=mmap.PROT_READ))
    for at in range(0, 60_000_000, 4096):
        kept[-1][at]
kept = []
with tempfile.TemporaryFile() as large:
    large.truncate(60_000_000)
    record("mapped", schedule=plan, max_bytes=50_000_000, inside=map_file)
record("large", schedule=plan, max_bytes=50_000_000,
       inside=lambda step: kept.append(torch.ones(10_000_000)))
record("short", steps=3, schedule=plan)
record("early", steps=3, schedule=ss.schedule(wait=9))
with torch_profile(activities=[ProfilerActivity.CPU]):
    record("busy", schedule=plan)
def intrude(step):  # a profiler of the program's own, within the window
    if step == 3:
        kept.append(torch_profile(activities=[ProfilerActivity.CPU]))
        kept[-1].start()
    if step == 4:
        kept[-1].stop()
        print("intruded |", len([e for e in kept[-1].events() if e.name == "aten::linear"]) > 0)
record("intruder", schedule=plan, inside=intrude)
def meet(step):  # the same while ours warms up: both would crash
    if step == 0:
        with torch_profile(activities=[ProfilerActivity.CPU]) as theirs:
            train(batches(1)[0])
        print("met |", len([e for e in theirs.events() if e.name == "aten::linear"]) > 0)
record("warming", schedule=plan, inside=meet)
record("epochs", schedule=ss.schedule(epochs=[0], batches=(2, 6)),
       inside=lambda step: step == 3 and prof_now().epoch())
record("late", steps=3, epochs=1, after=lambda: prof_now().epoch())
record("two", schedule=ss.schedule(warmup=0, active=2, repeat=2))
record("again", steps=4, schedule=ss.schedule(active=2, repeat=0))
record("plain", schedule=plan, trace=False)
record("gpu", schedule=plan, trace=["cpu", "xpu"])
record("none", schedule=plan, trace=["xpu"])

def fill(step):  # from here on no file grows larger than this, as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
record("full", schedule=plan, inside=fill)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

def fail(step):
    if step == 3:
        raise RuntimeError("in the middle")
try:
    record("error", schedule=plan, inside=fail)
except RuntimeError as error:
    print("error |", error)

import threading
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    prof = ss.profile("thread", schedule=plan).start()
    for batch in batches(3):
        train(batch)
        prof.step()
    stopper = threading.Thread(target=prof.stop)
    stopper.start()
    stopper.join()
print("thread |", caught[-1].message)
"""
    )
    done = script.run()
    assert done.returncode == 0, done.stderr
    said = dict(line.split(" | ") for line in done.stdout.replace("|\n", "| \n").splitlines())
    closed_early = "the trace window was closed after 2 steps: "
    assert said["slow"] == closed_early + "it had been open for more than 0.9 s (max_seconds)"
    assert closed_early + "the process had grown by " in said["large"]
    assert "more than the 48 MiB of max_bytes" in said["large"]
    assert said["short"] == "the run ended within the trace window: it holds 2 of 4 steps"
    assert "the trace window (3 steps after 10 steps) was never opened" in said["early"]
    assert said["busy"] == (
        "no trace was recorded: another torch profiler is active, and there can be only one"
    )
    assert said["intruder"] == (
        "another torch profiler was started within the trace window, and there can be only one: "
        "the trace ends there, after 2 steps"
    )
    assert said.pop("intruded") == said.pop("met") == "True"  # and have their own events
    assert said["warming"] == (
        "no trace was recorded: another torch profiler was started within the trace window, and "
        "there can be only one"
    )
    assert said["epochs"] == (
        "an epoch ended within the trace window: it holds 1 step, and batches 2 to 5 of epoch 0 "
        "were asked for"
    )
    assert said["late"] == (
        "the trace window (all steps of epoch 1) holds no whole step: the run ended after 3 steps "
        "and 1 epoch; choose an earlier epoch, or fewer batches"
    )
    assert said["two"] == said["plain"] == said["mapped"] == ""
    assert said["gpu"] == said["none"] == "torch cannot trace xpu here"
    assert "trace-0.json could not be written; is the disk full?" in said["full"]
    assert said["error"] == "in the middle"
    assert "can only be stopped by the thread that started it" in said["thread"]
    assert rank_facts(tmp_path / "error")["error"]["step"] == 3
    closed = {
        name: [
            (w["first_step"], w["steps"], w["closed"])
            for w in rank_facts(tmp_path / name)["windows"]
        ]
        for name in said
    }
    assert closed == {
        "slow": [(1, 2, "max_seconds")],
        "mapped": [(1, 4, "complete")],
        "large": [(1, 2, "max_bytes")],
        "short": [(1, 2, "stop")],
        "early": [],
        "busy": [],
        "intruder": [(1, 2, "another profiler")],
        "warming": [],
        "epochs": [(2, 1, "epoch")],
        "late": [(3, 0, "stop")],
        "two": [(0, 2, "complete"), (2, 2, "complete")],
        "again": [(1, 2, "complete")],
        "plain": [],
        "gpu": [(1, 4, "complete")],
        "none": [],
        "full": [(1, 4, "not written")],
        "error": [(1, 2, "exception")],
        "thread": [(1, 2, "not written")],
    }
    assert not list(rank_folder(tmp_path / "full").glob("trace-*"))
    shown = program.run("info", tmp_path / "full").stdout.decode()
    assert "1 window whose file could not be written" in shown
    for name, windows in closed.items():
        for number, (first, steps, why) in enumerate(windows):
            if why == "not written":
                continue
            run = stepscope.open(rank_folder(tmp_path / name) / f"trace-{number}.json.gz")
            # Alone, a trace without a whole step is all one, as any without steps.
            assert run.step_numbers == (list(range(first, first + steps)) or [0]), name


def test_killed_half_way(training: MakeScript, tmp_path: Path, program: Program) -> None:
    """Within the second window: the first is whole, ranges and log are there to the last flush."""
    script = training(
        TRAINING
        + """
logging = __import__("logging")
logging.getLogger().setLevel(logging.INFO)
plan = ss.schedule(wait=0, warmup=0, active=4, repeat=2)
with ss.profile("run", schedule=plan) as prof:
    for step, batch in enumerate(batches(7)):
        train(batch)
        logging.info("step %d", step)
        prof.step()
    time.sleep(1.0)  # the recorder writes ten times a second
    print("in the second window", flush=True)
    time.sleep(60)
"""
    )
    process = script.start()
    assert process.stdout is not None
    assert process.stdout.readline() == "in the second window\n"
    process.kill()
    process.communicate(timeout=30)
    folder = rank_folder(tmp_path / "run")
    assert (folder / "trace-0.json.gz").exists() or (folder / "trace-0.json").exists()
    assert not list(folder.glob("trace-1*"))
    assert ranges_of(folder / "events.scope")["forward"] == 7
    info = stepscope.open(tmp_path / "run").info
    (record,) = info["rank_records"]
    assert (record["finished"], record["steps"]) == (None, None)
    assert [(w["first_step"], w["steps"]) for w in record["windows"]] == [(0, 4)]
    assert "not_finished" in {note["id"] for note in info["notes"]}
    for command in ("info", "report"):
        words = [str(program.path), command, str(tmp_path / "run")]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "killed, or still running" in done.stdout


def test_sigterm_within_a_window(training: MakeScript, tmp_path: Path) -> None:
    """First with a handler of the program's, which goes on training; then without one."""
    program = training(
        TRAINING
        + """
import os, signal
signal.signal(signal.SIGTERM, lambda number, frame: print("asked", flush=True))
with ss.profile("own", schedule=ss.schedule(active=1000)) as prof:
    for step, batch in enumerate(batches(40)):
        train(batch)
        if step == 20:
            os.kill(os.getpid(), signal.SIGTERM)
        prof.step()
signal.signal(signal.SIGTERM, signal.SIG_DFL)
prof = ss.profile("none", schedule=ss.schedule(active=1000)).start()
for step, batch in enumerate(batches(1000)):
    train(batch)
    if step == 20:
        print("ready", flush=True)
    if step > 20:
        time.sleep(0.01)
    prof.step()
"""
    )
    process = program.start()
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["asked\n", "ready\n"]
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    for name, steps, finished in (("own", 40, "stop"), ("none", None, "SIGTERM")):
        facts = rank_facts(tmp_path / name)
        (window,) = facts["windows"]
        assert window["closed"] == "SIGTERM"
        assert facts["finished"] == finished
        assert steps is None or facts["steps"] == steps
        run = stepscope.open(rank_folder(tmp_path / name) / "trace-0.json.gz")
        assert run.step_numbers[:19] == list(range(1, 20))


def test_workers_of_a_data_loader(training: MakeScript, tmp_path: Path) -> None:
    program = training(
        """
        import sys
        import torch
        import stepscope as ss

        class Numbers(torch.utils.data.Dataset):
            def __len__(self):
                return 32

            def __getitem__(self, number):
                with ss.range("read"):
                    return torch.tensor([number])

        if __name__ == "__main__":
            for how in ("fork", "spawn"):
                loader = torch.utils.data.DataLoader(
                    Numbers(), batch_size=4, num_workers=2, multiprocessing_context=how
                )
                with ss.profile(how, schedule=ss.schedule(active=2)) as prof:
                    for batch in prof.watch(loader):
                        prof.step()
        """
    )
    done = program.run()
    assert done.returncode == 0, done.stderr
    for how in ("fork", "spawn"):
        workers = list(rank_folder(tmp_path / how).glob("worker-*.scope"))
        assert len(workers) == 2
        assert sum(ranges_of(file)["read"] for file in workers) == 32
        assert rank_facts(tmp_path / how)["windows"][0]["steps"] == 2
