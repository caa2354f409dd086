"""In the place of a Python that has torch: the program runs in a fork of the server (server.py).

To its parent, this process is the program: signals are passed on, the end is the same. Where
something could make a difference (options, other variables, files that are inherited, limits), it
becomes the real Python instead.
"""

from __future__ import annotations

import array
import json
import os
import resource
import signal
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes as long to import as all else here
    from collections.abc import Mapping
    from typing import Any

# Read when the program runs, or by nothing that the server has loaded.
FREE = (
    "STEPSCOPE",
    "PYTEST_",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_",
    "MASTER_",
    "SLURM_",
    "OMPI_",
    "PMI_",
    "PMIX_",
    "MPI_",
    "TORCHELASTIC",
    "GROUP_",
    "ROLE_",
)
FREE_NAMES = {
    "PATH",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "_",
    "PYTHONPATH",
    "TMPDIR",
    "NO_COLOR",
    "COLUMNS",
    "LC_CTYPE",
    "KINETO_LOG_LEVEL",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING",
}
PASSED_ON = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


def bound(variables: Mapping[str, str]) -> dict[str, str]:
    """Those that must be the server's."""
    kept = {k: v for k, v in variables.items() if not k.startswith(FREE) and k not in FREE_NAMES}
    if kept.get("LC_ALL") == "C.UTF-8":  # also what Python chooses where nothing is set
        del kept["LC_ALL"]
    return kept


def limits() -> list[list[int]]:
    return [list(resource.getrlimit(number)) for number in range(16)]


def facts() -> dict[str, Any]:
    """What the server has in common with a program that it can run."""
    return {
        "variables": bound(os.environ),
        "limits": limits(),
        "session": os.getsid(0),
        "user": os.getuid(),
    }


def can_be_forked(words: list[str], of_server: dict[str, Any]) -> bool:
    if not words or (
        words[0].startswith("-") and not (words[0] in ("-m", "-c") and len(words) > 1)
    ):
        return False
    mine = facts()
    if mine["session"] == os.getpid():  # its leader; a fork of the server can be one, too
        mine["session"] = of_server["session"]
    if mine != of_server:
        return False
    if any(
        int(fd) > 2 and os.path.exists(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
    ):
        return False
    return not any(os.isatty(fd) for fd in range(3))


def run(words: list[str], path: str, unbuffered: bool) -> int | None:
    """Returns the status that waitpid() has, or None where no server answers."""
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
        connection.close()
        return None
    ignored = [number for number in PASSED_ON if signal.getsignal(number) is signal.SIG_IGN]
    umask = os.umask(0)
    os.umask(umask)
    request = {
        "words": words,
        "variables": dict(os.environ),
        "folder": os.getcwd(),
        "umask": umask,
        "group": os.getpgrp(),
        "leads_session": os.getsid(0) == os.getpid(),
        "unbuffered": unbuffered,
        "client": os.path.abspath(sys.argv[0]),
        "ignored": ignored,
    }
    text = json.dumps(request).encode()
    folder = os.open(".", os.O_RDONLY)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2, folder]))]
    connection.sendmsg([len(text).to_bytes(4, "little")], rights)
    connection.sendall(text)
    process = received(connection)
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):  # closed when the program closes them
        os.dup2(nothing, fd)
    for number in set(PASSED_ON) - set(ignored):
        signal.signal(number, lambda number, frame: os.kill(process, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    return received(connection)


def received(connection: socket.socket) -> int:
    answer = connection.recv(4, socket.MSG_WAITALL)
    if len(answer) < 4:
        sys.exit("the server of warm_python is gone")
    return int.from_bytes(answer, "little")


def end_as(status: int) -> None:
    if os.WIFEXITED(status):
        os._exit(os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def main(python: str, folder: str) -> None:
    """`folder` holds the server's socket and facts."""
    words = sys.argv[1:]
    with open(f"{folder}/facts.json") as file:
        of_server = json.load(file)
    unbuffered = words[:1] == ["-u"]
    program = words[1:] if unbuffered else words
    if can_be_forked(program, of_server):
        status = run(program, f"{folder}/socket", unbuffered)
        if status is not None:
            end_as(status)
    os.execv(python, [python, *words])
