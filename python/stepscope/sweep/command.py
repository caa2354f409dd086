"""The command `stepscope sweep`: what is asked, and how the answer is shown.

The program `stepscope` has read the words of the command line, and gives them as JSON.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from stepscope import _core
from stepscope.errors import Error, UsageError
from stepscope.sweep.answer import Answer, make_answer
from stepscope.sweep.finished import sweep_runs
from stepscope.sweep.runner import Runner
from stepscope.sweep.schedule import Plan, Schedule, Swept, counted
from stepscope.sweep.settings import NAMES, SWITCHES

_DONE, _USAGE, _NOT_READABLE = 0, 2, 3
_MOST_VALUES, _MOST_WORKERS, _MOST = 64, 1024, 10**9
_LONGEST_S = 7 * 24 * 3600
_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_ON, _OFF = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


class Request:
    """What the program read from the command line."""

    def __init__(self, text: str) -> None:
        given = json.loads(text)
        self.words: list[str] = given["words"]
        self.options: dict[str, list[str]] = given["options"]  # the text, and where it is from
        self.python: str = given["python"]
        self.cpus: int = given["cpus"]
        self.jobs: int = given["jobs"]
        self.max_memory: int = given["max_memory"]
        self.width: int = given["width"]
        self.colour: bool = given["colour"]
        self.progress: bool = given["progress"]
        self.quiet: bool = given["quiet"]

    def __contains__(self, option: str) -> bool:
        return option in self.options

    def text(self, option: str) -> str:
        """The value; empty where the option was not given."""
        return self.options.get(option, [""])[0]

    def choices(self) -> dict[str, list[int]]:
        """The values to try of each setting that was given."""
        out = {}
        for name in NAMES:
            option = name.replace("_", "-")
            if option in self:
                text, origin = self.options[option]
                out[name] = list(dict.fromkeys(values_of(name, text, origin)))
        return out

    def budget_s(self) -> float:
        """Two minutes where nothing else was given."""
        text, origin = self.options.get("budget", ["2m", "--budget"])
        found = re.fullmatch(r"(\d+\.?\d*|\.\d+)([a-z]*)", text)
        seconds = float(found[1]) * _UNITS.get(found[2], 0) if found else 0
        if not 0 < seconds <= _LONGEST_S:
            raise UsageError(f"{origin}: '{text}' is not a length of time such as 90s, 2m or 1h")
        return seconds

    def target(self) -> str:
        """The function to call."""
        if len(self.words) < 2:
            raise UsageError("no target given: module:function, or path/to/file.py:function")
        if len(self.words) > 2:
            raise UsageError(f"'{self.words[2]}': one target at a time")
        module, _, function = self.words[1].rpartition(":")
        if not module or not function:
            raise UsageError(
                f"'{self.words[1]}' is not module:function or path/to/file.py:function"
            )
        return self.words[1]


def values_of(name: str, text: str, origin: str) -> list[int]:
    """The values of a list such as `0,2,4-8` or `true,false`."""
    if name in SWITCHES:
        words = text.lower().split(",")
        if len(words) > _MOST_VALUES or not all(word in (*_ON, *_OFF) for word in words):
            raise UsageError(f"{origin}: '{text}' is not a list such as true,false")
        return [int(word in _ON) for word in words]
    is_workers = name == "num_workers"
    least, most = (0, _MOST_WORKERS) if is_workers else (1, _MOST)
    values: list[int] = []
    for word in text.split(","):
        found = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", word)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not least <= first <= last <= most or last - first >= _MOST_VALUES - len(values):
            raise UsageError(
                f"{origin}: '{text}' is not a list of numbers from {least} on, such as "
                f"{'0,2,4,8' if is_workers else '2,4'}"
            )
        values += range(first, last + 1)
    return values


def main(text: str) -> int:
    """Of the process; the exit status."""
    request = Request(text)
    console = Console(request)
    try:
        return _sweep(request, console)
    except UsageError as error:
        first, *more = str(error).splitlines()
        console.error(first)
        for line in more:
            console.note(line)
        if not more:
            console.write_err("  hint: `stepscope sweep --help` shows examples")
        return _USAGE
    except (Error, OSError) as error:
        console.error(str(error))
        return _NOT_READABLE


def _sweep(request: Request, console: Console) -> int:
    if request.words[:1] != ["dataloader"]:
        raise UsageError(
            f"'{request.words[0]}': only dataloader can be swept"
            if request.words
            else "say what to sweep: dataloader"
        )
    choices, budget = request.choices(), request.budget_s()
    if "from" in request:
        runs = request.words[1:]
        if not runs:
            raise UsageError("--from needs runs: folders that stepscope recorded")
        swept = sweep_runs(runs, request.jobs, request.max_memory)
        _show(request, console, swept)
        if any(one.is_measured for one in swept.tried):
            return _DONE
        console.error(
            "nothing could be measured: none of these runs has steps and a loader that was watched"
        )
        return _NOT_READABLE
    plan = Plan(request.target(), choices, budget, request.cpus, os.environ.get("SLURM_JOB_ID", ""))
    folder = Path(tempfile.mkdtemp(prefix="stepscope-sweep-"))
    try:
        runner = Runner(request.python, plan.target, folder / "printed", request.max_memory)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda caught, _: runner.stop(caught))
        swept = Schedule(plan, runner, show=console.show_progress).run()
    finally:
        console.erase_progress()
        shutil.rmtree(folder, ignore_errors=True)
    stopped = 128 + runner.stopped_by if runner.stopped_by else None
    if swept.failure and stopped is None:
        console.error(swept.failure)
        for line in swept.last_lines:
            console.note("printed: " + line)
    if swept.tried:
        _show(request, console, swept)
    if stopped is not None:
        return stopped
    return _NOT_READABLE if swept.failure or not swept.tried else _DONE


def _show(request: Request, console: Console, swept: Swept) -> None:
    """In all forms that were asked for."""
    answer = make_answer(swept.tried, swept.scene)
    page = _core.SweepPage(
        answer.sentence, _facts(answer, swept), answer.remarks, answer.settings, answer.best
    )
    if "csv" in request:
        folder = Path(request.text("csv"))
        folder.mkdir(parents=True, exist_ok=True)
        for table in page.tables():
            path = folder / f"loader-sweep.{table.name}.csv"
            path.write_text(table.csv(), encoding="utf-8", newline="")
        console.note(f"wrote {counted(len(page.tables()), 'file')} to {folder}")
    html = request.text("html")
    is_file = bool(html) and html != "-"
    if is_file:
        data = page.html().encode()
        Path(html).write_bytes(data)
        console.note(f"wrote {html} ({_core.bytes_text(len(data))}): open it in a browser")
    # Minutes were spent on the answer: files do not keep it from the terminal.
    if html == "-":
        out = page.html()
    elif "json" in request:
        out = _json(answer, page)
    elif "md" in request:
        out = page.md(is_file)
    else:
        out = page.text(request.width, request.colour, is_file)
    _write(out)


def _facts(answer: Answer, swept: Swept) -> list[tuple[str, str, bool]]:
    """The first lines of the page: name, text, and whether that is code."""
    facts = []
    if answer.is_sure:
        best = answer.best[0]
        facts.append(("Paste", f"DataLoader(..., {best['keywords']})", True))
        if (sure := best["confidence"]) is not None:
            share = "more than 99 %" if sure > 0.99 else f"{100 * sure:.0f} %"
            text = f"{share} that no other setting tried is faster by more than 2 %"
            facts.append(("Confidence", text, False))
    return facts + [(name, text, False) for name, text in swept.facts]


def _json(answer: Answer, page: _core.SweepPage) -> str:
    rows = {"settings": answer.settings, "best": answer.best}
    tables = {
        table.name: [{c[0]: row.get(c[0]) for c in table.columns()} for row in rows[table.name]]
        for table in page.tables()
    }
    whole: dict[str, Any] = {"schema": "stepscope.sweep/1", "sentence": answer.sentence}
    whole |= {"remarks": answer.remarks, "tables": tables}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _write(text: str) -> None:
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # as of `head`: no failure
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError as error:
        raise OSError(f"standard output: {error.strerror}") from None


class Console:
    """Standard error."""

    def __init__(self, request: Request) -> None:
        self._quiet = request.quiet
        self._draws = request.progress and sys.stderr.isatty()
        self._is_drawn = False

    def write_err(self, line: str) -> None:
        """A line."""
        self.erase_progress()
        print(line, file=sys.stderr, flush=True)

    def error(self, text: str) -> None:
        """What is wrong."""
        self.write_err(f"stepscope: {text}")

    def note(self, text: str) -> None:
        """What is good to know."""
        if not self._quiet:
            self.error(text)

    def show_progress(self, text: str) -> None:
        """In the last line of the terminal."""
        if self._draws:
            self._is_drawn = True
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()

    def erase_progress(self) -> None:
        """That line."""
        if self._is_drawn:
            self._is_drawn = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
