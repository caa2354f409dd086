"""Measures how the page behaves on large traces, and writes docs/bench/page.md.

    bench/page.py [--seconds 20] [--sizes 100M 2G]

A trace is multiplied to each size and served; Chromium (1920 × 1080, no GPU) opens the page twice,
then zooms and drags through the timeline as a person would (bench/page_frames.mjs).
"""

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from inputs import Input, Inputs
from measure import ROOT, commit, go_first, machine

PAGE = ROOT / "docs" / "bench" / "page.md"
TEMPLATE = "gpt_bf16"

INTRODUCTION = """# The page: opening, zooming, dragging

Written by `bench/page.py`; do not edit. A real trace multiplied to the size below, loaded and
served by `stepscope serve`; Chromium without a GPU, 1920 × 1080. The first visit fetches the page
and has the analyses computed, a later one finds both kept. Then {seconds} s of wheel, keys and
dragging through the timeline. *Between frames* is what a person sees: wall-clock time from one
frame to the next, at best 16.7 ms; a frame is late beyond 20. Browser and server go before other
programs where the system allows it, so that this is the page and not other programs; the
last rows say whether it did, and how many programs wanted the cores meanwhile. *Painting* is 400 of
these frames painted again three times: processor time of the page's main thread per painting, and
the quickest of three by the clock.

"""

ROWS: list[tuple[str, tuple[str, ...], str]] = [
    ("first paint, first visit", ("first_visit", "first_paint_ms"), "ms"),
    ("findings, first visit", ("first_visit", "findings_ms"), "ms"),
    ("first paint, later visit", ("later_visit", "first_paint_ms"), "ms"),
    ("findings, later visit", ("later_visit", "findings_ms"), "ms"),
    ("frames while moving", ("frames",), ""),
    ("between frames, median", ("between_median_ms",), "ms"),
    ("between frames, 95th percentile", ("between_p95_ms",), "ms"),
    ("between frames, 99th percentile", ("between_p99_ms",), "ms"),
    ("painting, processor time, median", ("processor_median_ms",), "ms"),
    ("painting, processor time, 95th percentile", ("processor_p95_ms",), "ms"),
    ("painting, quickest of three, median", ("alone_median_ms",), "ms"),
    ("painting, quickest of three, 95th percentile", ("alone_p95_ms",), "ms"),
]


def wait_until_ready(url: str) -> None:
    """Returns when the run is loaded."""
    address, _, token = url.partition("?token=")
    request = urllib.request.Request(
        f"{address}api/run", headers={"Authorization": f"Bearer {token}"}
    )
    while True:
        with urllib.request.urlopen(request) as answer:
            state = json.load(answer)["state"]
        if state == "ready":
            return
        if state == "failed":
            raise RuntimeError("the server could not load the trace")
        time.sleep(0.2)


def measured(trace: Input, program: Path, seconds: int) -> dict[str, Any]:
    """What the driver of the browser says about one trace."""
    command = [program, "serve", "--no-open", "--port", "0", trace.path]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        try:
            first = go_first(server.pid)
            assert server.stdout
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found
            url = found[0]
            wait_until_ready(url)
            driver = ["tools/web", "node", "../bench/page_frames.mjs", url, str(seconds)]
            done = subprocess.run(driver, cwd=ROOT, check=True, capture_output=True, text=True)
            result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            return {
                **result,
                "first_in_line": first and result["first_in_line"],
                "load": os.getloadavg()[0],
            }
        finally:
            server.terminate()


def value(result: dict[str, Any], path: tuple[str, ...]) -> Any:
    """One number of a result."""
    for name in path:
        result = result[name]
    return result


def main() -> int:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=20, help="of moving (default 20)")
    parser.add_argument("--sizes", nargs="+", default=["100M", "2G"], help="of the traces")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    options = parser.parse_args()
    inputs = Inputs(options.build / "bench" / "bench_generate")
    results = []
    traces = [inputs.trace(TEMPLATE, size) for size in options.sizes]
    for trace in traces:
        results.append(measured(trace, options.build / "stepscope", options.seconds))
        print(json.dumps({"trace": trace.name, **results[-1]}), flush=True)
    heads = [f"{t.text_bytes / 1e6:,.0f} MB, {t.events:,} events" for t in traces]
    lines = [f"| | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(traces)]
    for name, path, unit in ROWS:
        cells = [f"{value(result, path):,} {unit}".strip() for result in results]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    late = [f"{100 * result['late_share']:.1f} %" for result in results]
    lines.append(f"| late frames | {' | '.join(late)} |")
    first = ["yes" if result["first_in_line"] else "no" for result in results]
    lines.append(f"| browser and server went first | {' | '.join(first)} |")
    loads = [f"{result['load']:.0f}" for result in results]
    lines.append(f"| programs that wanted the machine's cores | {' | '.join(loads)} |")
    today = datetime.datetime.now(datetime.UTC).date()
    end = f"\n\n`bench/page.py`, {today}, commit {commit()}, {machine()}.\n"
    PAGE.write_text(INTRODUCTION.format(seconds=options.seconds) + "\n".join(lines) + end)
    return 0


if __name__ == "__main__":
    sys.exit(main())
