"""What a watched loader recorded, put together by looking at everything for everything."""

from dataclasses import dataclass, field
from pathlib import Path

from oracle.scope import Range, Recording, Sign, read_recording

BEGIN, WAIT, LOAD = "begin loading#", "wait for data#", "load batch#"


@dataclass
class Load:
    """A batch that was made; times on the wall clock."""

    loader: str
    start: int
    end: int
    pid: int
    worker: int | None  # None: the training process itself
    iteration: int
    values: dict[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> int | None:
        return self.values.get(name)

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def fetch_ns(self) -> int:
        parts = (self["transform_ns"] or 0) + (self["collate_ns"] or 0)
        return max(0, self.length - parts)


@dataclass
class Wait:
    """A wait of the loop."""

    rank: int
    loader: str
    phase: str
    start: int
    end: int
    next_start: int | None = None  # when the loop asked again, or the pass ended
    gave: bool = False  # a batch, and not the end
    first: bool = False  # of its pass
    before: int = 0  # making the iterator took, where it is the first
    values: dict[str, int] = field(default_factory=dict)
    load: Load | None = None  # the batch it was for

    def __getitem__(self, name: str) -> int | None:
        return self.values.get(name)

    @property
    def length(self) -> int:
        return self.before + self.end - self.start


def split(title: str) -> tuple[str, str | None]:
    """The loader's name, and its phase where it was given."""
    if title.endswith(")") and " (" in title:
        return title, title[title.rindex(" (") + 2 : -1]
    return title, None


VALIDATION = {"validation", "validate", "val", "eval", "evaluate", "evaluation"}
SAVE = "save_checkpoint"


def phase_of(one: Range) -> str:
    """As given, or by the ranges around it."""
    _, given = split(one.name[len(WAIT) :])
    if given is not None:
        return given
    around = one.parent
    while around is not None:
        if around.name.lower() in VALIDATION:
            return "validation"
        if around.name.lower() in ("test", "testing"):
            return "test"
        around = around.parent
    return "training"


def _signs(recording: Recording, place: tuple[str, int], loader: str) -> list[tuple[str, Sign]]:
    """Of one loader on one thread: what they are about, in order."""
    return [
        (one.name[len("loader ") : -len(loader) - 1], one)
        for one in recording.signs
        if one.place == place
        and one.name.startswith("loader ")
        and one.name.endswith("#" + loader)
        and one.name.index("#") == len(one.name) - len(loader) - 1
    ]


def loads_of(recording: Recording) -> list[Load]:
    """All batches that a process made."""
    loads = []
    zero = recording.start_ns
    ranges = [r for r in recording.ranges if r.name.startswith(LOAD) and r.end is not None]
    for one in ranges:
        loader = one.name[len(LOAD) :]
        signs = _signs(recording, one.place, loader)
        assert one.end is not None
        before = [s for s in signs if s[1].time <= one.start]
        following = min(
            (r.start for r in ranges if r.place == one.place and r.start > one.start),
            default=1 << 62,
        )
        # Without workers, what comes once the loop has its batch is about the wait.
        if one.parent is not None and one.parent.end is not None:
            following = min(following, one.parent.end)
        after = {w: s.value for w, s in signs if one.end <= s.time < following and w in MAKING}
        if "batch" not in after:
            continue  # it failed, or it was the end
        iteration = [s.value for w, s in before if w == "iteration"]
        worker = [s.value for w, s in before if w == "worker"] if one.parent is None else []
        loads.append(
            Load(
                loader,
                one.start + zero,
                one.end + zero,
                int(recording.about["pid"]),
                int(worker[0] or 0) if worker else None,
                int(iteration[-1] or 0) if iteration else 0,
                {w: int(v) for w, v in after.items() if v is not None},
            )
        )
    return loads


def waits_of(recording: Recording) -> list[Wait]:
    """All waits of a training process."""
    waits = []
    zero = recording.start_ns
    ranges = [r for r in recording.ranges if r.name.startswith(WAIT) and r.end is not None]
    for one in ranges:
        loader = one.name[len(WAIT) :]
        signs = _signs(recording, one.place, loader)
        assert one.end is not None
        same = [r.start for r in ranges if (r.place, r.name) == (one.place, one.name)]
        begun = [
            r
            for r in recording.ranges
            if (r.place, r.name) == (one.place, BEGIN + loader) and r.end is not None
        ]
        asked = [*same, *(r.start for r in begun)]
        following = min((start for start in asked if start > one.start), default=1 << 62)
        ended = min((s.time for w, s in signs if w == "ends" and s.time >= one.end), default=None)
        after = {
            w: int(s.value)
            for w, s in signs
            if one.end <= s.time < following and s.value is not None and w in MAIN
        }
        # It turned to validation, and came back for more of the same pass.
        went_on = following in same and not any(
            w == "starts" and one.end <= s.time <= following for w, s in signs
        )
        if went_on:
            ended = None
        until = min((t for t in (following, ended) if t is not None), default=1 << 62)
        wait = Wait(
            int(recording.about["rank"]),
            loader,
            phase_of(one),
            one.start + zero,
            one.end + zero,
            until + zero if until < 1 << 62 else None,
            values=after,
        )
        wait.gave = "batch" in after
        began = max((s.time for w, s in signs if w == "starts" and s.time <= one.start), default=0)
        wait.first = not any(began <= start < one.start for start in same)
        if wait.first:
            for r in begun:
                if r.end is not None and max((s for s in same if s < one.start), default=0) < r.end:
                    wait.before = r.end - r.start if r.start < one.start else wait.before
        iteration = [s.value for w, s in signs if w == "iteration" and s.time <= one.start]
        pids: list[int] = []
        for w, s in signs:
            if s.time > one.start:
                break
            if w == "starts":
                pids = []
            if w == "pid":
                pids.append(int(s.value or 0))
        wait.values["iteration"] = int(iteration[-1] or 0) if iteration else 0
        if "worker" in after and after["worker"] < len(pids):
            wait.values["pid"] = pids[after["worker"]]
        waits.append(wait)
    return waits


def aside_of(recording: Recording) -> list[tuple[int, int]]:
    """Stretches of the main thread that are declared to be no training; on the wall clock."""
    pieces = []
    for one in recording.ranges:
        if one.end is None:
            continue
        if one.name.lower() in (*VALIDATION, "test", "testing", SAVE):
            pieces.append((one.start, one.end))
        what, _, loader = one.name.partition("#")
        if f"{what}#" not in (BEGIN, WAIT) or split(loader)[1] in (None, "training"):
            continue
        asked = [r.start for r in recording.ranges if r.name in (BEGIN + loader, WAIT + loader)]
        ends = [s.time for s in recording.signs if s.name == f"loader ends#{loader}"]
        later = [time for time in (*asked, *ends) if time > one.start]
        pieces.append((one.start, max(one.end, min(later, default=one.end))))
    marks = [end for _, _, end in recording.steps]
    zero = recording.start_ns
    return [
        (start + zero, end + zero)
        for start, end in pieces
        if not any(start < mark < end for mark in marks)
    ]


def time_within(pieces: list[tuple[int, int]], start: int, end: int) -> int:
    """How much of the stretch they cover together."""
    covered, at = 0, start
    for first, last in sorted(pieces):
        first, last = max(first, at), min(last, end)
        if last > first:
            covered += last - first
            at = last
    return covered


MAIN = {"ready", "worker", "batch", "samples"}
MAKING = {
    "batch",
    "samples",
    "transform_ns",
    "collate_ns",
    "cpu_ns",
    "starved_ns",
    "read_bytes",
    "storage_bytes",
    "files",
}


@dataclass
class Loading:
    """A whole run."""

    files: dict[Path, Recording]
    waits: list[Wait]
    loads: dict[int, list[Load]]  # by rank


def read_loading(folder: Path) -> Loading:
    """Waits with the batches they were for."""
    files = {path: read_recording(path) for path in sorted(folder.rglob("*.scope"))}
    waits: list[Wait] = []
    loads: dict[int, list[Load]] = {}
    for recording in files.values():
        loads.setdefault(int(recording.about["rank"]), []).extend(loads_of(recording))
    for path, recording in files.items():
        if path.name.startswith("worker-"):
            continue
        for wait in waits_of(recording):
            waits.append(wait)
            for load in loads.get(wait.rank, []):
                if load.loader != wait.loader:
                    continue
                if load.worker is None:
                    if wait.start <= load.start and load.end <= wait.end:
                        wait.load = load
                elif (load.pid, load.iteration, load["batch"]) == (
                    wait["pid"],
                    wait["iteration"],
                    wait["batch"],
                ):
                    wait.load = load
    return Loading(files, waits, loads)
