"""Which headers of the project a source includes."""

import re
from pathlib import Path

INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def reached_headers(source: Path, include_folder: Path) -> list[Path]:
    """The project's own headers that the source includes, directly or not, sorted."""
    reached: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        for name in INCLUDE.findall(path.read_bytes()):
            for folder in (include_folder, path.parent):
                header = (folder / name.decode()).resolve()
                if header.is_file():
                    if header not in reached:
                        reached.add(header)
                        waiting.append(header)
                    break
    return sorted(reached)
