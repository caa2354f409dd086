"""Checks bench_generate: python3 bench/check_generate.py BENCH_GENERATE TEMPLATE...

One copy must be the template itself; three copies must hold three times its events, with ids that
never meet, links that still pair up within each copy, and times that follow on.
"""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from typing import Any

Event = dict[str, Any]

COPIES = 3
# Each argument that is an id, and the sequence it counts in.
IDS = {
    "External id": "operation",
    "external id": "operation",
    "Ev Idx": "event",
    "Profiler Event Index": "event",
    "correlation": "correlation",
    "wait_on_cuda_event_record_corr_id": "correlation",
    "Sequence number": "sequence",
    "Python id": "python",
    "Python parent id": "python",
    "Record function id": "record function",
    "Seq": "collective",
}
ZERO_IS_NONE = ("operation", "correlation", "record function")


def is_once(event: Event) -> bool:
    """Whether the event is written once, however many copies there are."""
    name = str(event.get("name", ""))
    return (
        event.get("ph") == "M"
        or event.get("cat") == "Trace"
        or name == "Record Window End"
        or name.startswith("Iteration Start:")
    )


def events_of(text: bytes) -> list[Event]:
    """The events of a trace in object or array form."""
    document = json.loads(text)
    events: list[Event] = document["traceEvents"] if isinstance(document, dict) else document
    return events


def ids_of(events: list[Event]) -> dict[str, Counter[Any]]:
    """How often each id occurs, by the sequence it counts in."""
    ids: dict[str, Counter[Any]] = defaultdict(Counter)
    for event in events:
        for key, kind in IDS.items():
            value = event.get("args", {}).get(key, -1)
            if isinstance(value, int) and value >= (1 if kind in ZERO_IS_NONE else 0):
                ids[kind][value] += 1
        if event.get("ph") in ("s", "t", "f"):
            ids[event["ph"] + event["cat"]][event["id"]] += 1
        if str(event.get("name")).startswith("ProfilerStep#"):
            ids["step"][event["name"]] += 1
    return ids


def shape_of(events: list[Event]) -> list[list[Any]]:
    """What must not change from copy to copy: the order in which ids appear, renumbered."""
    seen: dict[str, dict[Any, int]] = defaultdict(dict)
    shape = []
    for event in events:
        row = [event.get("ph"), event.get("cat"), event.get("dur"), event.get("tid")]
        for key, value in event.get("args", {}).items():
            if key in IDS:
                numbers = seen[IDS[key]]
                row.append(numbers.setdefault(value, len(numbers)))
            elif key != "external ts":
                row.append(str(value))
        if "id" in event:
            launch = event["cat"] == "ac2g" or event["cat"].startswith("async_")
            flows = seen["correlation" if launch else event["cat"]]
            row.append(flows.setdefault(event["id"], len(flows)))
        shape.append(row)
    return shape


def check(program: str, template: pathlib.Path, folder: pathlib.Path) -> str:
    """Says what was found right; raises AssertionError when something is not."""
    original = template.read_bytes()
    if original[:2] == b"\x1f\x8b":
        original = gzip.decompress(original)
    out = folder / "out.json"

    def make(copies: int) -> bytes:
        command = [program, str(template), str(out), "--copies", str(copies)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        return out.read_bytes()

    assert make(1) == original, "one copy is not the template"
    before, after = events_of(original), events_of(make(COPIES))
    repeated = [event for event in before if not is_once(event)]
    assert sum(map(is_once, after)) == sum(map(is_once, before))
    body = [event for event in after if not is_once(event)]
    size = len(repeated)
    assert len(body) == COPIES * size
    copies = [body[i * size : (i + 1) * size] for i in range(COPIES)]

    ids = [ids_of(copy) for copy in copies]
    for key, counts in ids[0].items():
        for i in range(1, COPIES):
            met = counts.keys() & ids[i][key].keys()
            assert not met, f"{key}: in two copies: {sorted(met)[:3]}"
            assert sorted(counts.values()) == sorted(ids[i][key].values()), key
    first = shape_of(copies[0])
    assert all(shape_of(copy) == first for copy in copies[1:]), "links changed"

    spans = [
        (
            min(float(e["ts"]) for e in copy),
            max(float(e["ts"]) + float(e.get("dur", 0)) for e in copy),
        )
        for copy in copies
    ]
    assert all(spans[i][1] <= spans[i + 1][0] for i in range(COPIES - 1)), spans
    return f"{size} events, ids: {', '.join(sorted(ids[0]))}"


def main() -> int:
    """Checks each template and prints a line for it."""
    failed = 0
    program, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                found = check(program, pathlib.Path(name), pathlib.Path(folder))
                print(f"ok      {name}: {found}")
            except (AssertionError, subprocess.CalledProcessError, ValueError) as error:
                failed += 1
                print(f"FAILED  {name}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
