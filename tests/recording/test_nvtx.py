"""Ranges reach NVTX: a tool of our own listens, as Nsight Systems does."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from program import ROOT
from recorded_program import Script, ranges_of, rank_folder

MakeScript = Callable[[str], Script]

TRAIN = """
import sys, torch
if not hasattr(torch._C, "_nvtx"):
    print("no NVTX in this torch")
    sys.exit(0)
import stepscope as ss

@ss.range("update")
def update():
    pass

with ss.range("before"):
    pass
plan = ss.schedule(wait=1, warmup=0, active=1)
with ss.profile("run", schedule=plan) as prof:
    with ss.range("epoch"):  # begins before the window and ends after it
        for _ in range(3):
            with ss.range("forward"):
                torch.ones(2).sum()
            update()
            prof.step()
with ss.range("after"):
    pass
print("done")
"""


@pytest.fixture(scope="session")
def listener(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tool, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    built = tmp_path_factory.mktemp("nvtx") / "listener.so"
    source = ROOT / "tests" / "recording" / "nvtx_listener.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(built), str(source)], check=True)
    return built


def test_ranges_reach_a_tool_that_listens(
    training: MakeScript, listener: Path, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    done = training(TRAIN).run(NVTX_INJECTION64_PATH=str(listener), NVTX_LISTENER_FILE=str(heard))
    if "no NVTX" in done.stdout:
        pytest.skip("this torch is built without NVTX")
    assert done.stdout == "done\n", done.stderr
    one_step = ["push forward", "pop ", "push update", "pop "]
    assert heard.read_text().splitlines() == ["push epoch", *one_step * 3, "pop "]
    # The window got them too, and so did the recording.
    folder = rank_folder(tmp_path / "run")
    assert ranges_of(folder / "trace-0.json.gz")["forward"] == 1
    assert ranges_of(folder / "events.scope")["epoch"] == 1


def test_without_a_tool_nvtx_is_left_alone(training: MakeScript, tmp_path: Path) -> None:
    """Handing on costs; where no tool listens nothing is handed on outside of windows."""
    done = training(
        """
        import sys, torch
        import stepscope as ss
        def must_not(*_):
            print("called")
        torch.cuda.nvtx.range_push = torch.cuda.nvtx.range_pop = must_not
        with ss.profile(sys.argv[1], trace=False) as prof:
            with ss.range("forward"):
                pass
            prof.step()
        print("done")
        """
    ).run(str(tmp_path / "run"))
    assert done.stdout == "done\n", done.stderr


LATE = """
import sys
import stepscope as ss
with ss.profile("run", trace=False) as prof:
    with ss.range("before torch"):
        pass
    with ss.range("importing"):  # begins without torch: not handed on, and not ended there
        import torch
        if not hasattr(torch._C, "_nvtx"):
            print("no NVTX in this torch")
            sys.exit(0)
    with ss.range("epoch"):
        with ss.range("forward"):
            pass
    prof.step()
print("done")
"""


@pytest.mark.nightly
def test_torch_may_be_imported_after_the_recording_began(
    training: MakeScript, listener: Path, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    done = training(LATE).run(NVTX_INJECTION64_PATH=str(listener), NVTX_LISTENER_FILE=str(heard))
    if "no NVTX" in done.stdout:
        pytest.skip("this torch is built without NVTX")
    assert done.stdout == "done\n", done.stderr
    assert heard.read_text().splitlines() == ["push epoch", "push forward", "pop ", "pop "]
    assert ranges_of(rank_folder(tmp_path / "run") / "events.scope")["before torch"] == 1
