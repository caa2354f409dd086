"""What the server says against what the command line says, and tiles against every event."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle.random_loading import MS, ScopeWriter
from program import ROOT, Program
from served import Served, Tile, serving, tiles_from

DATA = ROOT / "examples" / "data"
RUNS = ["gpt_bf16.json.gz", "ddp", "run", "snap_gpt_leak.pickle.gz"]


@pytest.fixture(scope="module", params=RUNS)
def run(request: pytest.FixtureRequest, program: Program) -> Iterator[tuple[Served, str]]:
    path = str(DATA / request.param)
    with serving(program, path) as served:
        yield served, path


def events_of(program: Program, path: str) -> list[dict[str, Any]]:
    done = program.run("export", "--to", "jsonl", path)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_analyses_and_findings_are_those_of_the_command_line(
    run: tuple[Served, str], program: Program
) -> None:
    served, path = run
    for about in served.ask("api/analyses").json["analyses"]:
        answer = served.ask(f"api/analyses/{about['name']}")
        printed = program.run("analyze", about["name"], "-f", "json", path)
        assert answer.status == 200 and answer.body == printed.stdout, about["name"]
    assert served.ask("api/findings").body == program.run("advise", "--json", path).stdout
    listed = program.run("analyze", "--list", "-f", "json").stdout
    assert served.ask("api/analyses").body == listed
    info = json.loads(program.run("info", "--json", "--no-timing", path).stdout)
    assert served.ask("api/run").json["info"] == info


def test_the_summary_is_the_first_lines_of_the_report(
    run: tuple[Served, str], program: Program
) -> None:
    served, path = run
    summary = served.ask("api/summary").json
    facts = {fact["name"]: fact["text"] for fact in summary["facts"]}
    if path.endswith(".pickle.gz"):  # the report needs a trace
        assert summary["step"] is None and summary["length_ns"] == 0 and not summary["traced"]
        return
    report = " ".join(program.run("report", path).stdout.decode().split())
    for name, text in facts.items():
        assert f" {name} {' '.join(text.split())} " in report
    assert facts["Recorded"].split(" · ")[1] == duration(summary["length_ns"])
    steps = facts.get("Steps", "") + facts.get("Traced steps", "")
    for counted in (summary["recorded_steps"], summary["traced_steps"]):
        assert counted is None or counted in steps
    advice = served.ask("api/findings").json
    if summary["step"]["of"] == "traced":
        assert summary["step"]["mean_ns"] == advice["step_ns"]
    else:
        assert f"{duration(summary['step']['mean_ns'])}" in facts["Steps"]
    assert (summary["traced_mark"] is not None) == path.endswith("run")


def duration(ns: int) -> str:
    """As it is printed, of what lasts between a millisecond and a second."""
    return f"{ns / 1e6:.{1 if ns < 99_950_000 else 0}f} ms"


def test_parameters_ranks_and_steps(run: tuple[Served, str], program: Program) -> None:
    served, path = run
    asked = served.ask("api/analyses/kernels?top=2&rank=0&format=csv")
    printed = program.run("analyze", "kernels", "--rank", "0", "-f", "csv", path)
    if asked.status == 404:  # a snapshot has no rank 0
        assert printed.exit_status == 2
        return
    assert asked.headers["content-type"].startswith("text/csv")
    assert asked.body.splitlines()[0] == printed.stdout.splitlines()[0]
    assert served.ask("api/analyses/kernels?rank=99").status == 404
    for wrong in (
        "top=x",
        "other=1",
        "format=xml",
        "table=none",
        "rank=a",
        "step=1-",
        "top=1&top=2",
    ):
        reply = served.ask(f"api/analyses/kernels?{wrong}")
        assert reply.status == 400, wrong
        assert wrong.split("=")[0].split("&")[0] in reply.json["error"]["message"]
    assert served.ask("api/analyses/none").status == 404
    assert served.ask("api/analyses/idle-time?format=csv").status == 400


def tracks_of(served: Served) -> dict[str, Any]:
    tracks: dict[str, Any] = served.ask("api/tracks").json
    return tracks


def all_tiles(served: Served, track: int, level: int, length: int) -> list[Tile]:
    count = length // (1024 << level) + 1
    return [tiles_from(served.ask(f"api/tiles/{track}/{level}/{i}").body)[0] for i in range(count)]


def test_tiles_hold_every_event_once(run: tuple[Served, str], program: Program) -> None:
    served, path = run
    about = tracks_of(served)
    length, highest = about["length_ns"], about["max_level"]
    by_track: dict[int, Counter[str]] = defaultdict(Counter)
    for track in about["tracks"]:
        if track["kind"] in ("counter", "device_idle"):
            continue
        for level in range(highest, max(-1, highest - 6), -1):
            found = 0
            for tile in all_tiles(served, track["id"], level, length):
                end = tile.start + tile.column_ns * 1024
                cells = tile.arrays
                found += sum(cells["cell_count"])
                found += sum(tile.start <= start < end for start in cells["slice_start"])
                assert all(d >= tile.column_ns for d in cells["slice_duration"])
                assert max([*cells["slice_depth"], *cells["cell_depth"], 0]) < track["depth"]
                by_track[track["id"]].update(tile.names)
            assert found == track["events"] - track["not_drawn"], (track["label"], level)
    lines = [e for e in events_of(program, path) if "header" not in e]
    drawn = sum(e.get("kind") not in ("memory", "counter") and e["ph"] != "flow" for e in lines)
    shown = [
        t for t in about["tracks"] if t["kind"] in ("host_thread", "device_stream", "recorded")
    ]
    assert sum(t["events"] for t in shown) == drawn


def test_rows_of_a_track_do_not_overlap(run: tuple[Served, str]) -> None:
    served, _ = run
    about = tracks_of(served)
    for track in about["tracks"]:
        if track["kind"] not in ("host_thread", "device_stream"):
            continue
        free: dict[int, float] = {}
        for tile in all_tiles(
            served, track["id"], max(about["max_level"] - 5, 0), about["length_ns"]
        ):
            a = tile.arrays
            rows = zip(a["slice_depth"], a["slice_start"], a["slice_duration"], strict=True)
            for depth, start, duration in sorted(rows):
                if start < tile.start:
                    continue
                assert start >= free.get(depth, 0)
                free[depth] = start + duration


def test_batches_are_the_same_tiles(run: tuple[Served, str]) -> None:
    served, _ = run
    about = tracks_of(served)
    tracks = [t["id"] for t in about["tracks"]][:5]
    if not tracks:
        return
    single = b"".join(served.ask(f"api/tiles/{t}/10/0").body for t in tracks)
    assert served.ask(f"api/tiles/10/0?tracks={','.join(map(str, tracks))}").body == single
    assert [t.track for t in tiles_from(single)] == tracks
    level = about["max_level"] + 1
    for wrong in (
        f"api/tiles/0/{level}/0",
        "api/tiles/999/0/0",
        "api/tiles/0/0",
        "api/tiles/a/0/0",
    ):
        assert served.ask(wrong).status in (400, 404), wrong
    after = tiles_from(served.ask("api/tiles/0/0/9223372036854775807").body)[0]
    assert all(not values for values in after.arrays.values())


@pytest.fixture(scope="module")
def trace(program: Program) -> Iterator[tuple[Served, list[dict[str, Any]]]]:
    path = str(DATA / "gpt_bf16.json.gz")
    with serving(program, path) as served:
        yield served, events_of(program, path)


def test_events_are_linked(trace: tuple[Served, list[dict[str, Any]]]) -> None:
    served, events = trace
    by_ordinal = {e["ordinal"]: e for e in events if "ordinal" in e}
    children: Counter[int] = Counter(
        e["parent"] for e in by_ordinal.values() if "parent" in e and e["kind"] != "memory"
    )
    kernels = [e for e in by_ordinal.values() if e.get("kind") == "kernel" and "launch" in e]
    calls = [e for e in by_ordinal.values() if e.get("work")]
    backward = [e for e in by_ordinal.values() if "forward" in e]
    parents = [by_ordinal[o] for o in list(children)[:20]]
    offset = served.ask("api/run").json["time"]["windows"][0]["offset_ns"]
    for event in [*kernels[:20], *calls[:20], *backward[:20], *parents]:
        shown = served.ask(f"api/events/0/0/{event['ordinal']}").json
        assert shown["name"] == event["name"] and shown["kind"] == event["kind"]
        assert shown["start_ns"] == event["start_ns"] + int(offset)
        assert shown["duration_ns"] == event.get("dur_ns", 0)
        assert (shown["launch"] or {}).get("ordinal") == event.get("launch")
        assert (shown["forward"] or {}).get("ordinal") == event.get("forward")
        assert (shown["parent"] or {}).get("ordinal") == event.get("parent")
        assert shown["children_count"] == children[event["ordinal"]]
        if "work" in event:
            assert [w["ordinal"] for w in shown["work"]][:1] == event["work"][:1]
        if "launch" in event:
            call = by_ordinal[event["launch"]]
            assert (shown["operator"] or {}).get("ordinal") == call.get("op")
        if "forward" in event:
            other = served.ask(f"api/events/0/0/{event['forward']}").json
            assert event["ordinal"] in [b["ordinal"] for b in other["backward"]]
        stack = [s["ordinal"] for s in shown["stack"]]
        assert stack[:1] == ([event["parent"]] if "parent" in event else [])
    kernel = served.ask(f"api/events/0/0/{kernels[0]['ordinal']}").json
    assert kernel["arguments"]["stream"] == kernels[0]["stream"]
    assert kernel["arguments"]["grid"] == kernels[0]["grid"]
    for missing in ("0/0/4000000000", "9/0/1", "0/7/1", "0/0/x", "0/0"):
        assert served.ask(f"api/events/{missing}").status == 404, missing


def test_an_event_is_where_its_tile_shows_it(trace: tuple[Served, Any]) -> None:
    served, _ = trace
    for track in tracks_of(served)["tracks"]:
        if track["kind"] not in ("host_thread", "device_stream"):
            continue
        level = tracks_of(served)["max_level"]
        tile = tiles_from(served.ask(f"api/tiles/{track['id']}/{level}/0").body)[0]
        a = tile.arrays
        for i in range(0, len(a["slice_start"]), 7):
            event = served.ask(f"api/events/0/{a['slice_window'][i]}/{a['slice_ordinal'][i]}").json
            assert (event["track"], event["depth"]) == (track["id"], a["slice_depth"][i])
            assert event["start_ns"] == a["slice_start"][i]
            assert event["duration_ns"] == a["slice_duration"][i]


def test_search_finds_what_a_scan_finds(trace: tuple[Served, list[dict[str, Any]]]) -> None:
    served, events = trace
    offset = int(served.ask("api/run").json["time"]["windows"][0]["offset_ns"])
    for text in ("aten::", "GEMM", "adam", "nothing has this name"):
        hits = [
            (e["start_ns"] + offset, e["ordinal"], e["name"])
            for e in events
            if text.lower() in e.get("name", "").lower()
            and e.get("kind") not in (None, "memory", "counter")
        ]
        found = served.ask(f"api/search?q={text.replace(' ', '%20')}&limit=50").json
        assert found["count"] == len(hits)
        assert [h["start_ns"] for h in found["hits"]] == [h[0] for h in sorted(hits)[:50]]
        assert sum(n["count"] for n in found["names"]) <= len(hits)
        if len(hits) > 60:
            later = sorted(hits)[60][0]
            rest = served.ask(f"api/search?q={text}&from_ns={later}&limit=1").json
            assert rest["hits"][0]["start_ns"] == later
    for wrong in ("", "q=", "q=a&limit=1001", "q=a&limit=-1", "q=a&other=1"):
        assert served.ask(f"api/search?{wrong}").status == 400, wrong


def test_the_whole_run_as_a_selection_is_the_analysis(trace: tuple[Served, Any]) -> None:
    served, events = trace
    whole = served.ask("api/selection").json
    idle = served.ask("api/analyses/idle-time").json["tables"]["devices"][0]
    device = whole["devices"][0]
    assert device["idle_ns"] == idle["idle_ns"]
    assert device["measured_ns"] == idle["measured_ns"]
    assert sum(device["causes"].values()) == idle["idle_ns"]
    for cause, time in device["causes"].items():
        assert time == idle[f"{cause}_ns"], cause
    kernels = [e for e in events if e.get("kind") == "kernel"]
    by_kind = {k["kind"]: k for k in whole["kinds"]}
    assert by_kind["kernel"]["count"] == len(kernels)
    assert by_kind["kernel"]["total_ns"] == sum(e["dur_ns"] for e in kernels)
    length = served.ask("api/run").json["time"]["length_ns"]
    middle = length // 2
    halves = [
        served.ask(f"api/selection?from_ns={a}&to_ns={b}").json
        for a, b in ((0, middle), (middle, length + 1))
    ]
    for key in ("busy_ns", "idle_ns", "measured_ns"):
        assert sum(h["devices"][0][key] for h in halves) == device[key]
    for kind in by_kind:
        parts = [k for h in halves for k in h["kinds"] if k["kind"] == kind]
        assert sum(k["total_ns"] for k in parts) == by_kind[kind]["total_ns"]
        assert sum(k["self_ns"] for k in parts) == by_kind[kind]["self_ns"]
    assert served.ask("api/selection?from_ns=5&to_ns=4").status == 400
    assert served.ask("api/selection?tracks=999").status == 400


def test_the_timeline_reaches_to_the_end_of_a_recording(run: tuple[Served, str]) -> None:
    """What was sampled after the last range of a process is drawn, too."""
    served, _ = run
    about = served.ask("api/run").json
    recordings = about["info"].get("recordings", [])
    if not recordings:
        return
    first = int(about["time"]["start_unix_ns"])
    ends = [int(one["start_unix_ns"]) + one["length_ns"] for one in recordings]
    assert about["time"]["length_ns"] >= max(ends) - first


def test_a_stretch_has_the_lines_that_were_logged_in_it(run: tuple[Served, str]) -> None:
    served, _ = run
    levels = served.ask("api/analyses/log").json["tables"]["levels"]
    time = served.ask("api/run").json["time"]
    length = time["length_ns"] if time else 0
    cuts = [0, length // 3, 2 * length // 3, length + 1]
    parts = [
        served.ask(f"api/selection?from_ns={a}&to_ns={b}").json
        for a, b in zip(cuts, cuts[1:], strict=False)
    ]
    lines = [line for part in parts for line in part["lines"]]
    assert sum(part["lines_count"] for part in parts) == sum(row["lines"] for row in levels)
    assert [line["time_ns"] for line in lines] == sorted(line["time_ns"] for line in lines)
    # The tables of what was recorded have another zero, and the way from one to the other is given.
    rows = served.ask("api/analyses/log?level=debug&top=0").json["tables"]["lines"]
    offset = int((time or {}).get("recorded_offset_ns") or 0)
    assert {(row["rank"], row["time_ns"] + offset, row["text"]) for row in rows} == {
        (line["rank"], line["time_ns"], line["text"].split("\n")[0]) for line in lines
    }
    counted = Counter((line["rank"], line["level"] >= 40) for line in lines)
    for rank in {row["rank"] for row in levels}:
        errors = sum(r["lines"] for r in levels if r["rank"] == rank and r["level"] == "error")
        assert counted[rank, True] == errors


def test_gaps_of_a_device_are_its_idle_time(trace: tuple[Served, Any]) -> None:
    served, _ = trace
    about = tracks_of(served)
    idle = next(t for t in about["tracks"] if t["kind"] == "device_idle")
    tile = tiles_from(served.ask(f"api/tiles/{idle['id']}/0/0").body)[0]
    assert tile.form == 1
    longest = served.ask("api/analyses/idle-time").json["tables"]["gaps"][0]
    offset = int(served.ask("api/run").json["time"]["windows"][0]["offset_ns"])
    start = longest["start_ns"] + offset
    level = 8
    tile = tiles_from(
        served.ask(f"api/tiles/{idle['id']}/{level}/{start // (1024 << level)}").body
    )[0]
    gaps = dict(zip(tile.arrays["gap_start"], tile.arrays["gap_duration"], strict=True))
    assert gaps[start] >= longest["length_ns"]
    cause = tile.arrays["gap_cause"][tile.arrays["gap_start"].index(start)]
    assert about["causes"][cause] == longest["cause"]
    # From afar most gaps are shorter than a column, and the device is as idle as it is.
    far = tiles_from(served.ask(f"api/tiles/{idle['id']}/{about['max_level']}/0").body)[0]
    device = served.ask("api/analyses/idle-time").json["tables"]["devices"][0]
    shown = sum(far.arrays["gap_duration"])
    assert 0.95 < shown / device["idle_ns"] < 1.05


def test_what_a_loader_notes_of_each_batch_is_no_line(program: Program, tmp_path: Path) -> None:
    rank = tmp_path / "attempt-0" / "rank00000"
    rank.mkdir(parents=True)
    main, worker = ScopeWriter(100, 0), ScopeWriter(101, 0)
    main.step(0, 0, begins=True)
    for batch in range(4):
        for name in ("batch", "ready", "worker", "samples"):
            main.counter(f"loader {name}#DataLoader", batch, (batch + 1) * MS)
        worker.counter("loader cpu_ns#DataLoader", batch, (batch + 1) * MS)
        for process in (main, worker):
            process.counter("open files", batch, (batch + 1) * MS)
    main.step(0, 9 * MS)
    (rank / "events.scope").write_bytes(main.bytes())
    (rank / "worker-101.scope").write_bytes(worker.bytes())
    with serving(program, str(tmp_path)) as served:
        lines = [each for each in tracks_of(served)["tracks"] if each["kind"] == "counter"]
    labels = ["DataLoader batches ready", "open files", "open files of worker 101"]
    assert sorted(each["label"] for each in lines) == labels
