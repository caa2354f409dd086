"""What installs Python packages: uv, and pip where uv cannot or must not."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from program import ROOT

LIST = "--require-hashes -r list.txt"


class Tree:
    """A copy of tools/pip with a uv and Pythons that write down how they are called."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "tools").mkdir()
        shutil.copy(ROOT / "tools" / "pip", root / "tools")
        for folder in (".venv", "env"):
            (root / folder / "bin").mkdir(parents=True)
            self.fake(f"{folder}/bin/python", 'echo "$0 $*" >> calls')
        self.fake(".venv/bin/uv", 'echo "uv $*" >> calls')

    def fake(self, name: str, body: str) -> None:
        path = self.root / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def install(self, **settings: str) -> list[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        subprocess.run(
            [self.root / "tools" / "pip", "env", "list.txt"],
            env={**clean, **settings},
            check=True,
        )
        calls = (self.root / "calls").read_text().splitlines()
        return [call for call in calls if " install " in call]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def is_by_uv(call: str) -> bool:
    return call.startswith("uv ") and call.endswith(f"--python env/bin/python {LIST}")


def is_by_pip(call: str) -> bool:
    return call.startswith("env/bin/python -m pip ") and call.endswith(f" {LIST}")


def test_uv_where_it_is(tree: Tree) -> None:
    (call,) = tree.install()
    assert is_by_uv(call)


def test_uv_is_fetched_where_it_is_missing(tree: Tree) -> None:
    tree.fake(
        ".venv/bin/python",
        'echo "$0 $*" >> calls; printf \'#!/bin/sh\\necho "uv $*" >> calls\\n\' > .venv/bin/uv; '
        "chmod +x .venv/bin/uv",
    )
    (tree.root / ".venv/bin/uv").unlink()
    fetched, call = tree.install()
    assert fetched.endswith("--require-hashes -r tools/requirements-uv.txt")
    assert is_by_uv(call)


def test_pip_where_uv_fails(tree: Tree) -> None:
    tree.fake(".venv/bin/uv", 'echo "uv $*" >> calls; exit 1')
    by_uv, by_pip = tree.install()
    assert is_by_uv(by_uv)
    assert is_by_pip(by_pip)


def test_pip_where_uv_cannot_be_had(tree: Tree) -> None:
    (tree.root / ".venv/bin/uv").unlink()
    tree.fake(".venv/bin/python", "exit 1")
    (call,) = tree.install()
    assert is_by_pip(call)


def test_pip_where_the_environment_names_another_index(tree: Tree) -> None:
    (call,) = tree.install(PIP_INDEX_URL="https://mirror.example/simple")
    assert is_by_pip(call)


def test_pip_where_its_settings_name_another_index(tree: Tree) -> None:
    tree.fake(
        "env/bin/python",
        'case "$*" in *config*) echo "global.index-url=\'https://mirror.example/simple\'" ;; esac; '
        'echo "$0 $*" >> calls',
    )
    (call,) = tree.install()
    assert is_by_pip(call)
