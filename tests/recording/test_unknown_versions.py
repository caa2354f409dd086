"""Frameworks that are not as stepscope knows them: the program runs, and hears what is missing."""

import subprocess
from pathlib import Path

import pytest
from launched_program import Runner, said
from program import ROOT
from recorded_program import environment, rank_facts

# A torch of a time to come: same modules, other insides.
TORCH = {
    "__init__.py": "from torch import version, optim, utils\n",
    "version.py": "__version__ = '9.9.1'\n",
    "optim/__init__.py": "from torch.optim.optimizer import Optimizer\n",
    "optim/optimizer.py": "class Optimizer:\n    def step(self):\n        return 'stepped'\n",
    "utils/__init__.py": "from torch.utils import data\n",
    "utils/data/__init__.py": "from torch.utils.data.dataloader import Loader\n",
    "utils/data/dataloader.py": "class Loader:\n    pass\n",
    "autograd/__init__.py": "",
}


def write_package(folder: Path, name: str, files: dict[str, str]) -> None:
    for path, text in files.items():
        file = folder / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def test_a_torch_that_is_unknown(runner: Runner, tmp_path: Path) -> None:
    write_package(tmp_path, "torch", TORCH)
    runner.script("import torch, torch.autograd\nprint(torch.optim.Optimizer().step())\n")
    done = runner.run("--no-report", "--out", "run", "--", runner.python, "train.py")
    assert (done.returncode, done.stdout) == (0, b"stepped\n")
    lines = said(done)
    for module, lack in (
        ("torch.optim.optimizer", "profile_hook_step"),
        ("torch.utils.data.dataloader", "DataLoader"),
    ):
        (reason,) = [line for line in lines if f" {module}: AttributeError: " in line]
        assert reason.startswith("torch 9.9.1 is not as this stepscope knows it, so it is not rec")
        assert lack in reason
    assert "no training was recorded" in lines
    assert rank_facts(tmp_path / "run")["program"]["status"] == 0


@pytest.mark.parametrize(
    ("integration", "package", "files"),
    [
        ("lightning", "lightning", {"__init__.py": "__version__ = '9.0'\n"}),
        ("transformers", "transformers", {"__init__.py": "__version__ = '9.0'\n"}),
    ],
)
def test_a_framework_that_is_unknown(
    runner: Runner, tmp_path: Path, integration: str, package: str, files: dict[str, str]
) -> None:
    write_package(tmp_path, package, files)
    runner.script(f"import stepscope.integrations.{integration}\n")
    done = subprocess.run(
        [runner.python, "train.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        f"ImportError: stepscope.integrations.{integration} does not know {package} 9.0, which is "
        "installed here: "
    )


@pytest.mark.parametrize(
    ("integration", "install"),
    [
        ("wandb", "wandb"),
        ("mlflow", "mlflow"),
        ("lightning", "lightning"),
        ("pytorch_lightning", "pytorch-lightning"),
        ("transformers", "transformers"),
        ("keras", "keras"),
    ],
)
def test_a_framework_that_is_not_there(runner: Runner, integration: str, install: str) -> None:
    """One error, without the one that led to it, that says what to do."""
    code = f"import stepscope.integrations.{integration}"
    done = subprocess.run(
        [runner.python, "-c", code], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: stepscope.integrations.{integration} needs the package {integration}, which "
        f"is not installed here: pip install {install}"
    )


def test_a_tracker_that_is_not_there_for_the_command(runner: Runner) -> None:
    done = subprocess.run(
        [runner.python, "-m", "stepscope.integrations.mlflow", "runs/a"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        1,
        "this needs the package mlflow, which is not installed here: pip install mlflow\n",
    )
