"""Which requests the server answers, and what it never gives away."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import ROOT, Program
from served import Served, page_folder, serving, started

TRACE = ROOT / "examples" / "data" / "gpt_stack.json.gz"


@pytest.fixture(scope="module")
def served(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    page = page_folder(tmp_path_factory.mktemp("served") / "page")
    (page.parent / "secret.txt").write_text("not for the web")
    (page / "link.txt").symlink_to(page.parent / "secret.txt")
    with serving(program, "--assets", str(page), str(TRACE)) as running:
        yield running


def test_nothing_is_given_without_the_token(served: Served) -> None:
    for path in ("", "api/run", "api/analyses", "api/tracks", "openapi.json", "assets/app-1.js"):
        refused = served.ask(path, token=False)
        assert refused.status == 401, path
        assert refused.json["error"]["code"] == "unauthorized"
        assert "set-cookie" not in refused.headers
        assert served.ask(path, {"Authorization": "Bearer wrong"}, token=False).status == 401


def test_people_without_the_token_get_a_page(served: Served) -> None:
    for path in ("", "?token=wrong"):
        page = served.ask(path, {"Accept": "text/html,*/*;q=0.8"}, token=False)
        assert page.status == 401 and page.headers["content-type"].startswith("text/html")
        assert b"stepscope serve" in page.body and served.token.encode() not in page.body
        assert "set-cookie" not in page.headers and page.headers["cache-control"] == "no-store"


def test_the_token_in_the_address_becomes_a_cookie(served: Served) -> None:
    first = served.ask(f"?token={served.token}", token=False)
    assert first.status == 200
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie
    pair = cookie.split(";")[0]
    assert served.ask("api/run", {"Cookie": pair}, token=False).status == 200
    assert served.ask("api/run", {"Cookie": pair + "x"}, token=False).status == 401
    assert served.ask("api/run?token=wrong", token=False).status == 401


def test_other_hosts_and_origins_are_refused(served: Served) -> None:
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "169.254.169.254"):
        assert served.ask("api/run", {"Host": host}).status == 403, host
    for host in ("localhost", "localhost:1234", "127.0.0.1:9", "[::1]:77"):
        assert served.ask("api/run", {"Host": host}).status == 200, host
    for origin in ("http://evil.example", "null", "https://localhost.evil.example"):
        assert served.ask("api/run", {"Origin": origin}).status == 403, origin
    assert served.ask("api/run", {"Origin": "http://localhost:3"}).status == 200
    head = f"GET /api/run HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {served.token}\r\n"
    two = "Origin: http://localhost\r\nOrigin: http://evil.example\r\n\r\n"
    assert b" 400 " in served.raw((head + two).encode()).split(b"\r\n")[0]


def test_no_file_but_the_page(served: Served) -> None:
    for path in (
        "../secret.txt",
        "assets/../../secret.txt",
        "%2e%2e/secret.txt",
        "..%2fsecret.txt",
        "assets/%2e%2e%2f%2e%2e%2fsecret.txt",
        "/etc/passwd",
        "//etc/passwd",
        "..\\secret.txt",
        "link.txt",
        "assets",
        "assets/",
        ".",
    ):
        reply = served.ask(path)
        assert reply.status in (400, 404), path
        assert b"not for the web" not in reply.body and b"root:" not in reply.body
    assert served.ask("assets/app-1.js%00").status == 400
    assert served.ask("assets/app-1.js").headers["content-type"].startswith("text/javascript")


def test_every_answer_has_the_safe_headers(served: Served) -> None:
    for path, token in (("", True), ("api/run", True), ("nothing", True), ("api/run", False)):
        headers = served.ask(path, token=token).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'self'" in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers


def test_only_get_and_head(served: Served) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"):
        reply = served.ask("api/run", method=method)
        assert reply.status == 405, method
    head = served.ask("api/analyses", method="HEAD")
    assert head.status == 200 and head.body == b""
    assert int(head.headers["content-length"]) > 10000


def test_answers_are_kept_and_packed(served: Served) -> None:
    plain = served.ask("api/analyses")
    packed = served.ask("api/analyses", {"Accept-Encoding": "br, gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(plain.body) / 4
    assert packed.body == plain.body and packed.headers["etag"] == plain.headers["etag"]
    refused = served.ask("api/analyses", {"Accept-Encoding": "gzip;q=0"})
    assert "content-encoding" not in refused.headers
    same = served.ask("api/analyses", {"If-None-Match": plain.headers["etag"]})
    assert same.status == 304 and same.body == b""
    assert served.ask("api/analyses", {"If-None-Match": 'W/"other"'}).status == 200
    version = served.ask("api/run").json["version"]
    assert "immutable" in served.ask(f"api/tracks?v={version}").headers["cache-control"]
    assert "no-cache" in served.ask("api/tracks?v=other").headers["cache-control"]


def test_sizes_are_limited(served: Served) -> None:
    def status(data: bytes) -> bytes:
        return served.raw(data).split(b"\r\n")[0]

    head = f"GET /api/run HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {served.token}\r\n"
    assert b" 200 " in status(head.encode() + b"\r\n")
    assert b" 431 " in status(head.encode() + b"X: " + b"y" * 70000 + b"\r\n\r\n")
    many = b"".join(b"X-%d: y\r\n" % i for i in range(5000))
    assert b" 431 " in status(head.encode() + many + b"\r\n")
    long_target = b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert b" 431 " in status(long_target)
    assert b" 413 " in status(head.encode() + b"Content-Length: 99999999\r\n\r\n")
    two = head.encode() + b"Host: localhost\r\n\r\n"
    assert b" 400 " in status(two)
    assert b" 400 " in status(head.encode() + b"Content-Length: 10\r\n\r\n0123456789")
    assert b" 200 " in status(head.encode() + b"Content-Length: 0\r\n\r\n")


def test_a_socket_is_for_its_owner_alone(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    with started(program, "--socket", str(path), str(TRACE)) as served:
        assert path.stat().st_mode & 0o777 == 0o600
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            ask = f"GET /api/run?token={served.token} HTTP/1.1\r\nHost: localhost\r\n"
            client.sendall(ask.encode() + b"Connection: close\r\n\r\n")
            assert client.recv(15) == b"HTTP/1.1 200 OK"
        second = program.run("serve", "--socket", str(path), str(TRACE))
        assert second.exit_status == 3 and b"exists already" in second.stderr
    assert not path.exists()


def test_a_socket_of_a_killed_server_is_taken_over(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    with started(program, "--socket", str(path), str(TRACE)) as served:
        served.process.kill()
        served.process.wait()
        assert path.exists()
    with started(program, "--socket", str(path), str(TRACE)):
        assert path.is_socket()


def test_below_a_proxy(program: Program) -> None:
    with started(
        program, "--port", "0", "--base-path", "/node/7/", "--allow-host", "hub.org", str(TRACE)
    ) as served:
        assert served.base == "/node/7"
        assert served.ask("api/run", {"Host": "hub.org"}).status == 200
        first = served.ask(f"?token={served.token}", {"Host": "hub.org"}, token=False)
        assert "Path=/node/7/" in first.headers["set-cookie"]
        assert served.ask("api/run", {"Host": "hub.org.evil.example"}).status == 403
        # Without its last slash the page would look for its files one folder too high.
        bare = "GET /node/7?token=a%26b&run=x HTTP/1.1\r\nHost: {}\r\n\r\n"
        moved = served.raw(bare.format("localhost").encode()).decode()
        assert " 307 " in moved.splitlines()[0]
        assert "\r\nLocation: /node/7/?token=a%26b&run=x\r\n" in moved
        assert b" 403 " in served.raw(bare.format("evil.example").encode()).splitlines()[0]


def test_without_the_page_it_says_how_to_build_it(program: Program, tmp_path: Path) -> None:
    alone = tmp_path / "stepscope"
    alone.write_bytes(program.path.read_bytes())
    alone.chmod(0o755)
    with started(Program(alone), "--port", "0", str(TRACE)) as served:
        page = served.ask("")
        assert page.status == 503 and b"make web" in page.body
