"""Writes the reports of `benchmark_profiler`; run by `stepscope run` when the program has ended.

    python -m stepscope.launched.anemoi_reports RUN SETTINGS

SETTINGS is the group as JSON. The reports go to standard output, too; what went wrong is the last
line of it, with an exit status of 1.
"""

from __future__ import annotations

import json
import sys


def main(run: str, settings: str) -> int:
    """Returns the exit status."""
    try:
        import numpy  # noqa: F401  (without it each report would fail by itself)

        from stepscope.integrations.anemoi import write_reports

        print(write_reports(run, settings=json.loads(settings)).text)
    except Exception as error:  # also a package that is not there: the training has ended
        print(f"{type(error).__name__}: {error} ({sys.executable})")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
