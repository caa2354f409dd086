"""Every way of recording that needs a GPU, once each, in under two minutes.

    python tests/recording/gpu_check.py [FOLDER]

A plain program with asserts, for machines with a GPU: with torch, the package on PYTHONPATH and
nothing else. Prints a line per check; ends with status 1 when one fails.
"""

import gzip
import json
import pickle
import statistics
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import stepscope as ss

Check = Callable[[Path], str]
CHECKS: list[Check] = []


def check(function: Check) -> Check:
    """Runs in the order of the file."""
    CHECKS.append(function)
    return function


def made_model(width: int = 1024) -> tuple[Any, Any]:
    """A small network that launches some dozens of kernels a step."""
    layers = [torch.nn.Linear(width, width), torch.nn.GELU()] * 4
    model = torch.nn.Sequential(*layers).cuda()
    return model, torch.optim.AdamW(model.parameters())


def one_step(model: Any, optimizer: Any, batch: int = 256) -> None:
    """Forward, backward, optimizer, with ranges."""
    data = torch.randn(batch, model[0].in_features, device="cuda")
    with ss.range("forward"):
        loss = model(data).square().mean()
    with ss.range("backward"):
        loss.backward()
    with ss.range("optimizer"):
        optimizer.step()
        optimizer.zero_grad()


def rank_of(run: Path) -> Path:
    """Where the only rank wrote."""
    return run / "attempt-0" / "rank00000"


def facts_of(run: Path) -> dict[str, Any]:
    """rank.json."""
    facts: dict[str, Any] = json.loads((rank_of(run) / "rank.json").read_text())
    return facts


def window_of(run: Path, kind: str) -> dict[str, Any]:
    """The only window of that kind."""
    found: list[dict[str, Any]] = [w for w in facts_of(run)["windows"] if w["kind"] == kind]
    assert len(found) == 1, found
    return found[0]


@check
def trace_window(folder: Path) -> str:
    """The chosen steps, with kernels and our ranges in them."""
    run = folder / "trace"
    model, optimizer = made_model()
    plan = ss.schedule(wait=2, warmup=1, active=3)
    with ss.profile(run, schedule=plan, trace=["shapes"], snapshot=False) as prof:
        for _ in range(8):
            one_step(model, optimizer)
            prof.step()
    window = window_of(run, "trace")
    assert (window["first_step"], window["steps"], window["closed"]) == (3, 3, "complete"), window
    with gzip.open(rank_of(run) / window["files"][0]) as file:
        events = json.load(file)["traceEvents"]
    kernels = sum(event.get("cat") == "kernel" for event in events)
    steps = {e["name"] for e in events if str(e.get("name", "")).startswith("ProfilerStep#")}
    names = {event.get("name") for event in events}
    assert kernels > 50, kernels
    assert {"ProfilerStep#3", "ProfilerStep#4", "ProfilerStep#5"} <= steps, steps
    assert {"forward", "backward", "optimizer"} <= names
    return f"{kernels} kernels in steps 3 to 5; cost {window['cost_ns']}"


@check
def memory_window(folder: Path) -> str:
    """A history with Python stacks, and every parameter's address in it."""
    run = folder / "memory"
    model, optimizer = made_model()
    plan = ss.schedule(wait=1, warmup=0, active=3)
    options = ss.snapshot(plan, models=[model], optimizers=[optimizer])
    with ss.profile(run, trace=False, snapshot=options) as prof:
        for _ in range(6):
            one_step(model, optimizer)
            prof.step()
    window = window_of(run, "snapshot")
    assert (window["first_step"], window["steps"], window["whole"]) == (1, 3, True), window
    snapshot = pickle.loads((rank_of(run) / "memory-0.pickle").read_bytes())
    events = [event for device in snapshot["device_traces"] for event in device]
    stacks = [event for event in events if event["action"] == "alloc" and event.get("frames")]
    files = {frame["filename"] for event in stacks for frame in event["frames"]}
    assert any(name.endswith("gpu_check.py") for name in files), sorted(files)[:10]
    assert not any(name.endswith((".cpp", ".h")) for name in files), "C++ stacks are slow"
    blocks = {
        block["address"]
        for segment in snapshot["segments"]
        for block in segment["blocks"]
        if block["state"] == "active_allocated"
    }
    places = json.loads((rank_of(run) / "memory-0-addresses.json").read_text())
    assert places["found_by"] == "given"
    assert len(places["parameters"]) == len(list(model.parameters()))
    for key in ("parameters", "optimizer_state"):
        missing = [address for address, _ in places[key] if address not in blocks]
        assert places[key], key
        assert not missing, (key, missing)
    assert places["gradients"] == []  # zero_grad gave them back
    assert not getattr(torch._C, "_cuda_isHistoryEnabled", lambda: False)()
    return f"{len(events)} events, {len(places['optimizer_state'])} states; {window['cost_ns']}"


@check
def engine_knows_the_categories(folder: Path) -> str:
    """What the program says of the snapshot is what was written down."""
    file = rank_of(folder / "memory") / "memory-0.pickle"
    places = json.loads((file.parent / "memory-0-addresses.json").read_text())
    run = ss.open_memory(file)
    rows = run.memory_allocations(alive_at="end", top=0)["allocations"].rows()
    by_address = {row["address"]: row for row in rows}
    for key, category in {"parameters": "parameters", "optimizer_state": "optimizer state"}.items():
        for address, _ in places[key]:
            row = by_address[address]
            assert row["category"] == category, row
            assert "wrote down" in row["why"], row
    return f"{len(by_address)} allocations"


@check
def addresses_are_found_without_being_given(folder: Path) -> str:
    """By looking through the process."""
    from stepscope.recording.addresses import contents

    model, optimizer = made_model(64)
    one_step(model, optimizer)
    begin = time.perf_counter()
    found = contents()
    took = time.perf_counter() - begin
    addresses = {address for address, _ in found["parameters"]}
    assert {p.untyped_storage().data_ptr() for p in model.parameters()} <= addresses
    states = {address for address, _ in found["optimizer_state"]}
    exp_avg = optimizer.state[model[0].weight]["exp_avg"]
    assert exp_avg.untyped_storage().data_ptr() in states
    return f"{len(addresses)} parameters in {took * 1e3:.0f} ms"


@check
def history_too_short_is_said(folder: Path) -> str:
    """Twenty entries do not hold three steps."""
    run = folder / "short"
    model, optimizer = made_model(64)
    plan = ss.schedule(wait=0, warmup=0, active=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ss.profile(run, trace=False, snapshot=ss.snapshot(plan, max_entries=20)) as prof:
            for _ in range(4):
                one_step(model, optimizer)
                prof.step()
    assert window_of(run, "snapshot")["whole"] is False
    said = [str(w.message) for w in caught if "too short" in str(w.message)]
    assert len(said) == 1, [str(w.message) for w in caught]
    return said[0]


@check
def modules_instead_of_stacks(folder: Path) -> str:
    """What each pass asked for is known by it, and what a module did by the module."""
    if not hasattr(torch.cuda.memory, "_set_memory_metadata"):
        return f"torch {torch.__version__} keeps no such texts"
    run = folder / "modules"
    model = torch.nn.Sequential(made_model()[0], made_model()[0])
    optimizer = torch.optim.AdamW(model.parameters())
    options = ss.snapshot(ss.schedule(wait=0, warmup=0, active=3), stacks="modules")
    with ss.profile(run, trace=False, snapshot=options) as prof:
        for _ in range(4):
            loss = model(torch.randn(256, 1024, device="cuda")).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            prof.step()
    assert window_of(run, "snapshot")["stacks"] == "modules"
    answer = ss.open_memory(rank_of(run) / "memory-0.pickle")
    rows = answer.memory_allocations(top=0)["allocations"].rows()
    by_category: dict[str, set[str]] = {}
    for row in rows:
        by_category.setdefault(row["category"], set()).add(row["where"])
    assert by_category["activations"] >= {"Sequential / 0 (Sequential)"}, by_category
    assert by_category["gradients"] == {"(no stack)"}, by_category  # of the engine's thread
    assert not model._forward_hooks, model._forward_hooks
    return "; ".join(f"{name}: {sorted(texts)}" for name, texts in by_category.items())


@check
def out_of_memory_gives_a_snapshot(folder: Path) -> str:
    """Also when the program catches the error, and with the history of the window."""
    run = folder / "oom"
    model, optimizer = made_model(64)
    kept = torch.ones(64 << 20, device="cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = ss.schedule(wait=0, warmup=0, active=10)
        with ss.profile(run, trace=False, snapshot=plan) as prof:
            one_step(model, optimizer)
            prof.step()
            try:
                torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
            except torch.cuda.OutOfMemoryError:
                pass
            else:
                raise AssertionError("a petabyte was given")
    (window,) = [w for w in facts_of(run)["windows"] if w["closed"] == "out of memory"]
    assert window["asked_bytes"] >= 1 << 50, window
    snapshot = pickle.loads((rank_of(run) / "memory-oom-0.pickle").read_bytes())
    actions = {event["action"] for device in snapshot["device_traces"] for event in device}
    assert "alloc" in actions, actions
    answer = ss.open_memory(rank_of(run) / "memory-oom-0.pickle").memory_oom()
    assert kept.numel() > 0
    return f"step {window['first_step']}; actions {sorted(actions)}; {len(answer.remarks)} remarks"


@check
def out_of_memory_without_a_window(folder: Path) -> str:
    """Snapshots were not asked for, and the error ends the run."""
    run = folder / "oom-alone"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with ss.profile(run, trace=False) as prof:
                prof.step()
                torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError:
        pass
    assert (rank_of(run) / "memory-oom-0.pickle").exists()
    assert facts_of(run)["finished"] == "exception"
    assert list(rank_of(run).glob("memory-stats-out-of-memory-*.json"))
    return ", ".join(sorted(path.name for path in rank_of(run).glob("memory-*")))


@check
def history_of_the_program_is_left_alone(folder: Path) -> str:
    """A program that records by itself goes on recording."""
    run = folder / "own"
    torch.cuda.memory._record_memory_history(max_entries=10_000, stacks="python")
    try:
        plan = ss.schedule(wait=0, warmup=0, active=1)
        with ss.profile(run, trace=False, snapshot=plan) as prof:
            torch.ones(1000, device="cuda")
            prof.step()
            torch.ones(1000, device="cuda")
            prof.step()
        assert getattr(torch._C, "_cuda_isHistoryEnabled", lambda: True)()
        assert window_of(run, "snapshot")["stacks"] == "as the program chose"
    finally:
        torch.cuda.memory._record_memory_history(None)
    return "still on"


@check
def lines_see_the_memory_of_the_gpu(folder: Path) -> str:
    """A line that allocates 64 MiB."""

    @ss.lines
    def allocate() -> Any:
        kept = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
        torch.cuda.synchronize()
        return kept

    kept = allocate()
    text = ss.lines_report()
    assert "GPU memory" in text, text
    assert "+64.00 MiB" in text, text
    del kept
    return "64 MiB"


@check
def always_on(folder: Path) -> str:
    """Ranges and steps all the time, and what they cost, in alternating blocks."""
    model, optimizer = made_model(2048)

    def seconds(steps: int = 20) -> float:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(steps):
            one_step(model, optimizer)
            ss.step()
        torch.cuda.synchronize()
        return time.perf_counter() - begin

    seconds()
    ratios = []
    for block in range(10):
        plain = seconds()
        run = folder / f"always-{block}"
        with ss.profile(run, trace=False, snapshot=False):
            ratios.append(seconds() / plain)
    ranges = ss.open(rank_of(folder / "always-0") / "events.scope").annotations().table.rows()
    counted = {row["name"]: row["count"] for row in ranges}
    assert counted["forward"] == 20, counted
    ratio = statistics.median(ratios)
    assert ratio < 1.10, ratios
    return f"a step with recording takes {ratio:.4f} of one without (median of 10 pairs)"


def main() -> int:
    """Runs all; how many failed."""
    if not torch.cuda.is_available():
        print("no CUDA device: nothing was checked")
        return 1
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name(0)}", flush=True)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    failed = 0
    begun = time.perf_counter()
    for each in CHECKS:
        begin = time.perf_counter()
        try:
            said = each(folder)
            state = "ok    "
        except Exception:
            state, said = "FAILED", traceback.format_exc(limit=4)
            failed += 1
        print(f"{state} {each.__name__} ({time.perf_counter() - begin:.1f} s): {said}", flush=True)
    print(f"{len(CHECKS) - failed} of {len(CHECKS)} ok in {time.perf_counter() - begun:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
