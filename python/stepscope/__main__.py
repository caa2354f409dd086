"""The `stepscope` command, also as `python -m stepscope`."""

import sys

from stepscope import _core


def main() -> int:
    """Runs the command line of this process."""
    return _core.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
