"""The traces that the benchmarks read: real ones, multiplied by bench_generate, made once."""

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from measure import ROOT

MOST_BYTES = 12_000_000_000  # of disk, all inputs together

# A change in these may change what is made.
GENERATOR_SOURCES = ("generate.cpp", "template.cpp", "json_cursor.h")

UNITS = {"M": 10**6, "G": 10**9}


@dataclass(frozen=True)
class Input:
    """A trace to read."""

    path: Path
    text_bytes: int  # unpacked
    events: int

    @property
    def name(self) -> str:
        """As the tables show it."""
        return self.path.name


def bench_dir() -> Path:
    """Where the inputs are kept."""
    return Path(os.environ.get("STEPSCOPE_BENCH_DIR", ROOT / ".deps" / "bench-data"))


def template_path(stem: str) -> Path:
    """The real trace of that name: from the corpus, else from the samples of the project."""
    folders = [ROOT.parent / "shared" / "data" / "h200", ROOT / "examples" / "data"]
    if corpus := os.environ.get("STEPSCOPE_CORPUS"):
        folders.insert(0, Path(corpus) / "h200")
    for folder in folders:
        for path in sorted(folder.glob(f"**/{stem}.json*")):
            return path
    raise FileNotFoundError(f"no trace named {stem}.json.gz; set STEPSCOPE_CORPUS to its folder")


def has_template(stem: str) -> bool:
    """Whether the real trace of that name is there."""
    try:
        template_path(stem)
    except FileNotFoundError:
        return False
    return True


class Inputs:
    """Makes inputs with one build of bench_generate and remembers what it made."""

    def __init__(self, generator: Path) -> None:
        self.generator = generator
        self.folder = bench_dir()
        self.folder.mkdir(parents=True, exist_ok=True)

    def trace(self, stem: str, size: str, packing: str = "") -> Input:
        """The named trace, multiplied to about that size ("500M"); packing is "", ".gz" or ".zst".

        The file has been read once when this returns, so that it is measured from memory.
        """
        path = self.folder / f"{stem}-{size}.json{packing}"
        note = path.with_name(path.name + ".made")
        source = template_path(stem)
        made_from = [source, *(ROOT / "bench" / name for name in GENERATOR_SOURCES)]
        key = hashlib.sha256(b"".join(file.read_bytes() for file in made_from)).hexdigest()
        made = json.loads(note.read_text()) if note.exists() and path.exists() else {}
        if made.get("key") != key:
            made = {**self._make(source, path, size), "key": key}
            note.write_text(json.dumps(made))
        _read_through(path)
        return Input(path, made["bytes"], made["events"])

    def _make(self, source: Path, path: Path, size: str) -> dict[str, int]:
        used = sum(file.stat().st_size for file in self.folder.iterdir() if file.is_file())
        wanted = int(size[:-1]) * UNITS[size[-1]]
        if used + wanted > MOST_BYTES or wanted > shutil.disk_usage(self.folder).free // 2:
            raise RuntimeError(f"{self.folder}: no room for {path.name}")
        partial = path.with_name("new-" + path.name)
        command = [str(self.generator), str(source), str(partial), "--bytes", size]
        done = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)
        partial.rename(path)
        facts = json.loads(done.stderr.splitlines()[-1])
        return {"bytes": facts["bytes"], "events": facts["events"]}


def _read_through(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 24):
            pass
