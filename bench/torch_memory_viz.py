"""torch's own _memory_viz.py, without the rest of torch: one member of its wheel, by byte ranges.

torch is near a gigabyte and _memory_viz needs none of it: it is plain Python over the pickled
dictionaries. A wheel is a zip, so its directory and this one file are fetched and nothing else.
"""

import hashlib
import io
import json
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

from measure import ROOT

FOLDER = ROOT / ".deps" / "torch-memory-viz"
MEMBER = "torch/cuda/_memory_viz.py"
TORCH = "torch==2.15.0"
# Of that member: the hash of the wheel cannot be checked without reading all of it.
SHA256 = "cebc6449a2d34b83ac2a35cf7490babd590732c30362e18d22de18c8da7c9221"


class Remote(io.RawIOBase):
    """A file at a URL, read in ranges."""

    def __init__(self, url: str) -> None:
        """Asks for the size."""
        self.url = url
        self.at = 0
        request = urllib.request.Request(url, headers={"Range": "bytes=0-0"})
        with urllib.request.urlopen(request) as answer:
            self.size = int(answer.headers["Content-Range"].rsplit("/", 1)[1])

    def seekable(self) -> bool:
        """Yes."""
        return True

    def readable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """Where the next read begins."""
        return self.at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """As files do."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self.at, io.SEEK_END: self.size}[whence]
        self.at = start + offset
        return self.at

    def readinto(self, buffer: Any) -> int:
        """One range per call."""
        last = min(self.at + len(buffer), self.size) - 1
        if last < self.at:
            return 0
        request = urllib.request.Request(self.url, headers={"Range": f"bytes={self.at}-{last}"})
        with urllib.request.urlopen(request) as answer:
            data: bytes = answer.read()
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)


def fetched() -> tuple[Path, str]:
    """The file and torch's version; fetched when it is missing."""
    about = FOLDER / "version.txt"
    path = FOLDER / "_memory_viz.py"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        report = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--quiet"]
            + ["--ignore-installed", "--report", "-", TORCH],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        found = json.loads(report)["install"][0]
        remote = io.BufferedReader(Remote(found["download_info"]["url"]), 1 << 20)
        with zipfile.ZipFile(remote) as wheel:
            text = wheel.read(MEMBER)
        if hashlib.sha256(text).hexdigest() != SHA256:
            raise RuntimeError(f"{MEMBER} of {TORCH} is not the file that was pinned")
        path.write_bytes(text)
        about.write_text(found["metadata"]["version"])
    return path, about.read_text()


if __name__ == "__main__":
    print(*fetched())
