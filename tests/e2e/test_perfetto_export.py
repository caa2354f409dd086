"""The Perfetto export, read with Perfetto's own protobuf classes, against the JSONL export."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (  # type: ignore[import-untyped]
    Trace,
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)
from program import ROOT, Program

Row = dict[str, Any]

SMALL_FILE = 250_000
CLEARED, NEEDS_STATE = 1, 2


def real_traces() -> list[Path]:
    folders = [ROOT / "examples" / "data"]
    if corpus := os.environ.get("STEPSCOPE_CORPUS"):
        folders.append(Path(corpus))
    paths = sorted(path for folder in folders for path in folder.rglob("*.json.gz"))
    return [path for path in paths if path.stat().st_size <= SMALL_FILE]


@dataclass
class Slice:
    """An event as Perfetto shows it."""

    track: int
    name: str
    category: str
    start: int
    args: Row
    duration: int = 0
    starts: list[int] = field(default_factory=list)  # arrows
    ends: list[int] = field(default_factory=list)


@dataclass
class Read:
    """A Perfetto file put together again."""

    tracks: dict[int, TrackDescriptor] = field(default_factory=dict)
    slices: dict[tuple[int, int], Slice] = field(default_factory=dict)  # by sequence, ordinal
    instants: dict[tuple[int, int], Slice] = field(default_factory=dict)
    counters: dict[int, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    clocks: dict[int, int] = field(default_factory=dict)


class Names:
    """The interned strings of one sequence."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.categories: dict[int, str] = {}
        self.args: dict[int, str] = {}

    def learn(self, packet: TracePacket) -> None:
        data = packet.interned_data
        self.names |= {entry.iid: entry.name for entry in data.event_names}
        self.categories |= {entry.iid: entry.name for entry in data.event_categories}
        self.args |= {entry.iid: entry.name for entry in data.debug_annotation_names}

    def event(self, packet: TracePacket) -> Slice:
        event = packet.track_event
        return Slice(
            event.track_uuid,
            self.names.get(event.name_iid, ""),
            "".join(self.categories[iid] for iid in event.category_iids),
            packet.timestamp,
            {self.args[a.name_iid]: value_of(a) for a in event.debug_annotations},
            starts=list(event.flow_ids),
            ends=list(event.terminating_flow_ids),
        )


def value_of(annotation: Any) -> Any:
    if annotation.array_values:
        return [value_of(value) for value in annotation.array_values]
    return getattr(annotation, annotation.WhichOneof("value"))


def read_perfetto(data: bytes) -> Read:
    """Does what the trace processor does: sorts by time, keeps file order, nests per track."""
    trace = Trace()
    trace.ParseFromString(data)
    read = Read()
    events: list[tuple[int, Slice, TracePacket]] = []
    sequences: dict[int, Names] = {}
    for packet in trace.packet:
        if packet.HasField("clock_snapshot"):
            read.clocks = {c.clock_id: c.timestamp for c in packet.clock_snapshot.clocks}
            continue
        sequence = packet.trusted_packet_sequence_id
        if packet.sequence_flags & CLEARED:
            assert sequence not in sequences
            sequences[sequence] = Names()
        assert packet.sequence_flags & (CLEARED | NEEDS_STATE)
        sequences[sequence].learn(packet)
        if packet.HasField("track_descriptor"):
            read.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("track_event"):
            assert packet.track_event.track_uuid in read.tracks, "described before it is used"
            events.append((packet.timestamp, sequences[sequence].event(packet), packet))
    replay(read, sorted(events, key=lambda e: e[0]))
    return read


def replay(read: Read, events: list[tuple[int, Slice, TracePacket]]) -> None:
    stacks: dict[int, list[Slice]] = defaultdict(list)
    for time, event, packet in events:
        kind = packet.track_event.type
        key = (packet.trusted_packet_sequence_id, event.args.get("ordinal", -1))
        if kind == TrackEvent.TYPE_SLICE_BEGIN:
            stacks[event.track].append(event)
            assert key not in read.slices
            read.slices[key] = event
        elif kind == TrackEvent.TYPE_SLICE_END:
            opened = stacks[event.track].pop()
            opened.duration = time - opened.start
        elif kind == TrackEvent.TYPE_INSTANT:
            read.instants[key] = event
        else:
            read.counters[event.track].append((time, packet.track_event.double_counter_value))
    assert not any(stacks.values()), "every slice ends"


@dataclass
class Exported:
    """Both exports of the same files."""

    perfetto: Read
    headers: list[Row]
    rows: list[tuple[int, Row]]  # sequence, row

    def time(self, sequence: int, row: Row) -> int:
        base = self.headers[sequence - 1]["header"].get("base_time_ns", 0)
        return int(base) + int(row["start_ns"])  # large numbers are strings

    def near(self) -> Iterator[tuple[int, Row]]:
        for sequence, row in self.rows:
            if row["ph"] != "flow" and "far_time" not in row.get("flags", []):
                yield sequence, row


def export(program: Program, *paths: Path, folder: Path) -> Exported:
    target = folder / "out.perfetto-trace"
    written = program.run("export", *paths, "--to", "perfetto", "-o", target, timeout=300)
    assert written.exit_status in (0, 4), written.stderr.decode()
    dumped = program.run("export", *paths, "--to", "jsonl", timeout=300)
    headers: list[Row] = []
    rows: list[tuple[int, Row]] = []
    for line in dumped.stdout.decode().split("\n"):
        if line:
            row = json.loads(line)
            if "header" in row:
                headers.append(row)
            else:
                rows.append((len(headers), row))
    return Exported(read_perfetto(target.read_bytes()), headers, rows)


def check_spans(exported: Exported) -> None:
    read = exported.perfetto
    spans = [(s, r) for s, r in exported.near() if r["ph"] in ("span", "async_span")]
    assert len(read.slices) == len(spans)
    for sequence, row in spans:
        found = read.slices[sequence, row["ordinal"]]
        assert found.name == row.get("name", "")
        assert found.category == row.get("cat", "")
        assert found.start == exported.time(sequence, row)
        if "dur_ns" in found.args:  # cut because it outlives its caller by clock noise
            assert found.args["dur_ns"] == row["dur_ns"]
            assert 0 < row["dur_ns"] - found.duration <= 1000
        else:
            assert found.duration == row["dur_ns"], row
        check_args(found, row)


def check_args(found: Slice, row: Row) -> None:
    for key in ("external_id", "correlation", "stream", "device", "bytes", "grid", "block"):
        wanted = row.get(key)
        assert found.args.get(key) == (int(wanted) if isinstance(wanted, str) else wanted)
    if "collective" in row:
        assert found.args["collective"] == row["collective"]["name"]


def check_instants_and_counters(exported: Exported) -> None:
    read = exported.perfetto
    instants = [(s, r) for s, r in exported.near() if r["ph"] in ("instant", "async_instant")]
    assert len(read.instants) == len(instants)
    points = 0
    for sequence, row in instants:
        found = read.instants[sequence, row["ordinal"]]
        assert (found.name, found.start) == (row.get("name", ""), exported.time(sequence, row))
        points += sum(key in row.get("memory", {}) for key in ("total_allocated", "total_reserved"))
    points += sum(len(r["counters"]) for _, r in exported.near() if r["ph"] == "counter")
    assert sum(len(values) for values in read.counters.values()) == points
    assert all(read.tracks[track].HasField("counter") for track in read.counters)


def check_arrows(exported: Exported) -> None:
    read = exported.perfetto
    starts = {flow: key for key, found in read.slices.items() for flow in found.starts}
    ends = {flow: key for key, found in read.slices.items() for flow in found.ends}
    assert starts.keys() == ends.keys()
    arrows = {(starts[flow], ends[flow]) for flow in starts}
    wanted = set()
    for sequence, row in exported.near():
        for work in row.get("work", []):
            wanted.add(((sequence, row["ordinal"]), (sequence, work)))
        if "forward" in row:
            wanted.add(((sequence, row["forward"]), (sequence, row["ordinal"])))
    slices = read.slices.keys()
    assert arrows == {(a, b) for a, b in wanted if a in slices and b in slices}


def check(exported: Exported) -> None:
    check_spans(exported)
    check_instants_and_counters(exported)
    check_arrows(exported)
    pids = [d.process.pid for d in exported.perfetto.tracks.values() if d.HasField("process")]
    assert len(pids) == len(set(pids)), "every process has its own number"
    for descriptor in exported.perfetto.tracks.values():
        assert not descriptor.parent_uuid or descriptor.parent_uuid in exported.perfetto.tracks


@pytest.mark.parametrize("path", real_traces(), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_real_traces(path: Path, program: Program, tmp_path: Path) -> None:
    check(export(program, path, folder=tmp_path))


def event(ph: str, ts: float, name: str = "f", **more: Any) -> Row:
    return {"ph": ph, "name": name, "cat": "c", "pid": 1, "tid": 1, "ts": ts, **more}


def write(folder: Path, events: list[Row], name: str = "trace.json", **header: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(header | {"traceEvents": events}))
    return path


def track_names(read: Read) -> dict[int, str]:
    return {
        uuid: track.name or track.thread.thread_name or track.process.process_name
        for uuid, track in read.tracks.items()
    }


def test_overlapping_slices_get_tracks_of_their_own(program: Program, tmp_path: Path) -> None:
    spans = [event("X", 0, dur=10), event("X", 5, dur=10), event("X", 6, dur=2)]
    touching = [event("X", 20, dur=5), event("X", 25, dur=5), event("X", 30, dur=0)]
    exported = export(program, write(tmp_path, spans + touching), folder=tmp_path)
    check(exported)
    names = track_names(exported.perfetto)
    where = [names[found.track] for _, found in sorted(exported.perfetto.slices.items())]
    assert where == ["thread 1", "thread 1 overlap 1", *["thread 1"] * 4]


def test_streams_are_tracks_of_their_device(program: Program, tmp_path: Path) -> None:
    kernel = {"cat": "kernel", "pid": 0, "args": {"device": 0, "stream": 7, "correlation": 5}}
    call = event("X", 1, dur=1, cat="cuda_runtime", args={"correlation": 5})
    trace = write(tmp_path, [call, event("X", 3, "gemm", dur=4, tid=7, **kernel)])
    exported = export(program, trace, folder=tmp_path)
    check(exported)
    tracks = exported.perfetto.tracks
    stream = tracks[exported.perfetto.slices[1, 1].track]
    assert stream.name == "stream 7"
    assert tracks[stream.parent_uuid].process.process_name == "rank 0 GPU 0"


def test_unix_time_is_said_to_be_unix_time(program: Program, tmp_path: Path) -> None:
    base = 1790857026000000000
    trace = write(tmp_path, [event("X", 1.5, dur=1)], baseTimeNanoseconds=base)
    exported = export(program, trace, folder=tmp_path)
    check(exported)
    assert exported.perfetto.slices[1, 0].start == base + 1500
    assert exported.perfetto.clocks == {1: base + 1500, 6: base + 1500}
    relative = export(program, write(tmp_path, [event("X", -1.5, dur=1)]), folder=tmp_path)
    assert relative.perfetto.clocks == {}
    assert relative.perfetto.slices[1, 0].start == 0  # times before zero are moved


def test_ranks_share_a_file_and_no_process(program: Program, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for rank in range(2):
        info = {"backend": "nccl", "rank": rank, "world_size": 2}
        write(folder, [event("X", rank, dur=1)], f"rank{rank}.json", distributedInfo=info)
    exported = export(program, folder, folder=tmp_path)
    check(exported)
    names = [d.process.process_name for d in exported.perfetto.tracks.values()]
    assert [name for name in names if name] == ["rank 0 1", "rank 1 1"]


def test_counters_and_memory_totals(program: Program, tmp_path: Path) -> None:
    memory = {"Addr": 64, "Bytes": 512, "Device Type": 1, "Device Id": 0}
    events = [
        event("C", 1, "power", args={"watts": 431.5, "limit": 700}),
        event("i", 2, "[memory]", args=memory | {"Total Allocated": 512, "Total Reserved": 2048}),
    ]
    exported = export(program, write(tmp_path, events), folder=tmp_path)
    check(exported)
    names = track_names(exported.perfetto)
    assert {names[track]: values for track, values in exported.perfetto.counters.items()} == {
        "power watts": [(1000, 431.5)],
        "power limit": [(1000, 700.0)],
        "GPU 0 allocated": [(2000, 512.0)],
        "GPU 0 reserved": [(2000, 2048.0)],
    }


def test_events_far_from_the_rest_are_left_out(program: Program, tmp_path: Path) -> None:
    day = 86400e6
    spans = [event("X", 0, dur=1), event("X", 1, dur=1), event("i", 3 * day, "Record Window End")]
    exported = export(program, write(tmp_path, spans), folder=tmp_path)
    check(exported)
    assert not exported.perfetto.instants
