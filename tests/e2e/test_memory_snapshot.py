"""Memory snapshots against Python's own pickle: every event, stack, segment, block, annotation."""

import gzip
import json
import os
import pickle
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from answers import Row, tables
from program import ROOT, Program

Snapshot = dict[str, Any]

STATES = {
    "active_allocated": "active",
    "active_pending_free": "pending free",
    "inactive": "inactive",
}


def snapshots() -> list[Path]:
    """The samples, and those of the corpus where there is one."""
    found = list((ROOT / "examples" / "data").glob("*.pickle.gz"))
    if corpus := os.environ.get("STEPSCOPE_CORPUS"):
        found += Path(corpus).rglob("snap*.pickle*")
    return sorted({path.name: path for path in found}.values())


def load(path: Path) -> Snapshot:
    """Our own recordings are safe to unpickle."""
    raw = path.read_bytes()
    whole: Snapshot = pickle.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    return whole


class Asked:
    """What the program says about a snapshot, with stacks as lists of frames."""

    def __init__(self, program: Program, path: Path) -> None:
        self.tables = tables(program, "memory-events", "--top", "0", path)
        frames: dict[int, list[tuple[str, str | None, int]]] = defaultdict(list)
        for row in self.tables["stacks"]:
            assert row["depth"] == len(frames[row["stack"]])
            frames[row["stack"]].append((row["function"], row["file"], row["line"]))
        self.frames = frames
        distinct = {tuple(stack) for stack in frames.values()}
        assert len(distinct) == len(frames), "each stack is kept once"

    def stack(self, row: Row, key: str = "stack") -> list[tuple[str, str | None, int]]:
        return [] if row[key] is None else self.frames[row[key]]


def frames_of(frames: list[Any] | None) -> list[tuple[str, str | None, int]]:
    return [
        (f, None, 0) if isinstance(f, str) else (f["name"], f["filename"] or None, f["line"])
        for f in frames or []
    ]


def exact(number: str | int | None) -> int | None:
    """JSON's numbers are exact up to 2**53; larger ones are written as text."""
    return None if number is None else int(number)


def said(text: str | None) -> str | None:
    return None if text in ("", "N/A", None) else text


def check(program: Program, path: Path, snapshot: Snapshot) -> None:
    asked = Asked(program, path)
    rows = iter(asked.tables["events"])
    for device, history in enumerate(snapshot.get("device_traces", [])):
        for number, event in enumerate(history):
            row = next(rows)
            where = (path.name, device, number)
            assert (row["device"], row["event"]) == (device, number)
            assert row["action"] == event["action"], where
            time = event.get("time_us")
            assert exact(row["unix_ns"]) == (None if time is None else round(time * 1000)), where
            if event["action"] == "oom":
                assert row["address"] == f"{event['device_free']} free", where
            else:
                assert row["address"] == hex(event["addr"]), where
            assert row["size_bytes"] == event["size"], where
            assert row["stream"] == event["stream"], where
            assert row["note"] == said(event.get("user_metadata")), where
            assert row["compile_context"] == said(event.get("compile_context")), where
            pool = tuple(event.get("pool_id", (0, 0)))
            assert row["pool"] == (None if pool == (0, 0) else f"{pool[0]}, {pool[1]}"), where
            assert asked.stack(row) == frames_of(event.get("frames")), where
            assert asked.stack(row, "forward") == frames_of(event.get("forward_frames")), where
    assert next(rows, None) is None
    blocks = iter(asked.tables["blocks"])
    for number, (segment, row) in enumerate(
        zip(snapshot.get("segments", []), asked.tables["segments"], strict=True)
    ):
        assert (row["segment"], row["device"]) == (number, segment["device"])
        assert row["address"] == hex(segment["address"])
        for key in ("total", "allocated", "active", "requested"):
            assert row[f"{key}_bytes"] == segment[f"{key}_size"]
        assert row["stream"] == segment["stream"]
        assert row["kind"] == segment["segment_type"]
        assert row["expandable"] == segment["is_expandable"]
        assert asked.stack(row) == frames_of(segment["frames"])
        for block in segment["blocks"]:
            shown = next(blocks)
            assert shown["segment"] == number
            assert shown["address"] == hex(block["address"])
            assert shown["size_bytes"] == block["size"]
            free = block["state"] == "inactive"
            assert shown["requested_bytes"] == (0 if free else block["requested_size"])
            assert shown["state"] == STATES[block["state"]]
            assert asked.stack(shown) == frames_of(block["frames"])
    assert next(blocks, None) is None
    noted = [
        (a["name"], a["stage"], a["device"], a["time_us"] * 1000)
        for a in snapshot.get("external_annotations", [])
    ]
    shown_notes = [
        (r["name"], r["stage"], r["device"], exact(r["unix_ns"]))
        for r in asked.tables["annotations"]
    ]
    assert shown_notes == noted


@pytest.mark.parametrize("path", snapshots(), ids=lambda p: p.name)
def test_every_row_of_a_recording(program: Program, path: Path) -> None:
    check(program, path, load(path))


def random_snapshot(seed: int) -> Snapshot:
    """Anything torch may write, with objects shared as torch shares them."""
    pick = random.Random(seed)
    frames = [
        {"name": f"f{i}", "filename": pick.choice(["a.py", "b.cpp", "??", ""]), "line": i}
        for i in range(20)
    ]
    stacks = [pick.sample(frames, pick.randrange(1, 18)) for _ in range(12)]

    def stack() -> list[Any]:
        chosen = pick.choice(stacks)
        return pick.choice([chosen, list(chosen), [], [dict(f) for f in chosen]])

    def event() -> dict[str, Any]:
        made: dict[str, Any] = {
            "action": pick.choice(
                [
                    "alloc",
                    "free_requested",
                    "free_completed",
                    "segment_alloc",
                    "segment_map",
                    "snapshot",
                    "annotate",
                ]
            ),
            "addr": pick.choice([0, 1, 2**31, 2**47 + 512, 2**63 - 1, 2**63, 2**64 - 1]),
            "size": pick.choice([0, 1, 255, 256, 65536, 2**31, 2**40]),
            "stream": pick.choice([0, 7, 2**40]),
        }
        if pick.random() < 0.9:
            made["time_us"] = pick.choice([1794706879221928, 5, 7.0])
        if pick.random() < 0.7:
            made["frames"] = stack()
        if pick.random() < 0.3:
            made["forward_frames"] = pick.choice([["x", "y"], []])
        if pick.random() < 0.3:
            made["user_metadata"] = pick.choice(["", "weights", "ü"])
        if pick.random() < 0.3:
            made["pool_id"] = pick.choice([(0, 0), (0, 5), [1, 0], (2**33, 1)])
        if pick.random() < 0.2:
            made["something_newer"] = pick.choice([[1, [2]], {"a": {}}, None, 2**80, b"raw"])
        members = list(made.items())
        pick.shuffle(members)
        return dict(members)

    oom = {"action": "oom", "device_free": 2**33, "size": 2**40, "stream": 0, "time_us": 9}
    whole: Snapshot = {
        "segments": [
            {
                "device": device,
                "address": 2**40 * (device + 1),
                "total_size": 1000,
                "allocated_size": 1,
                "active_size": 2,
                "requested_size": 3,
                "stream": 0,
                "segment_type": pick.choice(["small", "large"]),
                "segment_pool_id": (0, 0),
                "is_expandable": pick.random() < 0.5,
                "frames": stack(),
                "blocks": [
                    {
                        "address": 2**40 + i,
                        "size": i + 1,
                        "requested_size": i,
                        "state": pick.choice(list(STATES)),
                        "frames": stack(),
                    }
                    for i in range(pick.randrange(4))
                ],
            }
            for device in range(pick.randrange(3))
        ],
        "device_traces": [
            [event() for _ in range(pick.choice([0, 1, 2, 30, 1001]))] + [oom][: pick.randrange(2)]
            for _ in range(pick.randrange(4))
        ],
        "external_annotations": [
            {"name": "n", "stage": pick.choice(["START", "END"]), "device": 0, "time_us": i}
            for i in range(pick.randrange(3))
        ],
        "later": {"what": [1, 2, {"deep": [frames]}]},
    }
    members = list(whole.items())
    pick.shuffle(members)
    return dict(members)


@pytest.mark.parametrize("seed", range(40))
def test_every_row_of_random_snapshots(program: Program, tmp_path: Path, seed: int) -> None:
    snapshot = random_snapshot(seed)
    protocol = seed % 6
    if protocol < 3:  # bytes are made by calling a function there
        text = pickle.dumps(snapshot, 5)
        snapshot = pickle.loads(text.replace(b"C\x03raw", b"\x8c\x03raw"))
    path = tmp_path / "s.pickle"
    path.write_bytes(pickle.dumps(snapshot, protocol))
    check(program, path, snapshot)


def test_a_cut_file_gives_what_it_holds(program: Program, samples: Path, tmp_path: Path) -> None:
    text = gzip.decompress((samples / "snap_oracle.pickle.gz").read_bytes())
    events = load(samples / "snap_oracle.pickle.gz")["device_traces"][0]
    last = 0
    for share in (0.3, 0.5, 0.8, 0.99):
        path = tmp_path / "cut.pickle"
        path.write_bytes(text[: int(len(text) * share)])
        outcome = program.run("info", "--json", path)
        assert outcome.exit_status == 4
        said_of = json.loads(outcome.stdout)["snapshots"][0]
        assert [n["id"] for n in said_of["notes"]] == ["truncated"]
        count = said_of["devices"][0]["events"]
        assert last < count <= len(events)
        last = count
        rows = tables(program, "memory-events", "--top", "0", path)["events"]
        assert [r["size_bytes"] for r in rows] == [e["size"] for e in events[:count]]


def test_nothing_is_ever_executed(program: Program, tmp_path: Path) -> None:
    mark = tmp_path / "was_here"

    class Runs:
        def __reduce__(self) -> tuple[Any, ...]:
            return (os.mkdir, (str(mark),))

    for protocol in range(6):
        path = tmp_path / "bad.pickle"
        path.write_bytes(pickle.dumps({"segments": [Runs()], "device_traces": []}, protocol))
        outcome = program.run("info", path)
        assert outcome.exit_status == 3, outcome
        assert b"nothing was executed" in outcome.stderr
        assert not mark.exists()


def test_a_pickle_comes_through_a_pipe_and_packed(program: Program, samples: Path) -> None:
    packed = (samples / "snap_oracle.pickle.gz").read_bytes()
    for text in (packed, gzip.decompress(packed)):
        outcome = program.run(
            "analyze", "memory-events", "-f", "csv", "--table", "annotations", "-", stdin=text
        )
        assert outcome.exit_status == 0
        assert outcome.stdout.count(b"\n") == 15


TIMELINE_CATEGORIES = (
    "parameter",
    "optimizer state",
    "input",
    "temporary",
    "activation",
    "gradient",
    "autograd detail",
    "unknown",
)


def test_the_peak_of_a_raw_timeline(program: Program, corpus: Path) -> None:
    path = corpus / "hta" / "memory_timeline.raw.gz"
    changes = json.loads(gzip.decompress(path.read_bytes()))
    alive = [0] * len(TIMELINE_CATEGORIES)
    first = min(c[0] for c in changes if c[0] >= 0)
    states: dict[int, list[int]] = {}
    for time, _, change, category in sorted(changes, key=lambda c: c[0]):
        alive[category] += change
        states[first if time < 0 else time] = list(alive)
    peak = max(states.values(), key=sum)
    outcome = program.run("info", "--json", path)
    assert outcome.exit_status == 0
    said_of = json.loads(outcome.stdout)["memory_timelines"][0]
    assert said_of["points"] == len(states)
    assert said_of["peak_bytes"] == {
        "all": sum(peak),
        **dict(zip(TIMELINE_CATEGORIES, peak, strict=True)),
    }


def test_statistics_are_kept_as_they_are(program: Program, samples: Path) -> None:
    path = samples / "snap_oracle.oracle.json"
    outcome = program.run("info", "--json", path)
    stats = json.loads(path.read_text())["memory_stats"]
    assert json.loads(outcome.stdout)["memory_stats"][0]["values"] == stats


def test_a_question_that_needs_a_trace_says_so(program: Program, samples: Path) -> None:
    outcome = program.run("analyze", "kernels", samples / "snap_oracle.pickle.gz")
    assert outcome.exit_status == 0
    said_so = " ".join(outcome.stdout.decode().split())
    assert "'kernels' needs a trace, and this is a memory snapshot; this answers:" in said_so
    assert "memory-events" in said_so
