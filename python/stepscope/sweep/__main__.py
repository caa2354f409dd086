"""Started by the program `stepscope` as a file: the package need not be installed."""

import sys
from pathlib import Path


def _main() -> int:
    # Instead of the folder of this file, whose names are no modules.
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    try:
        from stepscope.sweep.command import main
    except ImportError as error:
        print(
            f"stepscope: the Python package cannot be loaded by {sys.executable} ({error}); sweep "
            "is part of it: run the `stepscope` that pip installs, or python -m stepscope sweep",
            file=sys.stderr,
        )
        return 3
    return main(sys.argv[1])


if __name__ == "__main__":
    sys.exit(_main())
