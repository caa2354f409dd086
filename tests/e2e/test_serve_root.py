"""Runs below --root: what is offered, what is opened, and that nothing outside ever is."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from program import ROOT, Program
from served import Served, started

DATA = ROOT / "examples" / "data"
SECRET = "only_outside_of_the_root"


def secret_trace(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    event = (
        f'{{"ph":"X","cat":"cpu_op","name":"{SECRET}","pid":1,"tid":1,"ts":1,"dur":5,'
        f'"args":{{"note":"{SECRET}"}}}}'
    )
    path.write_text(f'{{"traceEvents":[{event}]}}')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("served_root")
    root = base / "runs"
    shutil.copytree(DATA / "ddp", root / "exp2" / "ddp")
    shutil.copytree(DATA / "run", root / "recorded")
    shutil.copy(DATA / "gpt_bf16.json.gz", root / "exp1.json.gz")
    (root / "notes.txt").write_text("not a trace")
    (root / "empty").mkdir()
    (root / ".hidden").mkdir()
    shutil.copy(DATA / "gpt_bf16.json.gz", root / ".hidden" / "trace.json.gz")
    (root / "same").symlink_to(root / "exp2" / "ddp")
    secret_trace(base / "secret" / "trace.json")
    (root / "outside").symlink_to(base / "secret")
    (root / "outside.json").symlink_to(base / "secret" / "trace.json")
    (root / "mixed").mkdir()
    shutil.copy(DATA / "gpt_bf16.json.gz", root / "mixed" / "inside.json.gz")
    (root / "mixed" / "link.json").symlink_to(base / "secret" / "trace.json")
    (root / "mixed" / "deep").symlink_to(base / "secret")
    return root


@pytest.fixture(scope="module")
def served(program: Program, folder: Path) -> Iterator[Served]:
    with started(program, "--port", "0", "--root", str(folder)) as running:
        yield running


def opened(served: Served, name: str) -> Any:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        run = served.ask(f"api/run?run={quote(name)}").json
        if run["state"] != "loading":
            return run
        time.sleep(0.05)
    raise AssertionError(f"{name} is still loading")


def test_nothing_is_open_until_one_is_chosen(served: Served, folder: Path) -> None:
    run = served.ask("api/run").json
    assert (run["state"], run["root"], run["paths"]) == ("none", str(folder), [])
    for path in ("api/tracks", "api/findings", "api/analyses/kernels", "api/progress"):
        answer = served.ask(path)
        assert answer.status == 404 and "no run is chosen" in answer.json["error"]["message"]
    assert served.ask("api/analyses").status == 200


def test_what_lies_below_is_offered_a_folder_at_a_time(served: Served) -> None:
    top = {entry["name"]: entry for entry in served.ask("api/runs").json["entries"]}
    assert list(top) == ["empty", "exp1.json.gz", "exp2", "mixed", "recorded", "same"]
    assert top["recorded"]["kind"] == "run"
    assert (top["exp2"]["kind"], top["exp2"]["traces"]) == ("folder", 0)
    assert top["mixed"]["traces"] == 1  # what leads out is not opened, so not counted
    assert top["exp1.json.gz"]["bytes"] == (DATA / "gpt_bf16.json.gz").stat().st_size
    inside = served.ask("api/runs?folder=exp2/ddp").json
    assert [entry["path"] for entry in inside["entries"]] == [
        "exp2/ddp/rank0.json.gz",
        "exp2/ddp/rank1.json.gz",
    ]
    assert served.ask("api/runs?folder=nothing").status == 404
    assert served.ask("api/runs?order=name").status == 400


def test_a_run_is_read_when_it_is_asked_for_and_says_how_far(served: Served) -> None:
    before = served.ask("api/run?run=exp2/ddp").json
    assert before["run"] == "exp2/ddp" and before["state"] in ("loading", "ready")
    stream = served.ask("api/progress?run=exp2/ddp").body.decode()
    assert stream.strip().split("\n\n")[-1].startswith("event: ready\ndata: {")
    run = opened(served, "exp2/ddp")
    assert run["state"] == "ready" and run["info"]["run"]["ranks"] == 2
    tracks = served.ask(f"api/tracks?run=exp2/ddp&v={run['version']}")
    assert "immutable" in tracks.headers["cache-control"]
    assert {track["rank"] for track in tracks.json["tracks"]} == {0, 1}
    entries = served.ask("api/runs?folder=exp2").json["entries"]
    assert [(entry["path"], entry["state"]) for entry in entries] == [("exp2/ddp", "ready")]


def test_two_runs_are_two_answers(served: Served) -> None:
    one, other = opened(served, "exp1.json.gz"), opened(served, "recorded")
    assert one["version"] != other["version"]
    first = served.ask("api/analyses/steps?run=exp1.json.gz")
    second = served.ask("api/analyses/steps?run=recorded")
    assert first.status == second.status == 200 and first.body != second.body


def test_a_link_inside_leads_to_the_same_run(served: Served) -> None:
    for name in ("exp2/ddp", "same"):
        run = opened(served, name)
        assert (run["run"], run["paths"]) == (name, [name])
    assert opened(served, "same")["version"] == opened(served, "exp2/ddp")["version"]


OUTSIDE = [
    "..",
    "../secret",
    "../secret/trace.json",
    "exp2/../../secret",
    "exp2/..",
    "exp2/./ddp",
    "exp2//ddp",
    "/etc",
    "/",
    "//etc/passwd",
    "outside",
    "outside/trace.json",
    "outside.json",
    "mixed/deep",
    "mixed/deep/trace.json",
    "mixed/link.json",
    ".hidden",
    ".hidden/trace.json.gz",
    "exp1.json.gz/..",
    "%2e%2e/secret",
    "..\\secret",
    "~",
    "-",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_outside_is_opened(served: Served, name: str) -> None:
    for written in (name, quote(name, safe=""), quote(quote(name, safe=""), safe="")):
        for path in (
            f"api/run?run={written}",
            f"api/tracks?run={written}",
            f"api/progress?run={written}",
            f"api/search?q={SECRET}&run={written}",
            f"api/runs?folder={written}",
        ):
            answer = served.ask(path)
            assert answer.status in (400, 404), path
            assert SECRET.encode() not in answer.body.replace(written.encode(), b"")


def test_pipes_are_not_opened(program: Program, tmp_path: Path) -> None:
    for i in range(3):
        os.mkfifo(tmp_path / f"f{i}.json")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "folder" / "f.json")
    shutil.copy(DATA / "gpt_bf16.json.gz", tmp_path / "trace.json.gz")
    with started(program, "--port", "0", "--root", str(tmp_path)) as served:
        for i in range(3):
            assert served.ask(f"api/run?run=f{i}.json").status == 404
        assert opened(served, "folder")["state"] == "failed"
        assert opened(served, "trace.json.gz")["state"] == "ready"


def test_links_that_lead_out_are_left_out_of_a_folder(served: Served) -> None:
    run = opened(served, "mixed")
    assert run["state"] == "ready" and run["info"]["run"]["ranks"] == 1
    left = [note for note in run["info"]["notes"] if note["id"] == "skipped_file"]
    assert left and "leads out" in left[0]["detail"]
    assert served.ask(f"api/search?q={SECRET}&run=mixed").json["count"] == 0


def test_a_link_that_changes_its_mind_is_not_followed(program: Program, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    secret_trace(tmp_path / "secret" / "trace.json")
    shutil.copytree(DATA / "ddp", root / "a")
    (root / "link").symlink_to(root / "a")
    with started(program, "--port", "0", "--root", str(root)) as served:
        assert opened(served, "link/rank0.json.gz")["state"] == "ready"
        (root / "link").unlink()
        (root / "link").symlink_to(tmp_path / "secret")
        assert served.ask("api/run?run=link").status == 404
        assert served.ask("api/run?run=link/trace.json").status == 404


def test_a_folder_replaced_by_a_link_is_not_read_again(program: Program, tmp_path: Path) -> None:
    inside, outside = tmp_path / "runs" / "a" / "trace.json", tmp_path / "secret" / "trace.json"
    secret_trace(outside)
    inside.parent.mkdir(parents=True)
    inside.write_text(outside.read_text().replace(SECRET, SECRET[::-1]))
    # Whoever owns a file chooses its size and time: they do not tell it from another.
    times = outside.stat()
    os.utime(inside, ns=(times.st_atime_ns, times.st_mtime_ns))
    with started(program, "--port", "0", "--root", str(tmp_path / "runs")) as served:
        assert opened(served, "a")["state"] == "ready"
        inside.parent.rename(tmp_path / "runs" / "b")
        (tmp_path / "runs" / "a").symlink_to(tmp_path / "secret")
        answer = served.ask("api/events/0/0/0?run=a")
        assert SECRET.encode() not in answer.body
        assert answer.json["name"] == SECRET[::-1] and answer.json["arguments"] is None
        assert answer.json["text_lost"]
        # What lies there is read again as ever.
        assert opened(served, "b")["state"] == "ready"
        assert served.ask("api/events/0/0/0?run=b").json["arguments"] == {"note": SECRET[::-1]}


def test_more_runs_than_are_kept_come_back_when_asked_for(program: Program, tmp_path: Path) -> None:
    for i in range(6):
        shutil.copy(DATA / "gpt_bf16.json.gz", tmp_path / f"t{i}.json.gz")
    with started(program, "--port", "0", "--root", str(tmp_path)) as served:
        versions = [opened(served, f"t{i}.json.gz")["version"] for i in range(6)]
        states = [entry["state"] for entry in served.ask("api/runs").json["entries"]]
        assert states.count("ready") == 3
        again = opened(served, "t0.json.gz")
        assert again["state"] == "ready" and again["version"] not in versions


def test_what_could_not_be_read_is_tried_again(program: Program, tmp_path: Path) -> None:
    trace = tmp_path / "later.json.gz"
    trace.write_bytes(b"not yet")
    with started(program, "--port", "0", "--root", str(tmp_path)) as served:
        run = opened(served, "later.json.gz")
        assert run["state"] == "failed" and run["error"]
        assert served.ask("api/tracks?run=later.json.gz").status == 500
        shutil.copy(DATA / "gpt_bf16.json.gz", trace)
        end = time.monotonic() + 120
        while opened(served, "later.json.gz")["state"] == "failed" and time.monotonic() < end:
            time.sleep(0.2)
        assert opened(served, "later.json.gz")["state"] == "ready"


def test_a_path_is_shown_first_where_there_is_a_root_too(program: Program, folder: Path) -> None:
    path = folder / "exp1.json.gz"
    with started(program, "--port", "0", "--root", str(folder), str(path)) as served:
        given = opened(served, "")
        assert given["state"] == "ready" and given["run"] is None
        assert opened(served, "exp1.json.gz")["version"] == given["version"]


def test_without_a_root_there_is_nothing_to_choose(program: Program) -> None:
    with started(program, "--port", "0", str(DATA / "gpt_bf16.json.gz")) as served:
        assert served.ask("api/run").json["root"] is None
        for path in ("api/runs", "api/run?run=gpt_bf16.json.gz", "api/tracks?run=."):
            answer = served.ask(path)
            assert answer.status == 404 and "--root" in answer.json["error"]["message"]


def test_a_root_must_be_a_folder(program: Program) -> None:
    done = program.run("serve", "--no-open", "--root", str(DATA / "gpt_bf16.json.gz"))
    assert done.exit_status == 3
    assert b"no such folder" in done.stderr
