"""export --with-counters: what it adds is right, and all it adds is counters."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from answers import tables
from oracle import read_trace
from oracle.intervals import intersect, total
from oracle.random_trace import random_trace
from oracle.work import view_of
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (  # type: ignore[import-untyped]
    Trace,
    TrackEvent,
)
from program import Program

Points = list[tuple[int, Any]]


def exported(program: Program, path: Path, to: str, *options: str) -> bytes:
    outcome = program.run("export", "--to", to, *options, path)
    assert outcome.exit_status == 0, outcome.stderr
    return outcome.stdout


def chrome_counters(data: bytes) -> dict[str, Points]:
    found = defaultdict[str, Points](list)
    for event in json.loads(data)["traceEvents"]:
        if event.get("cat") == "stepscope_counter":
            assert event["ph"] == "C"
            found[event["name"]].append((round(event["ts"] * 1000), event["args"]["value"]))
    return found


def perfetto_counters(data: bytes) -> dict[str, Points]:
    trace = Trace()
    trace.ParseFromString(data)
    names: dict[int, str] = {}
    found = defaultdict[str, Points](list)
    for packet in trace.packet:
        if packet.HasField("track_descriptor") and packet.track_descriptor.HasField("counter"):
            names[packet.track_descriptor.uuid] = packet.track_descriptor.name
        if packet.track_event.type == TrackEvent.TYPE_COUNTER:
            event = packet.track_event
            found[names[event.track_uuid]].append((packet.timestamp, event.double_counter_value))
    return found


def rows(program: Program, path: Path) -> list[dict[str, Any]]:
    lines = exported(program, path, "jsonl").decode().splitlines()
    return [json.loads(line) for line in lines[1:]]


@pytest.fixture(params=range(12))
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    written = tmp_path / "trace.json"
    written.write_bytes(random_trace(request.param))
    return written


def test_values_are_those_of_the_analyses(program: Program, path: Path) -> None:
    got = chrome_counters(exported(program, path, "chrome", "--with-counters"))
    wanted = defaultdict[str, Points](list)
    for row in tables(program, "queue-length", "--points", "0", path)["series"]:
        name = f"GPU {row['device']} queue length, stream {row['stream']}"
        wanted[name].append((row["time_ns"], row["length"]))
    for row in tables(program, "memory-bandwidth", "--points", "0", path)["series"]:
        name = f"GPU {row['device']} copies {row['kind']} (GB/s)"
        wanted[name].append((row["time_ns"], pytest.approx(row["bytes_per_second"] / 1e9)))
    assert {k: v for k, v in got.items() if "utilisation" not in k} == wanted


def test_utilisation_adds_up_to_the_busy_time(program: Program, path: Path) -> None:
    view = view_of(read_trace(path.read_bytes()))
    got = chrome_counters(exported(program, path, "chrome", "--with-counters"))
    for device in view.devices:
        points = got[f"GPU {device} utilisation (%)"]
        ends = [start for start, _ in points[1:]] + [view.trace.span[1]]
        busy = sum(v / 100 * (end - at) for (at, v), end in zip(points, ends, strict=True))
        right = total(intersect([view.trace.span], [w.interval for w in view.on(device)]))
        assert busy == pytest.approx(right)
        assert all(0 <= value <= 100 for _, value in points)


def test_perfetto_has_the_same_lines(program: Program, path: Path) -> None:
    chrome = chrome_counters(exported(program, path, "chrome", "--with-counters"))
    perfetto = perfetto_counters(exported(program, path, "perfetto", "--with-counters"))
    start = min((points[0][0] for points in chrome.values() if points), default=0)
    shift = min((points[0][0] for points in perfetto.values() if points), default=0) - start
    assert {k: [(at - shift, v) for at, v in points] for k, points in perfetto.items()} == chrome
    assert not perfetto_counters(exported(program, path, "perfetto"))


def test_read_again_the_trace_has_its_events_and_the_counters(
    program: Program, path: Path, tmp_path: Path
) -> None:
    plain, counted, again = (tmp_path / f"{name}.json" for name in ("plain", "counted", "again"))
    plain.write_bytes(exported(program, path, "chrome"))
    counted.write_bytes(exported(program, path, "chrome", "--with-counters"))
    before, after = rows(program, plain), rows(program, counted)
    assert after[: len(before)] == before
    added = after[len(before) :]
    assert {row["kind"] for row in added} == {"counter"}
    assert len(added) == sum(map(len, chrome_counters(counted.read_bytes()).values()))
    # What is there already is not added once more.
    again.write_bytes(exported(program, counted, "chrome", "--with-counters"))
    assert again.read_bytes() == counted.read_bytes()


def test_memory_events_become_lines(program: Program, samples: Path) -> None:
    path = samples / "gpt_bf16.json.gz"
    got = chrome_counters(exported(program, path, "chrome", "--with-counters"))
    wanted = [
        (row["start_ns"], row["memory"]["total_allocated"])
        for row in rows(program, path)
        if row.get("kind") == "memory" and row["memory"].get("device_type") == 1
    ]
    assert wanted
    assert got["GPU 0 memory allocated (bytes)"] == sorted(wanted, key=lambda point: point[0])
