"""The `stepscope` command, also as `python -m stepscope`."""

import os
import signal
import sys
from pathlib import Path

from stepscope import _core
from stepscope.arguments import OTHER_NAME, is_utf8, not_utf8

_USAGE_ERROR = 2  # as the command has it


def main() -> int:
    """Runs the command line of this process."""
    os.environ["STEPSCOPE_PACKAGE"] = str(Path(__file__).parent)
    if not os.environ.get("STEPSCOPE_PYTHON"):  # the user's own choice goes first
        os.environ["STEPSCOPE_PYTHON"] = sys.executable
    # Python ignores them; a program that `stepscope run` starts must find them as they were.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    return _run(sys.argv[1:])


def _run(words: list[str]) -> int:
    try:
        return _core.main(words)
    except TypeError:  # it takes texts of UTF-8, and arguments may be any bytes
        odd = next((word for word in words if not is_utf8(word)), None)
        if odd is None:
            raise
        print(f"stepscope: an argument is {not_utf8(odd)}; {OTHER_NAME}", file=sys.stderr)
        return _USAGE_ERROR


if __name__ == "__main__":
    sys.exit(main())
