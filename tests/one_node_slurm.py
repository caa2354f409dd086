"""A Slurm of one node, made for a test and gone after it: its own key, ports, folders and daemons.

Everything runs as the user of the test, with no rights beside what `slurmd` itself wants. The
folder lies outside of the test's own, because munge wants one that every user may enter.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from pwd import getpwuid

_PLACES = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))


def _program(name: str) -> str:
    found = shutil.which(name, path=_PLACES)
    if found is None:
        raise RuntimeError(f"{name} is not on this machine: `make slurm` installs it")
    return found


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


_SETTINGS = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class OneNodeSlurm:
    """Started when it is entered; `environment` is for whoever submits."""

    def __enter__(self) -> "OneNodeSlurm":
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.folder.chmod(0o755)
        self._daemons: list[subprocess.Popen[bytes]] = []
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("SLURM")},
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": _PLACES,
        }
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end_jobs()
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in reversed(self._daemons):
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end_jobs(self) -> None:
        """What a test left running: a job outlives the daemon that started it."""
        if len(self._daemons) < 3:
            return
        self.run("scancel", "--full", "--signal=KILL", "--state=RUNNING", cwd=self.folder)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if not self.run("squeue", "--noheader", cwd=self.folder).stdout.strip():
                return
            time.sleep(0.2)

    def run(self, *words: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """A command of Slurm's user, to its end."""
        return subprocess.run(
            [_program(words[0]), *words[1:]],
            cwd=cwd,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def _start(self) -> None:
        folder, user = self.folder, getpwuid(os.geteuid()).pw_name
        for name in ("state", "spool"):
            (folder / name).mkdir()
        settings = _SETTINGS.format(
            host=socket.gethostname().partition(".")[0],
            control_port=_free_port(),
            node_port=_free_port(),
            user=user,
            folder=folder,
        )
        (folder / "slurm.conf").write_text(settings, encoding="utf-8")
        key = folder / "munge.key"
        subprocess.run([_program("mungekey"), "--create", f"--keyfile={key}"], check=True)
        files = {name: f"{folder}/munge.{name}" for name in ("socket", "log", "pid", "seed")}
        self._daemon(
            *("munged", "--foreground", "--force", f"--key-file={key}"),
            f"--socket={files['socket']}",
            f"--log-file={files['log']}",
            f"--pid-file={files['pid']}",
            f"--seed-file={files['seed']}",
        )
        self._wait_for("munge's socket", lambda: Path(files["socket"]).exists())
        self._daemon("slurmctld", "-D")
        self._daemon("slurmd", "-D")
        self._wait_for("an idle node", self._is_idle)

    def _daemon(self, name: str, *words: str) -> None:
        with (self.folder / f"{name}.out").open("wb") as out:
            # A test that is killed cannot end them: the kernel does.
            command = [_program("setpriv"), "--pdeathsig=TERM", _program(name), *words]
            self._daemons.append(
                subprocess.Popen(command, stdout=out, stderr=out, env=self.environment)
            )

    def _is_idle(self) -> bool:
        said = self.run("sinfo", "--noheader", "--format=%T", cwd=self.folder)
        return said.stdout.strip() == "idle"

    def _wait_for(self, what: str, is_there: object) -> None:
        assert callable(is_there)
        deadline = time.monotonic() + 120
        while not is_there():
            dead = [daemon.args for daemon in self._daemons if daemon.poll() is not None]
            if dead or time.monotonic() > deadline:
                raise RuntimeError(f"Slurm has not come to {what}: {self._said()}")
            time.sleep(0.2)

    def _said(self) -> str:
        """The end of what each daemon said."""
        files = sorted([*self.folder.glob("*.out"), *self.folder.glob("*.log")])
        return "\n".join(f"{file.name}: {file.read_text()[-600:]}" for file in files)
