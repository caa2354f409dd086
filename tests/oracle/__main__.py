"""Prints what `stepscope export --to jsonl` should print: python -m oracle FILE."""

import json
import sys
from pathlib import Path

from oracle import read_trace


def main() -> None:
    """Reads the file named on the command line."""
    for line in read_trace(Path(sys.argv[1]).read_bytes()).lines():
        print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))


main()
