"""Starts `stepscope serve` and asks it over real HTTP."""

import contextlib
import gzip
import http.client
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from program import Program


@dataclass(frozen=True)
class Reply:
    """An answer: its status, headers in lower case, and the unpacked body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Served:
    """A running server."""

    process: subprocess.Popen[bytes]
    port: int
    token: str
    base: str
    place: str = ""  # where the page begins, after the address' #

    def connect(self, timeout: float = 60) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(
        self,
        path: str,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        token: bool = True,
    ) -> Reply:
        """One request on a connection of its own."""
        own = {"Authorization": f"Bearer {self.token}"} if token else {}
        with contextlib.closing(self.connect()) as connection:
            connection.request(method, f"{self.base}/{path}", headers={**own, **(headers or {})})
            return reply_of(connection.getresponse())

    def raw(self, data: bytes, timeout: float = 30) -> bytes:
        """What comes back for these bytes until the server closes or nothing comes any more."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as client:
            with contextlib.suppress(OSError):  # it need not want to hear all of it
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
            return read_all(client)


def read_all(client: socket.socket) -> bytes:
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := client.recv(65536):
            parts.append(part)
    return b"".join(parts)


def reply_of(response: http.client.HTTPResponse) -> Reply:
    headers = {name.lower(): value for name, value in response.getheaders()}
    body = response.read()
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    return Reply(response.status, headers, body)


def first_line(process: subprocess.Popen[bytes], timeout: float = 60) -> str:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], timeout)
    line = process.stdout.readline().decode() if ready else ""
    if not line:
        process.kill()
        assert process.stderr is not None
        raise AssertionError(f"no address: {process.stderr.read().decode()}")
    return line.strip()


@contextlib.contextmanager
def started(program: Program, *arguments: str | os.PathLike[str]) -> Iterator[Served]:
    """A server that has printed its address; it may still be loading."""
    settings = {k: v for k, v in os.environ.items() if not k.startswith("STEPSCOPE_")}
    process = subprocess.Popen(
        [program.path, "serve", "--no-open", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**settings, "LC_ALL": "C.UTF-8"},
    )
    try:
        url = urlsplit(first_line(process))
        token = parse_qs(url.query)["token"][0]
        yield Served(process, url.port or 0, token, url.path.rstrip("/"), url.fragment)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            _, said = process.communicate()
        # Of a program that was built with sanitizers.
        found = re.search(rb"(Sanitizer: |runtime error: ).*", said)
        assert found is None, said.decode(errors="replace")


def wait_until_ready(served: Served, timeout: float = 120) -> Any:
    """What api/run says once the run is loaded."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        run = served.ask("api/run").json
        if run["state"] != "loading":
            return run
        time.sleep(0.05)
    raise AssertionError("the run is still loading")


@contextlib.contextmanager
def serving(program: Program, *paths: str | os.PathLike[str]) -> Iterator[Served]:
    """A server on any free port that has loaded its run."""
    with started(program, "--port", "0", *paths) as served:
        assert wait_until_ready(served)["state"] == "ready"
        yield served


@dataclass(frozen=True)
class Tile:
    """A tile, decoded as docs/formats/http-api.md describes it."""

    form: int
    level: int
    track: int
    start: float
    column_ns: float
    depth: int
    before: float
    arrays: dict[str, list[Any]]
    names: list[str]


SLICES = [("start", "d"), ("duration", "d"), ("name", "I"), ("ordinal", "I"), ("window", "H")]
SLICES += [("depth", "H"), ("kind", "B"), ("flags", "B")]
CELLS = [("count", "I"), ("name", "I"), ("ordinal", "I"), ("column", "H"), ("depth", "H")]
CELLS += [("window", "H"), ("kind", "B"), ("covered", "B")]
GAPS = [("start", "d"), ("duration", "d"), ("cause", "B")]
POINTS = [("min", "d"), ("max", "d"), ("last", "d"), ("column", "H")]


def tiles_from(data: bytes) -> list[Tile]:
    """Every tile of an answer."""
    tiles = []
    while data:
        head = struct.unpack_from("<4sHBBIIddIIIIIId", data)
        magic, version, form, level, track, size, start, column, n, m, g, k, b, depth, before = head
        assert magic == b"SSTL" and version == 1 and size % 8 == 0 and size <= len(data)
        at = 64
        arrays: dict[str, list[Any]] = {}

        def take(count: int, letter: str, data: bytes = data) -> list[Any]:
            nonlocal at
            values = list(struct.unpack_from(f"<{count}{letter}", data, at))
            at = (at + struct.calcsize(f"<{count}{letter}") + 7) // 8 * 8
            return values

        groups = [("slice", SLICES, n), ("cell", CELLS, m), ("gap", GAPS, g)]
        for prefix, columns, count in [("point", POINTS, n)] if form == 2 else groups:
            for name, letter in columns:
                arrays[f"{prefix}_{name}"] = take(count, letter)
        names = []
        if form == 1:
            first = take(k + 1, "I")
            text = bytes(take(b, "B"))
            names = [text[i:j].decode() for i, j in zip(first, first[1:], strict=False)]
        assert at == size
        tiles.append(Tile(form, level, track, start, column, depth, before, arrays, names))
        data = data[size:]
    return tiles


def page_folder(folder: Path) -> Path:
    """A page small enough to know by heart."""
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>page</title>")
    (folder / "assets" / "app-1.js").write_text("'use strict';" + " " * 2000)
    return folder
