"""torch has one profiler: one of the program's own is seen, and the search for it costs nothing."""

from collections.abc import Callable
from pathlib import Path

from program import ROOT
from recorded_program import Script, rank_facts

MakeScript = Callable[[str], Script]

PROGRAM = """
import gc, warnings
import torch
from torch.profiler import ProfilerActivity, profile as torch_profile, schedule
import stepscope as ss

looks = []
def counted(look):
    def counting(*args):
        looks.append(args)
        return look(*args)
    return counting
gc.get_objects, gc.get_referrers = counted(gc.get_objects), counted(gc.get_referrers)

def record(name, inside=lambda step: None, plan=ss.schedule(wait=2, warmup=1, active=2, repeat=2)):
    looks.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ss.profile(name, schedule=plan, system=False) as prof:
            for step in range(12):
                (torch.ones(3) + 1).sum()
                inside(step)
                prof.step()
    texts = [str(one.message) for one in caught if one.category is ss.RecordingWarning]
    print(name, len(looks), " / ".join(texts), sep=" | ")

def theirs(**options):
    return torch_profile(activities=[ProfilerActivity.CPU], **options)

record("alone")
record("again")  # after windows of our own
kept = []
def short(step):  # begins and ends before our window
    if step == 0:
        kept.append(theirs())
        kept[-1].start()
    if step == 1:
        kept[-1].stop()
record("short", short)
def ready(step):  # warms up from step 1 on, and is stopped within ours
    if step == 1:
        kept.append(theirs(schedule=schedule(wait=0, warmup=9, active=1)))
        kept[-1].start()
    if step == 4:
        kept[-1].stop()
record("ready", ready)
with theirs(schedule=schedule(wait=0, warmup=9, active=1)):  # before the recording begins
    record("before")
profiler = torch.autograd.profiler.profile
print(profiler._prepare_trace.__code__.co_filename == profiler.config.__code__.co_filename)
print(profiler.__exit__.__code__.co_filename == profiler.config.__code__.co_filename)
"""

DECLINED = "no trace was recorded: another torch profiler is active, and there can be only one"


def test_profilers_of_the_program(training: MakeScript, tmp_path: Path) -> None:
    done = training(PROGRAM).run()
    assert done.returncode == 0, done.stderr
    *lines, begins, ends = done.stdout.splitlines()
    assert begins == ends == "True"  # torch is as before
    said = {name: (int(looks), text) for name, looks, text in (x.split(" | ") for x in lines)}
    # Nothing is searched for in all of the program's objects, however many windows there are.
    assert said["alone"] == said["again"] == said["short"] == (0, "")
    windows = {name: len(rank_facts(tmp_path / name)["windows"]) for name in said}
    assert windows == {"alone": 2, "again": 2, "short": 2, "ready": 1, "before": 0}
    assert said["ready"][1] == DECLINED  # its first window
    # One that began before is looked for once, as the recording begins.
    assert said["before"] == (1, f"{DECLINED} / {DECLINED}")


def test_only_torchs_part_is_subtracted(training: MakeScript) -> None:
    """From what a window costs, where the page says "beyond": the rest is stepscope's."""
    done = training(f"""
import sys
sys.path.insert(0, {str(ROOT / "bench")!r})
from recording_overhead import torchs_own
print(torchs_own({{"start": 1.0, "stop": 2.0, "export": 4.0, "other": 100.0}}))
""").run()
    assert done.returncode == 0, done.stderr
    assert done.stdout == "7.0\n"
