"""Slow, broken, many and hostile clients, and how the server ends."""

import concurrent.futures
import contextlib
import gzip
import http.client
import json
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from program import ROOT, Program
from served import Served, read_all, serving, started

TRACE = ROOT / "examples" / "data" / "gpt_stack.json.gz"


@pytest.fixture(scope="module")
def served(program: Program) -> Iterator[Served]:
    with serving(program, str(TRACE)) as running:
        yield running


def request(served: Served, path: str = "api/run", more: str = "") -> bytes:
    head = f"GET /{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {served.token}\r\n"
    return f"{head}{more}\r\n".encode()


def test_two_hundred_connections_at_once(served: Served) -> None:
    with contextlib.ExitStack() as stack:
        clients = [
            stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=60))
            for _ in range(200)
        ]
        for client in clients:
            client.sendall(request(served))
        for client in clients:  # all of them stay open meanwhile
            assert client.recv(15) == b"HTTP/1.1 200 OK"

    def ask(i: int) -> int:
        return served.ask(("api/tracks", "api/run", f"api/tiles/{i % 5}/3/{i}")[i % 3]).status

    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        assert set(pool.map(ask, range(600))) == {200}


def test_keep_alive_serves_one_after_the_other(served: Served) -> None:
    connection = served.connect()
    headers = {"Authorization": f"Bearer {served.token}"}
    for path in ("/api/run", "/nothing", "/api/tracks"):
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        response.read()
        assert response.status in (200, 404)
    connection.close()
    both = served.raw(request(served) + request(served, more="Connection: close\r\n"))
    assert both.count(b"HTTP/1.1 200 OK") == 2


def is_dismissed(client: socket.socket) -> bool:
    """Whether the server has closed the connection."""
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    finally:
        client.setblocking(True)


def test_slow_clients_delay_no_other_and_are_dismissed(served: Served) -> None:
    with contextlib.ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=60))
            for _ in range(300)
        ]
        for client in slow:
            client.sendall(b"GET /api/run HTTP/1.1\r\nX-")
        # Were they in the way, others would wait until they are gone.
        answered = 0
        while not any(is_dismissed(client) for client in slow):
            for client in slow:  # a byte a second does not make a request younger
                with contextlib.suppress(OSError):
                    client.sendall(b"a")
            assert served.ask("api/tracks").status == 200
            if not any(is_dismissed(client) for client in slow):
                answered += 1
            time.sleep(1)
            assert answered < 100, "they are never dismissed"
        assert answered > 0
        end = time.monotonic() + 60
        while slow and time.monotonic() < end:
            slow = [client for client in slow if not is_dismissed(client)]
            time.sleep(0.1)
        assert not slow


def test_more_connections_than_there_is_room_for(served: Served) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(700):
            stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=60))
        assert served.ask("api/run").status == 200


def test_half_closed_connections_get_their_answer(served: Served) -> None:
    assert b"200 OK" in served.raw(request(served, "api/analyses/kernels"))
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as client:
        client.sendall(b"GET /api/run HTTP/1.1\r\nHo")
        client.shutdown(socket.SHUT_WR)
        assert b" 200 " not in read_all(client)
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as client:
        client.sendall(request(served, "api/analyses"))  # and leaves without reading
    assert served.ask("api/run").status == 200


def test_readers_that_stop_reading(served: Served) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(50):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.connect(("127.0.0.1", served.port))
            stack.enter_context(client)
            client.sendall(request(served, "openapi.json") * 20)
        assert served.ask("api/tracks").status == 200


def test_garbage_is_answered_or_dropped(served: Served) -> None:
    chance = random.Random(7)
    good = request(served, "api/search?q=aten&limit=3")
    for _ in range(400):
        data = bytearray(good)
        for _ in range(chance.randrange(1, 12)):
            kind = chance.randrange(3)
            at = chance.randrange(len(data) + 1)
            if kind == 0 and at < len(data):
                data[at] = chance.randrange(256)
            elif kind == 1:
                del data[at : at + chance.randrange(1, 20)]
            else:
                data[at:at] = chance.randbytes(chance.randrange(1, 20))
        answer = served.raw(bytes(data))
        assert answer == b"" or answer.startswith(b"HTTP/1."), data
        assert b"500" not in answer.split(b"\r\n")[0], data
    assert served.process.poll() is None
    assert served.ask("api/run").status == 200


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_by_signal(program: Program, tmp_path: Path, sign: signal.Signals) -> None:
    path = tmp_path / "s.sock"
    with started(program, "--socket", str(path), str(TRACE)) as served:
        with socket.socket(socket.AF_UNIX) as idle:
            idle.connect(str(path))
            served.process.send_signal(sign)
            assert served.process.wait(20) == 0
        assert not path.exists()


def test_progress_is_sent_until_the_run_is_there(program: Program) -> None:
    with started(program, "--port", "0", str(TRACE)) as served:
        connection = served.connect()
        connection.request("GET", f"/api/progress?token={served.token}")
        response = connection.getresponse()
        assert response.status == 200
        assert response.headers["Content-Type"] == "text/event-stream"
        text = response.read().decode()
        assert text.endswith("\n\n")
        assert text.strip().split("\n\n")[-1].startswith("event: ready\ndata: {")
        assert served.ask("api/run").json["state"] == "ready"


def events_of(stream: http.client.HTTPResponse) -> Iterator[tuple[str, dict[str, Any]]]:
    event = ""
    while line := stream.readline().decode():
        if line.startswith("event: "):
            event = line[7:].strip()
        elif line.startswith("data: "):
            yield event, json.loads(line[6:])


def test_progress_tells_every_file_as_it_is_read(program: Program, tmp_path: Path) -> None:
    first = ROOT / "examples" / "data" / "ddp" / "rank0.json.gz"
    second = tmp_path / "rank1.json"
    subprocess.run(["mkfifo", str(second)], check=True)  # comes when the test wants it to
    with started(program, "--port", "0", str(first), str(second)) as served:
        connection = served.connect()
        connection.request("GET", f"/api/progress?token={served.token}")
        stream = connection.getresponse()
        events = events_of(stream)
        seen = [next(events)]
        while seen[-1][0] == "progress" and seen[-1][1]["files_done"] == 0:
            seen.append(next(events))
        size = first.stat().st_size
        half: dict[str, Any] = {
            "bytes_done": size,
            "bytes_total": size,
            "files_done": 1,
            "files_total": 2,
        }
        assert seen[-1] == ("progress", half)
        assert served.ask("api/run").json["progress"] == half
        with gzip.open(first.parent / "rank1.json.gz") as packed:
            second.write_bytes(packed.read())
        seen += events
        assert seen[-1][0] == "ready" and seen[-1][1]["error"] is None
        done = [data["bytes_done"] for event, data in seen if event == "progress"]
        assert done == sorted(done) and done[-1] <= size  # never back, nor beyond the total
        assert served.ask("api/run").json["info"]["run"]["ranks"] == 2


def test_a_run_that_cannot_be_read_is_reported(program: Program, tmp_path: Path) -> None:
    bad = tmp_path / "trace.json"
    bad.write_text("this is no trace")
    with started(program, "--port", "0", str(bad)) as served:
        text = served.raw(request(served, "api/progress")).decode()
        assert "event: failed" in text
        run = served.ask("api/run").json
        assert run["state"] == "failed" and "trace.json" in run["error"]
        assert served.ask("api/tracks").status == 500
        assert served.ask("api/analyses").status == 200


def test_a_port_that_is_taken_is_reported(program: Program, served: Served) -> None:
    done = program.run("serve", "--no-open", "--port", str(served.port), str(TRACE))
    assert done.exit_status == 3
    assert done.stderr.decode() == (
        f"stepscope: port {served.port} is taken by another program\n"
        "  hint: without --port the first free port from 8250 on is taken\n"
    )


def test_it_ends_while_it_loads(program: Program, tmp_path: Path) -> None:
    pipe = tmp_path / "trace.json"
    subprocess.run(["mkfifo", str(pipe)], check=True)  # a file that never comes
    with started(program, "--port", "0", str(pipe)) as served:
        assert served.ask("api/run").json["state"] == "loading"
        loading = served.ask("api/tracks")
        assert loading.status == 503 and loading.headers["retry-after"] == "1"
        served.process.send_signal(signal.SIGINT)
        served.process.wait(20)


@pytest.mark.parametrize(
    ("content", "said"),
    [("", b"trace.json: empty"), ('{"hello": 1}', b"not a trace"), (None, b"no trace")],
)
def test_what_cannot_be_read_is_said_in_the_terminal(
    program: Program, tmp_path: Path, content: str | None, said: bytes
) -> None:
    path = tmp_path
    if content is not None:
        path = tmp_path / "trace.json"
        path.write_text(content)
    process = subprocess.Popen(
        [program.path, "serve", "--no-open", "--port", "0", path],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        lines = iter(process.stderr.readline, b"")  # the page was not asked for meanwhile
        assert any(line.startswith(b"stepscope: ") and said in line for line in lines)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0


def test_why_arguments_are_not_there_is_said(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(TRACE.read_bytes())
    with serving(program, str(path)) as served:
        path.rename(tmp_path / "elsewhere")
        event = served.ask("api/events/0/0/1861").json
        assert event["arguments"] is None and "trace.json.gz" in event["text_lost"]
    with serving(program, str(TRACE)) as served:
        event = served.ask("api/events/0/0/1861").json
        assert event["arguments"] is not None and event["text_lost"] is None
