"""The wheel of `make wheel` in an environment that has Python and numpy, and nothing else."""

import json
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from program import ROOT, Program

pytestmark = pytest.mark.nightly  # building it takes minutes

TRACE = ROOT / "examples" / "data" / "gpt_bf16.json.gz"


@pytest.fixture(scope="module")
def wheel() -> Path:
    found = sorted((ROOT / "dist").glob("stepscope-*.whl"))
    if len(found) != 1:
        pytest.fail("there is no wheel in dist/; run `make wheel`", pytrace=False)
    return found[0]


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment; numpy is the one of the tests, so that no network is needed."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps",
         "--no-index", wheel],
        check=True,
    )  # fmt: skip
    spec = find_spec("numpy")
    assert spec is not None and spec.origin is not None
    numpy = Path(spec.origin).parent
    packages = next(folder.glob("lib/python*/site-packages"))
    shutil.copytree(numpy, packages / "numpy")
    shutil.copytree(numpy.with_name("numpy.libs"), packages / "numpy.libs")
    return folder


def run(environment: Path, *words: str | Path) -> str:
    """What a command of the environment prints, run where nothing of the project is in sight."""
    clean = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": os.fspath(environment)}
    return subprocess.run(
        [environment / "bin" / words[0], *words[1:]],
        env=clean, cwd=environment, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip


def test_the_name_says_what_it_needs(wheel: Path) -> None:
    assert wheel.name.endswith(f"manylinux_2_34_{platform.machine()}.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        text = packed.read(metadata).decode()
    always = [
        line for line in text.splitlines() if line.startswith("Requires-Dist") and ";" not in line
    ]
    assert always == ["Requires-Dist: numpy>=1.24"]
    assert "Requires-Python: >=3.10" in text
    assert sum(name.startswith("stepscope/_core.") and name.endswith(".so") for name in names) == 1
    assert "stepscope/py.typed" in names
    assert "stepscope/web/index.html" in names


def test_what_it_holds_of_others_is_listed_and_each_has_its_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        (path,) = [name for name in names if name.endswith(".dist-info/sboms/stepscope.cdx.json")]
        folder = path.removesuffix("sboms/stepscope.cdx.json")
        components = json.loads(packed.read(path))["components"]
        for each in components:
            text = packed.read(folder + each["properties"][0]["value"]).decode()
            assert len(text) > 500, each["name"]
            assert each["version"], each["name"]
            if each["purl"].startswith("pkg:npm/"):
                assert f"\n{each['name']} {each['version']}, " in text
        page = packed.read("stepscope/web/licenses.txt")
        assert page == packed.read(f"{folder}licenses/page.txt")
    listed = {each["name"] for each in components}
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())["packages"]
    packages = {path for path, entry in lock.items() if path and not entry.get("dev")}
    assert {path.removeprefix("node_modules/") for path in packages} <= listed
    # auditwheel puts the shared libraries that are needed beside the extension.
    libraries = {Path(name).name for name in names if name.startswith("stepscope.libs/")}
    known = {"libisal": "isa-l", "libzstd": "zstd"}
    assert {known[name.split("-")[0]] for name in libraries} == set(known.values())
    assert set(known.values()) | {"nanobind", "robin-map", "libstdc++"} <= listed


def test_the_command_is_the_program(environment: Path, program: Program) -> None:
    assert run(environment, "stepscope", "--version") == program.run("--version").stdout.decode()
    words = ("analyze", "kernels", TRACE, "-f", "csv")
    assert run(environment, "stepscope", *words) == program.run(*words).stdout.decode()


def test_an_analysis_needs_numpy_alone(environment: Path, program: Program) -> None:
    code = f"import stepscope; print(stepscope.open({os.fspath(TRACE)!r}).kernels().table.to_csv())"
    expected = program.run("analyze", "kernels", TRACE, "-f", "csv", "--table", "kernels").stdout
    assert run(environment, "python", "-c", code).strip() == expected.decode().strip()


def test_no_library_of_the_build_machine_is_used(environment: Path) -> None:
    code = (
        "import json, stepscope._core, sys;"
        "lines = open('/proc/self/maps').read().splitlines();"
        "print(json.dumps(sorted({l.split()[-1] for l in lines if '.so' in l})))"
    )
    loaded = [Path(path) for path in json.loads(run(environment, "python", "-c", code))]
    ours = ("isal", "zstd", "fmt", "yaml", "stdc++")
    strangers = [
        p for p in loaded if any(w in p.name for w in ours) and environment not in p.parents
    ]
    assert strangers == []
    assert sum(path.parent.name == "stepscope.libs" for path in loaded) == 2
