"""A whole file: its header, its events with all links, and what was odd."""

from collections import Counter
from dataclasses import dataclass, field

from oracle import links, pairs, times, tree, values
from oracle.events import Event, Track, read_entry, text_of
from oracle.header import header_of, is_label, steps, tracks_rows
from oracle.rows import Row, Value, printable, row_of
from oracle.text import Json, NotJsonError, decompress, parse


@dataclass
class Trace:
    """One recorded window."""

    header: dict[str, Json]
    entries: list[Json]
    tracks: list[Track]  # in the order in which the file first names them
    events: list[Event]  # in row order
    flows: list[Event]  # in file order
    span: tuple[int, int]
    notes: Counter[str] = field(default_factory=Counter)

    def lines(self, rank: int = 0, window: int = 0) -> list[Value]:
        """What export prints: the header, then a row per event in the order of the file."""
        tracks = self.tracks
        header: Row = header_of(self.header) | {
            "steps": steps(self.events, tracks, self.span, self.header),
            "tracks": tracks_rows(tracks, self.events, self.entries),
            "entries": len(self.entries),
            "span": list(self.span),
        }
        first: Row = {"rank": rank, "window": window, "header": header}
        in_file_order = sorted(self.events + self.flows, key=lambda e: e.ordinal)
        rows = [row_of(event, rank, window) for event in in_file_order]
        return [printable(row) for row in [first, *rows]]

    def rank(self) -> int | None:
        """The rank the file says it is of."""
        info = self.header.get("distributedInfo")
        return values.integer(info.get("rank")) if isinstance(info, dict) else None

    def categories(self) -> Counter[str]:
        """Events that made a row, by category as spelled in the file."""
        return Counter(e.category for e in self.events)


def read_trace(data: bytes) -> Trace:
    """Reads the bytes of a file.

    Raises:
        NotJsonError: Python's json does not take it, or it is not a trace.
    """
    parsed = parse(decompress(data))
    header = parsed if isinstance(parsed, dict) else {}
    entries = header.get("traceEvents") if isinstance(parsed, dict) else parsed
    if not isinstance(entries, list):
        raise NotJsonError("there is no list of events")
    notes = Counter[str]()
    made = [read_entry(i, entry, notes) for i, entry in enumerate(entries)]
    events = [e for e in made if e is not None and e.shape != "flow"]
    flows = [e for e in made if e is not None and e.shape == "flow"]
    events, halves = pairs.join(events, notes)
    span = times.span_of(events, halves, notes)
    tracks = tracks_of(entries, {e.ordinal for e in made if e is not None})
    rows = times.row_order(tracks, events)
    tree.set_parents(rows, notes)
    links.set_launches(rows, notes)
    links.set_ops(rows)
    links.set_forward(rows, flows)
    header = {key: value for key, value in header.items() if key != "traceEvents"}
    return Trace(header, entries, tracks, rows, flows, span, +notes)


def tracks_of(entries: list[Json], events: set[int]) -> list[Track]:
    """The tracks that events, arrows and labels name, in the order of the file."""
    named = [
        (text_of(entry.get("pid")), text_of(entry.get("tid")))
        for ordinal, entry in enumerate(entries)
        if isinstance(entry, dict) and (ordinal in events or is_label(entry))
    ]
    return list(dict.fromkeys(named))
