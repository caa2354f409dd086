"""Measures how long the server needs for a tile, and writes docs/bench/server.md.

    bench/server.py [--tiles 2000] [--build build]

A trace of the generator and a recording of ten million ranges are served, each alone. Tiles of
random tracks, levels and places are asked for over one connection, each once, so that none is kept
from before; then by eight clients at once. The processor time of the server is counted beside the
clock, because others use the machine too, and so is a request that computes nothing. Server and
clients go before other programs where the system allows it.
"""

import argparse
import concurrent.futures
import contextlib
import datetime
import http.client
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from inputs import Inputs, bench_dir
from measure import ROOT, commit, go_first, machine

PAGE = ROOT / "docs" / "bench" / "server.md"
CLIENTS = 8

COLUMNS = (
    "run",
    "events",
    "loading s",
    "memory",
    "tile, median ms",
    "95 % ms",
    "longest ms",
    "nothing, 95 % ms",
    "processor ms",
    f"{CLIENTS} clients, 95 % ms",
    "bytes, median",
)

INTRODUCTION = """# The server: a tile

Written by `bench/server.py`; do not edit. Tiles of random tracks, levels and places over HTTP,
{tiles} of them, none asked for before. *Nothing* is a request on the same connection that needs no
work (a tile after the end of the run): what connection and machine cost. *Processor* is the time
of the server's process per tile, making, packing and sending it. The goal is 50 ms at the 95th
percentile. Server and clients go before other programs where the system allows it ({first} here),
so that this is the server and not other programs; {load:.0f} programs wanted its cores.

"""


@dataclass
class Client:
    """A connection to a server that has loaded its run."""

    port: int
    token: str
    pid: int

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)

    def ask(self, path: str) -> tuple[float, bytes]:
        """Seconds and the body as sent."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept-Encoding": "gzip"}
        start = time.perf_counter()
        self.connection.request("GET", "/" + path, headers=headers)
        response = self.connection.getresponse()
        body = response.read()
        seconds = time.perf_counter() - start
        if response.status != 200:
            raise RuntimeError(f"{path}: {response.status}")
        return seconds, body

    def json(self, path: str) -> Any:
        """An answer that is not packed."""
        headers = {"Authorization": f"Bearer {self.token}"}
        self.connection.request("GET", "/" + path, headers=headers)
        return json.loads(self.connection.getresponse().read())

    def processor_seconds(self) -> float:
        """Of the server's process so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_bytes(self) -> int:
        """What the server's process holds now."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def serving(program: Path, path: Path) -> Iterator[tuple[Client, float]]:
    """A server with this run loaded, and how long that took."""
    command = [str(program), "serve", "--no-open", "--port", "0", str(path)]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        go_first(process.pid)
        assert process.stdout
        url = urlsplit(process.stdout.readline().decode().strip())
        client = Client(url.port or 0, parse_qs(url.query)["token"][0], process.pid)
        while (state := client.json("api/run")["state"]) == "loading":
            time.sleep(0.05)
        if state != "ready":
            raise RuntimeError(f"{path}: {state}")
        yield client, time.perf_counter() - start
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def tile_paths(tracks: dict[str, Any], count: int, seed: int) -> list[str]:
    """Random tiles, each once: all levels alike, tracks with many events more often."""
    chance = random.Random(seed)
    weights = [1 + track["events"] ** 0.5 for track in tracks["tracks"]]
    found: dict[str, None] = {}
    while len(found) < count:
        track = chance.choices(tracks["tracks"], weights)[0]
        level = chance.randrange(tracks["max_level"] + 1)
        at = chance.randrange(track["first_ns"], track["last_ns"] + 1)
        found[f"api/tiles/{track['id']}/{level}/{at // (1024 << level)}"] = None
        if chance.random() < 0.001:
            count -= 1  # small runs have few tiles
    return list(found)


def percentile(values: list[float], share: float) -> float:
    """The value below which so much of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def measured(name: str, program: Path, path: Path, tiles: int) -> str:
    """A row of the page."""
    print(f"  {name}", file=sys.stderr)
    with serving(program, path) as (client, loading):
        tracks = client.json("api/tracks")
        events = sum(track["events"] for track in tracks["tracks"] if track["kind"] != "counter")
        client.connection.close()
        empty = [f"api/tiles/0/0/{10**14 + i}" for i in range(tiles // 4)]
        nothing = [client.ask(path)[0] for path in empty]
        before = client.processor_seconds()
        asked = [client.ask(path) for path in tile_paths(tracks, tiles, 1)]
        processor = (client.processor_seconds() - before) / len(asked)
        together = tile_paths(tracks, tiles, 2)

        def part(number: int) -> list[float]:
            own = Client(client.port, client.token, client.pid)
            return [own.ask(path)[0] for path in together[number::CLIENTS]]

        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            many = [seconds for one in pool.map(part, range(CLIENTS)) for seconds in one]
        memory = client.memory_bytes()
    seconds = [one[0] for one in asked]
    sizes = [len(one[1]) for one in asked]
    return (
        f"| {name} | {events:,} | {loading:.1f} | {memory / 1e6:,.0f} MB | "
        f"{statistics.median(seconds) * 1e3:.2f} | {percentile(seconds, 0.95) * 1e3:.2f} | "
        f"{max(seconds) * 1e3:.1f} | {percentile(nothing, 0.95) * 1e3:.2f} | "
        f"{processor * 1e3:.2f} | {percentile(many, 0.95) * 1e3:.1f} | "
        f"{statistics.median(sizes):,.0f} |\n"
    )


def main() -> int:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tiles", type=int, default=2000, help="tiles a run (default 2000)")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    options = parser.parse_args()
    folder = options.build.resolve()
    recording = bench_dir() / "ten_million.scope"
    if not recording.exists():
        raise SystemExit("bench/recordings.py makes the recording; run it first")
    trace = Inputs(folder / "bench" / "bench_generate").trace("gpt_bf16", "2G")
    program = folder / "stepscope"
    first = "it did" if go_first(os.getpid()) else "it did not"
    page = f"| {' | '.join(COLUMNS)} |\n| --- |{' ---: |' * (len(COLUMNS) - 1)}\n"
    page += measured("trace of 2 GB, a GPT", program, trace.path, options.tiles)
    page += measured("recording, 10 M ranges on one thread", program, recording, options.tiles)
    load = os.getloadavg()[0]
    page = INTRODUCTION.format(tiles=options.tiles, first=first, load=load) + page
    page += (
        f"\n`{' '.join(['bench/server.py', *sys.argv[1:]])}`, "
        f"{datetime.date.today().isoformat()}, commit {commit()}, {machine()}.\n"
    )
    PAGE.write_text(page)
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
