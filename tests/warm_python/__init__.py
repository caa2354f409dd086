"""A Python that has loaded torch before a test needs it."""

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

from recorded_program import environment

from warm_python import client

HERE = Path(__file__).parent


def start(python: str, folder: Path) -> str:
    """The path of a command that runs what this Python would, without the wait for torch.

    There is one server for all processes of the tests, and it ends with them. Where it cannot run
    the answer is the Python itself.
    """
    command = folder / "python"
    if folder.exists():
        return str(command) if (folder / "ready").exists() else python
    folder.mkdir()
    variables = environment()
    del variables["PYTHONPATH"]
    (folder / "facts.json").write_text(
        json.dumps(client.facts() | {"variables": client.bound(variables)})
    )
    command.write_text(
        f"#!{sys.executable} -IS\n"
        f"import sys\nsys.path.insert(0, {str(HERE)!r})\n"
        f"from client import main\nmain({python!r}, {str(folder)!r})\n"
    )
    command.chmod(0o755)
    tests = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [python, HERE / "server.py", folder / "socket", str(tests)],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    while not (folder / "ready").exists():
        if server.poll() is not None:
            why = (folder / "log").read_text()
            warnings.warn(f"each test loads torch by itself: {why}", stacklevel=2)
            return python
        time.sleep(0.05)
    return str(command)
