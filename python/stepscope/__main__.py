"""The `stepscope` command, also as `python -m stepscope`."""

import os
import signal
import sys
from pathlib import Path

from stepscope import _core


def main() -> int:
    """Runs the command line of this process."""
    os.environ["STEPSCOPE_PACKAGE"] = str(Path(__file__).parent)
    os.environ["STEPSCOPE_PACKAGE_PYTHON"] = sys.executable
    if not os.environ.get("STEPSCOPE_PYTHON"):  # the user's own choice goes first
        os.environ["STEPSCOPE_PYTHON"] = sys.executable
    # Python ignores them; a program that `stepscope run` starts must find them as they were.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    return _core.main([os.fsencode(word) for word in sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
