"""What tools/setup does on a machine where packages are missing, with a fake package manager."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from program import ROOT


class Machine:
    """A copy of tools/ with its own dpkg-query, apt-get and sudo."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__py*"))
        (root / "bin").mkdir()
        self.fake("apt-get", 'echo "apt-get $*" >> apt.log')
        self.fake("sudo", "exit 1")
        self.installed("")

    def fake(self, name: str, body: str) -> None:
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def installed(self, names: str) -> None:
        self.fake("dpkg-query", f"for name in {names or '$none'}; do echo $name installed; done")

    def setup(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            [self.root / "tools" / "setup", *arguments],
            cwd=self.root,
            env={**os.environ, "PATH": path, **settings},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def apt_log(self) -> str:
        log = self.root / "apt.log"
        return log.read_text() if log.exists() else ""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def listed(*lists: str) -> str:
    lines = [line for name in lists for line in (ROOT / "tools" / name).read_text().splitlines()]
    return " ".join(line.split()[0] for line in lines if line and not line.startswith("#"))


def test_silent_when_nothing_is_missing(machine: Machine) -> None:
    machine.installed(listed("packages-build.txt", "packages.txt", "packages-fuzz.txt"))
    done = machine.setup("fuzz")
    assert (done.returncode, done.stdout, done.stderr, machine.apt_log) == (0, "", "", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="installing needs root")
def test_root_installs_what_is_missing_and_only_that(machine: Machine) -> None:
    machine.installed(listed("packages-build.txt", "packages.txt"))
    assert machine.setup("fuzz").returncode == 0
    update, install = machine.apt_log.splitlines()
    assert update.endswith(" update")
    assert install.endswith(" " + listed("packages-fuzz.txt"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root would install")
def test_without_rights_the_command_is_printed(machine: Machine) -> None:
    machine.installed(listed("packages-build.txt", "packages.txt"))
    done = machine.setup("fuzz")
    assert done.returncode == 1
    command = "sudo apt-get update && sudo apt-get install -y --no-install-recommends "
    assert command + listed("packages-fuzz.txt") in done.stderr


def test_libraries_of_another_machine_are_unpacked_not_installed(machine: Machine) -> None:
    here = " ".join(name for name in listed("packages-aarch64.txt").split() if ":" not in name)
    machine.installed(f"{listed('packages-build.txt', 'packages.txt')} {here}")
    machine.fake("apt-get", 'echo "$*" >> "$LOG"; case "$*" in *download*) touch a.deb;; esac')
    machine.fake("dpkg-deb", 'echo "dpkg-deb $*" >> "$LOG"')
    log = str(machine.root / "apt.log")
    assert machine.setup("aarch64", LOG=log).returncode == 0
    assert machine.setup("aarch64", LOG=log).returncode == 0  # and only once
    update, download, unpack = machine.apt_log.splitlines()
    assert all("APT::Architecture=arm64" in line for line in (update, download))
    assert "libisal2" in download
    assert ":arm64" not in download
    assert unpack.endswith(str(machine.root / "build-aarch64" / "libraries"))


def test_the_system_is_left_alone_when_asked(machine: Machine) -> None:
    assert machine.setup("fuzz", STEPSCOPE_SKIP_PACKAGES="1").returncode == 0
    assert machine.apt_log == ""


def test_a_build_needs_less_than_the_tests(machine: Machine) -> None:
    """With a Node at hand; without, the page needs the environment of the tests, too."""
    (machine.root / "tools" / "web").write_text("#!/bin/sh\n")
    done = machine.setup("build")  # installs as root, else prints the command
    assert " ninja-build" in done.stderr
    assert "chromium" not in done.stderr


def test_an_unknown_part_is_wrong_usage(machine: Machine) -> None:
    done = machine.setup("everything")
    assert done.returncode == 2
    assert "usage: tools/setup [build | fuzz | aarch64 | slurm]" in done.stderr


def test_every_package_says_why_it_is_there() -> None:
    for name in ("packages-build.txt", "packages.txt", "packages-fuzz.txt", "packages-aarch64.txt"):
        for line in (ROOT / "tools" / name).read_text().splitlines():
            assert line.startswith("#") or len(line.split()) > 1, line
