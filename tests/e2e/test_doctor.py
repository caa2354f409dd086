"""`stepscope doctor` on machines made of files and on a GPU made of host memory."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from program import Outcome, Program

SOURCES = Path(__file__).parent / "fake_gpu"
LIBRARIES = {
    "cuda": "libcuda.so.1",
    "nvml": "libnvidia-ml.so.1",
    "cublas": "libcublas.so.12",
}

Check = dict[str, object]


@pytest.fixture(scope="module")
def fake_gpu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with libraries of a driver that has one device."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None
    folder = tmp_path_factory.mktemp("libraries")
    for source, library in LIBRARIES.items():
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-o", folder / library, SOURCES / f"{source}.c"],
            check=True,
        )
    return folder


def checks_of(outcome: Outcome) -> dict[str, Check]:
    """The checks by name."""
    answer = json.loads(outcome.stdout)
    assert answer["schema"] == "stepscope.doctor/1"
    names = [check["name"] for check in answer["checks"]]
    assert len(names) == len(set(names))
    return {check["name"]: check for check in answer["checks"]}


def doctor(
    program: Program, folder: Path, *arguments: str | Path, env: Mapping[str, str] | None = None
) -> tuple[dict[str, Check], Outcome]:
    """Runs it with JSON, on libraries of that folder only and this interpreter."""
    outcome = program.run(
        "doctor",
        "--json",
        "--test-libraries",
        folder,
        "--python",
        sys.executable,
        *arguments,
        env=env,
    )
    return checks_of(outcome), outcome


def test_this_machine_is_looked_at(program: Program, tmp_path: Path) -> None:
    """Whatever this machine is: every check has a state and words, and no file is left."""
    outcome = program.run("doctor", "--json", cwd=tmp_path)
    assert outcome.exit_status == 0
    checks = checks_of(outcome)
    assert {"nvidia-driver", "cpus", "memory", "clock", "disk", "open-files"} <= set(checks)
    for check in checks.values():
        assert check["state"] in {"good", "missing", "bad", "unknown"}
        assert check["value"]
        assert check["state"] != "bad" or check["to_do"]
    assert list(tmp_path.iterdir()) == []
    text = program.run("doctor", cwd=tmp_path)
    assert text.exit_status == 0
    assert b"cpus" in text.stdout


def test_a_device_is_measured(program: Program, fake_gpu: Path, tmp_path: Path) -> None:
    checks, outcome = doctor(
        program,
        fake_gpu,
        "--bench",
        "--folder",
        tmp_path,
        "--expect",
        "copy-pinned=0.01,gemm-bf16=0.1%",
    )
    assert outcome.exit_status == 0, outcome.stderr
    assert checks["cuda-driver"]["state"] == "good"
    assert checks["cuda-driver"]["value"] == "CUDA 12.8, 1 device: NVIDIA H200, 150 GiB"
    assert checks["nvidia-driver"]["value"] == "570.1.2" or Path("/proc/driver/nvidia").exists()
    pinned = checks["copy-pinned"]
    assert pinned["state"] == "good"
    assert pinned["at_best"] == pytest.approx(63.008)
    assert pinned["expected"] == pytest.approx(0.01)
    assert isinstance(pinned["measured"], float)
    assert pinned["measured"] > 0.05
    gemm = checks["gemm-bf16"]
    assert gemm["at_best"] == pytest.approx(989.4, abs=1)
    # 2 * 2048^3 in at least a tenth of a millisecond
    assert isinstance(gemm["measured"], float)
    assert 0 < gemm["measured"] <= 172
    assert checks["file-read-cached"]["state"] == "measured"
    assert checks["host-memory"]["state"] == "measured"
    assert list(tmp_path.iterdir()) == []


def test_an_expectation_that_fails_is_status_1(
    program: Program, fake_gpu: Path, tmp_path: Path
) -> None:
    checks, outcome = doctor(
        program, fake_gpu, "--bench", "--folder", tmp_path, "--expect", "copy-pageable=100000"
    )
    assert outcome.exit_status == 1
    assert checks["copy-pageable"]["state"] == "bad"
    assert b"not as expected: " in outcome.stderr
    assert b"copy-pageable" in outcome.stderr


def test_an_expectation_without_a_device_fails(program: Program, tmp_path: Path) -> None:
    checks, outcome = doctor(
        program, tmp_path, "--bench", "--folder", tmp_path, "--expect", "copy-pinned=1"
    )
    assert outcome.exit_status == 1
    assert checks["copy-pinned"]["state"] == "bad"
    assert checks["gemm-bf16"]["state"] == "missing"
    assert outcome.stderr == b"stepscope: not as expected: copy-pinned\n"


def test_a_driver_that_fails_says_why(program: Program, fake_gpu: Path) -> None:
    checks, outcome = doctor(program, fake_gpu, env={"FAKE_CUDA_ERROR": "802"})
    assert outcome.exit_status == 0
    assert checks["cuda-driver"]["state"] == "bad"
    assert checks["cuda-driver"]["value"] == "cuInit gives error 802"
    assert "nvidia-fabricmanager" in str(checks["cuda-driver"]["to_do"])


@pytest.mark.parametrize(
    ("trouble", "words"),
    [("HANG", "looking at it did not answer within 2 s"), ("CRASH", "was ended by signal 6")],
)
def test_a_driver_that_hangs_or_crashes_is_said(
    program: Program, fake_gpu: Path, trouble: str, words: str
) -> None:
    begin = time.monotonic()
    checks, outcome = doctor(
        program, fake_gpu, "--time-limit", "2", env={f"FAKE_CUDA_{trouble}": "1"}
    )
    assert outcome.exit_status == 0
    assert time.monotonic() - begin < 60
    assert checks["nvidia-driver"]["state"] == "unknown"
    assert words in str(checks["nvidia-driver"]["value"])
    assert "disk" in checks


def test_the_interpreter_is_asked(program: Program, tmp_path: Path) -> None:
    """Its own packages are found, and what lies in the current folder is not run."""
    torch = tmp_path / "packages" / "torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").write_text(
        "from types import SimpleNamespace as N\n"
        "__version__ = '2.99.0'\n"
        "version = N(cuda='13.0', hip=None)\n"
        "autograd = N(kineto_available=lambda: True)\n"
        "profiler = N(supported_activities=lambda: [N(name='CUDA'), N(name='CPU')])\n"
        "cuda = N(is_available=lambda: True, device_count=lambda: 2,"
        " get_device_name=lambda i: 'Fake')\n"
    )
    here = tmp_path / "here"
    here.mkdir()
    (here / "torch.py").write_text("raise SystemExit('the folder was run')\n")
    outcome = program.run(
        "doctor",
        "--json",
        "--python",
        sys.executable,
        cwd=here,
        env={"PYTHONPATH": str(torch.parent)},
    )
    checks = checks_of(outcome)
    assert checks["torch"]["value"] == "2.99.0, built for CUDA 13.0"
    assert checks["torch-device"]["value"] == "2 visible: Fake"
    assert checks["torch-profiler"]["value"] == "Kineto, records CPU and CUDA"


def test_an_interpreter_that_hangs_is_not_waited_for(program: Program, tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nsleep 1000\n")
    script.chmod(0o755)
    begin = time.monotonic()
    outcome = program.run("doctor", "--json", "--python", script, "--time-limit", "1")
    assert time.monotonic() - begin < 60
    assert outcome.exit_status == 0
    python = checks_of(outcome)["python"]
    assert python["state"] == "bad"
    assert python["value"] == "the interpreter did not answer within 1 s"


def test_a_fake_machine_gives_the_same_words(program: Program, tmp_path: Path) -> None:
    """The text, where nothing of the real machine shows through."""
    files = {
        "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.1  x\n",
        "proc/driver/nvidia/params": "RmProfilingAdminOnly: 1\n",
        "proc/self/status": "CapEff:\t0000000000000000\nCpus_allowed_list:\t0-31\n",
        "proc/self/cgroup": "0::/job\n",
        "sys/fs/cgroup/job/cpu.max": "800000 100000\n",
        "sys/fs/cgroup/job/memory.max": "34359738368\n",
        "proc/meminfo": "MemTotal: 134217728 kB\nMemAvailable: 100663296 kB\n",
        "sys/devices/system/cpu/online": "0-31\n",
    }
    for name, text in files.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    outcome = program.run(
        "doctor",
        "--test-root",
        tmp_path / "root",
        "--test-libraries",
        tmp_path,
        "--python",
        "/none",
    )
    text = outcome.stdout.decode()
    assert outcome.exit_status == 0
    assert "  bad      counters       administrators only\n" in text
    assert "  bad      cpus           8 usable of 32 (quota 8, 32 visible)\n" in text
    assert "32.0 GiB free of 32.0 GiB (the group's limit; machine: 128 GiB)\n" in text
    assert "\ncpus: 8 usable of 32 (quota 8, 32 visible)\n" in text
    assert "  to do   OMP_NUM_THREADS=8, and DataLoader workers below 8\n" in text
    assert "NVreg_RestrictProfilingToAdminUsers=0" in text
