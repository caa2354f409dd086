"""The page stays small: everything of build/web, compressed as the server sends it.

tools/check_page.py [FOLDER]
"""

import gzip
import sys
from pathlib import Path

from sources import ROOT, report

LIMIT_BYTES = 400_000

# Already compressed: fonts are sent as they are.
PACKED = (".woff2", ".png")


def sent_bytes(path: Path) -> int:
    """How many bytes of a file travel."""
    data = path.read_bytes()
    return len(data) if path.suffix in PACKED else len(gzip.compress(data, 6))


def check(folder: Path) -> list[str]:
    """What is wrong with the built page, if anything."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    if not (folder / "index.html").is_file():
        return [f"{folder}: there is no built page; `make web` builds it"]
    total = sum(sent_bytes(path) for path in files)
    if total > LIMIT_BYTES:
        return [f"{folder}: {total} bytes compressed; the page has at most {LIMIT_BYTES}"]
    return []


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "web"
    sys.exit(report("page", check(folder)))
