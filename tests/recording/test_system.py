"""The machine beside a training: processes that know what they use, a GPU whose power is known."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from known_gpu import Make, machine_of, run_with_curve, series, two_ranks
from recorded_program import rank_facts, wait_for

import stepscope


def test_a_process_and_what_the_samples_say_of_it(script: Make, tmp_path: Path) -> None:
    """Processor time, memory and bytes read, against the process's own figures."""
    (tmp_path / "data").write_bytes(os.urandom(1 << 20))
    program = script(
        """
        import json, time, resource, stepscope
        with stepscope.profile("run", trace=False, system=20) as prof:
            time.sleep(0.3)
            kept = bytearray(1 << 30)
            kept[:: 4096] = b"x" * (1 << 18)  # every page is there
            time.sleep(0.3)
            read = 0
            with open("data", "rb", buffering=0) as file:
                for _ in range(256):
                    file.seek(0)
                    read += len(file.read())
            before = time.process_time()
            while time.process_time() < before + 1.5:
                pass
            prof.step()
            time.sleep(0.3)
            used = time.process_time()
        print(json.dumps({"cpu": used, "read": read}))
        """,
    )
    done = program.run()
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    machine = machine_of(tmp_path / "run")
    cpu = series(machine, "process.cpu", of="process")
    assert cpu.values[-1] / 1e9 == pytest.approx(said["cpu"], rel=0.05)
    memory = series(machine, "process.rss", of="process").values
    assert max(memory) - memory[0] == pytest.approx(1 << 30, rel=0.05)
    read = series(machine, "process.read", of="process").values
    assert read[-1] - read[0] == pytest.approx(said["read"], rel=0.05)
    shared = series(machine, "process.pss").values
    assert shared[0] > 0
    assert max(shared) == pytest.approx(max(memory), rel=0.05)  # it grew after the first look
    used = series(machine, "memory.used").values
    assert all(0 < value < series(machine, "memory.total").values[0] for value in used)
    assert machine.finished
    assert rank_facts(tmp_path / "run")["system"]["moments"] > 10


def test_waiting_for_a_processor_is_seen(script: Make, tmp_path: Path) -> None:
    """Four processes on one processor: each waits three quarters of the time."""
    program = script(
        f"""
        import os, time
        from multiprocessing import Process
        import stepscope

        def work(seconds):
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                pass

        if __name__ == "__main__":
            os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})
            with stepscope.profile({str(tmp_path / "run")!r}, trace=False) as prof:
                others = [Process(target=work, args=(4,)) for _ in range(3)]
                for other in others:
                    other.start()
                for _ in range(8):
                    work(0.4)
                    prof.step()
                for other in others:
                    other.join()
        """,
    )
    done = program.run()
    assert done.returncode == 0, done.stderr
    run = stepscope.open(tmp_path / "run")
    (own,) = (row for row in run.system()["processes"].rows() if row["processes"] == "training")
    assert own["waited_share"] > 0.3
    found = {finding.rule: finding for finding in run.findings()}
    first, second, *_ = found["cpu-contention"].changes
    assert "num_workers=0" in first.code  # what it started takes most of the processor
    assert "OMP_NUM_THREADS" in second.code


def test_children_count_and_stay_counted(script: Make, tmp_path: Path) -> None:
    program = script(
        """
        import os, time, stepscope
        with stepscope.profile("run", trace=False, system=20) as prof:
            time.sleep(0.2)
            child = os.fork()
            if child == 0:
                while time.process_time() < 1.0:
                    pass
                time.sleep(1.5)  # long enough to be seen with all it used
                os._exit(0)
            os.waitpid(child, 0)
            time.sleep(1.5)
            prof.step()
        """,
    )
    done = program.run()
    assert done.returncode == 0, done.stderr
    machine = machine_of(tmp_path / "run")
    children = series(machine, "process.cpu", of="children").values
    assert children == sorted(children)
    assert children[-1] / 1e9 == pytest.approx(1.0, rel=0.05)
    assert series(machine, "process.count", of="children").values == [0, 1, 0]


def test_all_that_children_used_counts(script: Make, tmp_path: Path) -> None:
    """They end at once when they are done, and some come and go between two looks."""
    program = script(
        """
        import json, os, time, stepscope

        def burn(seconds):
            child = os.fork()
            if child == 0:
                while time.process_time() < seconds:
                    pass
                os._exit(0)
            _, _, usage = os.wait4(child, 0)
            return usage.ru_utime + usage.ru_stime

        with stepscope.profile("run", trace=False, system=20) as prof:
            began = time.monotonic()
            time.sleep(0.2)
            used = burn(0.8)
            prof.step()
            used += sum(burn(0.05) for _ in range(8))
            prof.step()
            time.sleep(0.3)
            took = time.monotonic() - began
            own = time.process_time()
        print(json.dumps({"used": used, "own": own, "took": took}))
        """,
    )
    done = program.run()
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    found = stepscope.open(tmp_path / "run").system()
    rows = {row["processes"]: row for row in found["processes"].rows()}
    assert rows["started by it"]["cpu_ns"] / 1e9 == pytest.approx(said["used"], rel=0.05)
    assert rows["started by it"]["mean_cores"] == pytest.approx(
        said["used"] / said["took"], rel=0.05
    )
    (machine,) = found["machines"].rows()
    own = rows["training"]["cpu_ns"] / 1e9
    assert machine["job_cores"] == pytest.approx((said["used"] + own) / said["took"], rel=0.05)
    first = next(iter(found["steps"].rows()))
    seconds = first["step_ns"] / 1e9
    assert first["children_cores"] == pytest.approx(0.8 / seconds, rel=0.1)
    for name in ("cpu_share", "process_cores", "read_bytes"):
        assert first[name] is not None


def test_what_happens_at_the_end_is_in_the_means(script: Make, tmp_path: Path) -> None:
    program = script(
        """
        import json, time, stepscope
        with stepscope.profile("run", trace=False, system=20) as prof:
            began, before = time.monotonic(), time.process_time()
            time.sleep(1.4)
            until = time.process_time() + 0.4
            while time.process_time() < until:
                pass
            prof.step()
            took, used = time.monotonic() - began, time.process_time() - before
        print(json.dumps({"took": took, "used": used}))
        """,
    )
    done = program.run()
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    (own,) = stepscope.open(tmp_path / "run").system()["processes"].rows()
    assert own["mean_cores"] == pytest.approx(said["used"] / said["took"], rel=0.05)
    assert own["max_cores"] >= own["mean_cores"]


def test_one_process_of_a_node_samples_and_another_takes_over(script: Make, tmp_path: Path) -> None:
    program = script(
        """
        import os, time, stepscope
        with stepscope.profile("run", trace=False, system=20) as prof:
            print("started", flush=True)
            for _ in range(3000):
                time.sleep(0.01)
                if os.path.exists("enough"):
                    break
            prof.step()
        """,
    )
    shared = {"MASTER_ADDR": "here", "MASTER_PORT": "1", "WORLD_SIZE": "2"}
    first = program.start(RANK="0", LOCAL_RANK="0", **shared)
    assert first.stdout and first.stdout.readline()
    node = tmp_path / "run" / "attempt-0"
    wait_for(lambda: any(node.glob("node-*/system.scope")))
    second = program.start(RANK="1", LOCAL_RANK="1", **shared)
    assert second.stdout and second.stdout.readline()
    wait_for(lambda: any(two_ranks(path) for path in node.glob("node-*/system.scope")))
    assert not list(node.glob("node-*/system-2.scope"))
    first.send_signal(signal.SIGKILL)
    first.communicate()
    wait_for(lambda: any(node.glob("node-*/system-2.scope")))
    time.sleep(1)
    (tmp_path / "enough").touch()
    _, err = second.communicate(timeout=60)
    assert second.returncode == 0, err
    killed, taken = machine_of(tmp_path / "run"), machine_of(tmp_path / "run", "system-2.scope")
    assert not killed.finished
    assert taken.finished
    assert taken.find("process.cpu", rank="1")
    assert taken.find("process.cpu", rank="0") is None  # it is gone
    assert (killed.about["rank"], taken.about["rank"]) == ("0", "1")


def test_a_part_of_a_gpu_has_memory_and_its_whole_has_power(
    script: Make, fake_nvml: Path, tmp_path: Path
) -> None:
    run, _ = run_with_curve(script, tmp_path, fake_nvml, CUDA_VISIBLE_DEVICES="MIG-fake")
    machine = machine_of(run)
    assert series(machine, "gpu.memory", device="MIG-fake").values[0] == 20 << 30
    assert machine.find("gpu.power", device="MIG-fake") is None
    assert series(machine, "gpu.energy", device="1")
    assert any("of all its MIG instances" in text for _, text in machine.notices)


def test_a_gpu_that_disappears_is_named_once(script: Make, fake_nvml: Path, tmp_path: Path) -> None:
    run, _ = run_with_curve(script, tmp_path, fake_nvml, FAKE_NVML_LOST_AT="1500")
    machine = machine_of(run)
    gone = [text for _, text in machine.notices if "disappeared" in text]
    assert len(gone) == 1
    assert gone[0].startswith("GPU 0")
    lost, whole = (series(machine, "gpu.power", device=gpu) for gpu in "01")
    assert 0 < len(lost.values) < len(whole.values)
    assert 0 not in lost.values


def test_a_driver_that_does_not_answer_is_named(
    script: Make, fake_nvml: Path, tmp_path: Path
) -> None:
    run, _ = run_with_curve(script, tmp_path, fake_nvml, FAKE_NVML_ERROR="9")
    assert any("error 9" in text for _, text in machine_of(run).notices)


def test_a_folder_that_cannot_be_made_is_a_warning(script: Make, tmp_path: Path) -> None:
    program = script(
        """
        import socket, pathlib, stepscope
        from stepscope.recording import run_folder
        made = run_folder.open_run
        import stepscope.recording.starting as starting
        def open_run(*arguments):
            rank = made(*arguments)
            (rank.path.parent / f"node-{socket.gethostname()}").write_text("in the way")
            return rank
        starting.open_run = open_run
        with stepscope.profile("run", trace=False) as prof:
            prof.step()
        print(prof.steps)
        """,
    )
    done = program.run()
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "1"
    assert "the machine is not measured" in done.stderr


@pytest.mark.parametrize("value", ["0", "-1", "101", "'often'", "float('nan')"])
def test_how_often_is_checked_at_the_call(script: Make, tmp_path: Path, value: str) -> None:
    program = script(
        f"""
        import stepscope
        try:
            stepscope.profile("run", system={value})
        except stepscope.UsageError as error:
            print(error)
        """,
    )
    assert "up to 100" in program.run().stdout


def test_off_means_off(script: Make, tmp_path: Path) -> None:
    program = script(
        """
        import stepscope
        with stepscope.profile("run", trace=False, system=False) as prof:
            prof.step()
        """,
    )
    assert program.run().returncode == 0
    assert not list((tmp_path / "run").rglob("node-*"))
