"""stepscope.profile without torch: all but its windows is recorded; misuse is an error at once."""

import json
import logging
import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from program import Program
from recorded_program import Script, ranges_of, rank_facts, rank_folder

import stepscope
from stepscope import Error, RecordingError, RecordingWarning, UsageError, profile, schedule
from stepscope.recording import shortfalls

MakeScript = Callable[[str], Script]


def warnings_of(run: Path) -> list[str]:
    return [warning["text"] for warning in rank_facts(run)["warnings"]]


def test_the_loop(tmp_path: Path) -> None:
    logging.getLogger("training").setLevel(logging.INFO)
    with profile(tmp_path / "run", config={"lr": 0.1}, tags="try", first_step=100) as prof:
        for number in prof.watch([1, 2, 3]):
            with stepscope.range("forward"):
                stepscope.counter("loss", 1 / number)
            logging.getLogger("training").info("batch %d", number)
            stepscope.log("plain")
            stepscope.instant("checkpoint")
            stepscope.step()
        prof.epoch()
    assert (prof.steps, prof.epochs) == (3, 1)
    folder = rank_folder(tmp_path / "run")
    assert sorted(file.name for file in folder.iterdir()) == ["events.scope", "rank.json"]
    found = ranges_of(folder / "events.scope")
    assert (found["forward"], found["wait for data#list"]) == (3, 4)
    opened = stepscope.open(folder / "events.scope")
    assert opened.step_numbers == [100, 101, 102]
    assert opened.notes == []
    loader = next(opened.dataloader()["loaders"].rows())
    assert (loader["loader"], loader["fetches"]) == ("list", 4)
    facts = rank_facts(tmp_path / "run")
    assert (facts["finished"], facts["steps"], facts["epochs"]) == ("stop", 3, 1)
    assert facts["cost"]["log_lines"] == 6
    assert facts["warnings"] == facts["windows"] == []
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (run["config"], run["tags"]) == ({"lr": 0.1}, ["try"])


def test_findings_say_how_to_record_more_in_the_same_way(tmp_path: Path) -> None:
    with profile(tmp_path / "run") as prof:
        for _ in range(3):
            prof.step()
    missing = stepscope.open(tmp_path / "run").findings().not_judged
    assert any(one.record.startswith('stepscope.profile("runs/new", ') for one in missing)
    assert not any("ProfilerActivity" in one.record for one in missing)


def test_outside_a_recording_nothing_happens(tmp_path: Path) -> None:
    stepscope.step()
    stepscope.log("nothing listens")
    prof = profile(tmp_path / "run")
    prof.step()
    prof.epoch()
    assert list(prof.watch([1, 2])) == [1, 2]
    prof.stop()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"schedule": (1, 1, 3)}, r"schedule is made by stepscope.schedule\(wait, warmup"),
        ({"schedule": schedule(), "epochs": 3}, "give epochs to the schedule"),
        ({"epochs": -1}, "-1 is no epoch"),
        ({"trace": ["shape"]}, "trace: 'shape' is unknown; did you mean 'shapes'"),
        ({"trace": "everything"}, "trace: 'everything' is unknown; it takes cpu, cuda"),
        ({"trace": 3}, r"trace is True, False or a list such as \['shapes'\], not 3"),
        ({"tags": 3}, "tags is a list of texts, not 3"),
        ({"run_id": 3}, "run_id is a text, not 3"),
        ({"rank0_only": "x"}, "rank0_only is True or False, not 'x'"),
        ({"max_bytes": 0}, "max_bytes is a number above 0, not 0"),
        ({"max_seconds": "1h"}, "max_seconds is a number above 0, not '1h'"),
        ({"logs": -3}, "logs is True, False or a level such as logging.INFO, not -3"),
        ({"logs": "loud"}, "logs is True, False or a level such as logging.INFO, not 'loud'"),
        ({"ranges": 3}, "ranges is True or False, not 3"),
        ({"first_step": 1.5}, "first_step is a whole number from 0, not 1.5"),
        ({"first_step": 2**63}, "first_step is a whole number up to .*, not 9223372036854775808"),
        ({"first_epoch": 2**63}, "first_epoch is a whole number up to .*, not 9223372036854775808"),
        ({"run_id": ""}, "run_id is empty; leave it out, or give a text"),
    ],
)
def test_broken_arguments_are_refused_before_the_training(
    tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        profile(tmp_path, **given)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_a_path() -> None:
    with pytest.raises(UsageError, match="the folder of a run is a path, not 3"):
        profile(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"the folder of a run is a path, not 'a\\x00b'"):
        profile("a\0b")
    with pytest.raises(UsageError, match="the folder of a run is a path, not ''"):
        profile("")


def test_nested(tmp_path: Path) -> None:
    with profile(tmp_path / "outer") as outer:
        with pytest.raises(Error, match=r"recorded already, into .*outer.*; stop\(\) that profile"):
            profile(tmp_path / "inner").start()
        with pytest.raises(Error, match="recorded already"):
            outer.start()
        outer.step()
    assert not (tmp_path / "inner").exists()
    assert rank_facts(tmp_path / "outer")["steps"] == 1


def test_one_after_the_other_is_the_next_attempt(tmp_path: Path) -> None:
    for _ in range(2):
        with profile(tmp_path / "run") as prof:
            prof.step()
    assert rank_facts(tmp_path / "run", attempt=1)["steps"] == 1


def test_an_unwritable_folder(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        folder = Path("/proc/stepscope")  # root writes everywhere else
    else:
        folder = tmp_path / "closed" / "run"
        folder.parent.mkdir()
        folder.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(RecordingError, match="a run cannot be recorded there"):
        profile(folder).start()
    with profile(tmp_path / "open", max_bytes=float("inf")) as prof:  # nothing was left over
        prof.step()


def test_the_folder_of_another_run(script: MakeScript, tmp_path: Path) -> None:
    with profile(tmp_path / "run") as prof:
        prof.step()
    program = script("import stepscope as ss, sys\nss.profile(sys.argv[1]).start()\n")
    done = program.run(str(tmp_path / "run"))
    assert done.returncode == 1
    assert "UsageError: " in done.stderr
    assert "holds another run" in done.stderr


def test_step_was_never_called(tmp_path: Path) -> None:
    with (
        pytest.warns(RecordingWarning, match=r"was never opened: step\(\) was never called"),
        profile(tmp_path / "run", schedule=schedule(wait=1, active=2)),
    ):
        pass
    assert len(warnings_of(tmp_path / "run")) == 1


def test_too_few_steps(tmp_path: Path) -> None:
    with (
        pytest.warns(RecordingWarning, match="5 steps after 11 steps.* ended after 1 step;"),
        profile(tmp_path / "run", schedule=schedule(wait=10, active=5)) as prof,
    ):
        prof.step()


def test_too_short_an_epoch(tmp_path: Path) -> None:
    with profile(tmp_path / "run", schedule=schedule(batches=(5, 8))) as prof:
        with pytest.warns(RecordingWarning, match="an epoch has 4 batches, but .* needs 8"):
            next(iter(prof.watch([1, 2, 3, 4])))
        with pytest.warns(RecordingWarning, match="step"):
            prof.stop()


def test_torch_is_missing(tmp_path: Path) -> None:
    with (
        pytest.warns(RecordingWarning, match="no trace was recorded: torch cannot be imported"),
        profile(tmp_path / "run", schedule=schedule(active=2)) as prof,
    ):
        prof.step()
        prof.step()  # the end comes within the window: not worth a word when there is no trace
    assert rank_facts(tmp_path / "run")["windows"] == []
    assert len(warnings_of(tmp_path / "run")) == 1


def test_other_profilers(script: MakeScript, tmp_path: Path) -> None:
    program = script(
        """
        import cProfile, sys
        import stepscope as ss
        def train():
            with ss.profile(sys.argv[1]) as prof:
                prof.step()
        cProfile.run("train()")
        """
    )
    done = program.run(str(tmp_path / "run"), NSYS_PROFILING_SESSION_ID="7")
    assert done.returncode == 0
    said = warnings_of(tmp_path / "run")
    assert [text.split(",")[0] for text in said] == [
        "a Python profiler",
        "this runs under Nsight Systems",
    ]


def test_warnings_as_errors_do_not_end_a_training(script: MakeScript, tmp_path: Path) -> None:
    program = script(
        """
        import sys, warnings
        import stepscope as ss
        warnings.simplefilter("error")
        with ss.profile(sys.argv[1], schedule=ss.schedule(active=2)) as prof:
            for _ in range(5):
                prof.step()
        print("trained")
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "trained\n", "")
    assert warnings_of(tmp_path / "run") != []


@pytest.mark.parametrize(
    ("watch", "steps", "said"),
    [
        ("prof.watch([1, 2])", 0, True),
        ("prof.watch([1, 2], phase='validation')", 0, False),  # no training
        ("[1, 2]", 0, True),  # it may train without torch
        ("prof.watch([1, 2])", 1, False),
    ],
)
def test_a_training_without_windows_warns_that_it_has_no_steps(
    script: MakeScript, tmp_path: Path, watch: str, steps: int, said: bool
) -> None:
    program = script(
        f"""
        import sys
        import stepscope as ss
        with ss.profile(sys.argv[1], trace=False) as prof:
            for _ in {watch}:
                pass
            for _ in range({steps}):
                prof.step()
        """
    )
    assert program.run(str(tmp_path / "run")).returncode == 0
    warned = [text for text in warnings_of(tmp_path / "run") if "step() was never called" in text]
    assert len(warned) == int(said)


def test_a_warning_names_the_line_of_the_user(script: MakeScript, tmp_path: Path) -> None:
    program = script("import stepscope as ss\nwith ss.profile('run', epochs=1): pass\n")
    done = program.run()
    assert done.returncode == 0
    assert "train.py:2: RecordingWarning: the trace window (all steps of epoch 1) " in (done.stderr)


def test_a_folder_that_goes_away_costs_the_recording_only(tmp_path: Path) -> None:
    with profile(tmp_path / "run", trace=False) as prof:
        prof.step()
        shutil.rmtree(tmp_path / "run")
        prof.step()
        prof.epoch()
    assert (prof.steps, prof.epochs) == (2, 1)


def test_little_disk_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortfalls, "_LITTLE_DISK_BYTES", 1 << 62)  # more than any disk has
    with pytest.warns(RecordingWarning, match=r"only [0-9,]+ MiB are free on the disk of"):
        profile(tmp_path / "run", trace=False).start().stop()


def test_a_full_disk_costs_the_recording_only(
    script: MakeScript, program: Program, tmp_path: Path
) -> None:
    """A limit on the size of files fails writes as a full disk does."""
    trainer = script(
        """
        import resource, sys
        import stepscope as ss
        with ss.profile(sys.argv[1], trace=False) as prof:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
            for step in range(20000):
                with ss.range(f"forward {step}"):
                    pass
                prof.step()
            prof.epoch()
        print("trained")
        """
    )
    done = trainer.run(str(tmp_path / "run"))
    assert (done.returncode, done.stdout) == (0, "trained\n"), done.stderr
    assert "could not be written" in done.stderr
    assert stepscope.open(rank_folder(tmp_path / "run") / "events.scope").notes != []
    assert list(tmp_path.rglob("*.partial")) == []
    # What is lost of the machine's samples is reported with the rest.
    info = program.run("info", "--json", tmp_path / "run")
    losses = {note["id"]: note["count"] for note in json.loads(info.stdout)["notes"]}
    reported = re.findall(r"(\w+) \((\d+)\)", info.stderr.decode())
    assert reported and all(losses[kind] == int(count) for kind, count in reported)


def test_ranks_of_one_launch(script: MakeScript, tmp_path: Path) -> None:
    program = script(
        """
        import sys
        import stepscope as ss
        with ss.profile(sys.argv[1], trace=False) as prof:
            prof.step()
        """
    )
    launch = {"WORLD_SIZE": "3", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
    for attempt in range(2):
        ranks = [
            program.start(str(tmp_path / "run"), RANK=str(rank), **launch) for rank in range(3)
        ]
        assert [rank.wait(60) for rank in ranks] == [0, 0, 0]
        for process in ranks:
            process.communicate()
        for rank in range(3):
            facts = rank_facts(tmp_path / "run", rank, attempt)
            assert (facts["rank"], facts["world_size"]) == (rank, 3)
            file = rank_folder(tmp_path / "run", rank, attempt) / "events.scope"
            assert stepscope.open(file).ranks == [rank]


def test_fork_and_spawn(script: MakeScript, tmp_path: Path) -> None:
    program = script(
        """
        import multiprocessing, os, sys
        import stepscope as ss

        @ss.range("a range that the fork server meets, too")
        def nothing(): pass

        def work(how):
            with ss.range(f"work in a {how} process"):
                pass

        if __name__ == "__main__":
            with ss.profile(sys.argv[1], trace=False) as prof:
                for how in ("fork", "spawn", "forkserver"):
                    context = multiprocessing.get_context(how)
                    children = [context.Process(target=work, args=(how,)) for _ in range(2)]
                    for child in children: child.start()
                    for child in children: child.join()
                    prof.step()
                if os.fork() == 0:  # by hand, and leaving as a program does
                    with ss.range("work in a fork by hand"):
                        prof.step()
                    sys.exit(0)
                os.wait()
            print("trained")
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "trained\n", "")
    folder = rank_folder(tmp_path / "run")
    found: dict[str, int] = {}
    for file in folder.glob("worker-*.scope"):
        opened = stepscope.open(file)
        assert "not_finished" not in {note["id"] for note in opened.notes}
        assert opened.ranks == [0]
        for name, count in ranges_of(file).items():
            found[name] = found.get(name, 0) + count
    assert found == {
        "work in a fork process": 2,
        "work in a spawn process": 2,
        "work in a forkserver process": 2,
        "work in a fork by hand": 1,
    }
    facts = rank_facts(tmp_path / "run")
    assert (facts["finished"], facts["steps"]) == ("stop", 3)


def test_a_child_may_have_a_run_of_its_own(script: MakeScript, tmp_path: Path) -> None:
    program = script(
        """
        import multiprocessing, sys
        import stepscope as ss

        def evaluate():
            with ss.profile("evaluation", trace=False) as prof:
                with ss.range("evaluate"):
                    prof.step()

        if __name__ == "__main__":
            with ss.profile("training", trace=False) as prof:
                for how in ("spawn", "fork"):
                    child = multiprocessing.get_context(how).Process(target=evaluate)
                    child.start()
                    child.join()
                    assert child.exitcode == 0
                prof.step()
        """
    )
    done = program.run()
    assert (done.returncode, done.stderr) == (0, "")
    for attempt in (0, 1):
        file = rank_folder(tmp_path / "evaluation", attempt=attempt) / "events.scope"
        assert ranges_of(file) == {"evaluate": 1}
    assert list(rank_folder(tmp_path / "training").glob("worker-*")) == []
    assert rank_facts(tmp_path / "training")["steps"] == 1


def test_a_child_that_recorded_may_begin_a_run_of_its_own(
    script: MakeScript, tmp_path: Path
) -> None:
    """What it recorded before stays with its parent's run."""
    program = script(
        """
        import gc, multiprocessing, sys
        import stepscope as ss

        def evaluate():
            many = [[] for _ in range(200000)]
            gc.collect()  # takes a millisecond or more
            if sys.argv[1] == "range":
                with ss.range("prepare"):
                    pass
            with ss.profile("evaluation", trace=False) as prof:
                with ss.range("evaluate"):
                    prof.step()

        if __name__ == "__main__":
            with ss.profile("training", trace=False) as prof:
                child = multiprocessing.get_context("fork").Process(target=evaluate)
                child.start()
                child.join()
                prof.step()
            print(child.exitcode)
        """
    )
    for words, expected in (("range", [{"prepare": 1}]), ("nothing", [])):
        done = program.run(words)
        assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
        assert [ranges_of(f) for f in tmp_path.glob("training/*/*/worker-*")] == expected
        assert ranges_of(rank_folder(tmp_path / "evaluation") / "events.scope") == {"evaluate": 1}
        shutil.rmtree(tmp_path / "training")
        shutil.rmtree(tmp_path / "evaluation")


def test_a_loop_of_coroutines(script: MakeScript, tmp_path: Path) -> None:
    program = script(
        """
        import asyncio, sys
        import stepscope as ss

        @ss.range
        async def fetch(number):
            with ss.range("request"):
                await asyncio.sleep(0.001 * number)

        async def main():
            with ss.profile(sys.argv[1], trace=False) as prof:
                for _ in range(5):
                    await asyncio.gather(*(fetch(number) for number in range(4)))
                    prof.step()

        asyncio.run(main())
        """
    )
    done = program.run(str(tmp_path / "run"))
    assert (done.returncode, done.stderr) == (0, "")
    file = rank_folder(tmp_path / "run") / "events.scope"
    found = ranges_of(file)
    assert (found["fetch"], found["request"]) == (20, 20)
    opened = stepscope.open(file)
    assert opened.notes == []
    assert opened.step_numbers == [0, 1, 2, 3, 4]


def test_import_is_quick_and_brings_no_torch(script: MakeScript) -> None:
    program = script(
        """
        import sys, time
        import numpy
        begun = time.process_time()  # not what other programs take
        import stepscope
        print(time.process_time() - begun)
        assert "torch" not in sys.modules
        assert "stepscope.recording" not in sys.modules
        assert "stepscope._core" not in sys.modules
        stepscope.profile
        assert "torch" not in sys.modules
        assert "stepscope._core" not in sys.modules  # a training needs no engine
        """
    )
    runs = [program.run() for _ in range(5)]
    assert [done.returncode for done in runs] == [0] * 5, runs[0].stderr
    assert min(float(done.stdout) for done in runs) < 0.05
