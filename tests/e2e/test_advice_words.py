"""Findings do not contradict themselves, the page they lead to, or the other commands."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from program import ROOT, Program

RECORDED = ROOT / "tests" / "fixtures" / "faults"
SAMPLES = ROOT / "examples" / "data"
TRACES = [*sorted(RECORDED.glob("*.json.gz")), SAMPLES / "gpt_stack.json.gz", SAMPLES / "ddp"]
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


def advice_of(program: Program, path: Path) -> dict[str, Any]:
    advice: dict[str, Any] = json.loads(program.run("advise", "--json", path).stdout)
    return advice


def text_of(program: Program, path: Path, *options: str) -> str:
    """In one line, so that words are found however lines were broken."""
    return " ".join(program.run("advise", *options, path).stdout.decode().split())


def lengths_in(text: str) -> list[float]:
    found = re.findall(r"(\d+(?:\.\d+)?) (ns|µs|ms|s)\b", text)
    return [float(value) * UNITS[unit] for value, unit in found]


def test_the_share_of_a_title_is_the_one_that_was_measured(program: Program) -> None:
    """Of rules that put the share of what they measured into the title."""
    rules = set()
    for finding in (one for path in TRACES for one in advice_of(program, path)["findings"]):
        shares = re.findall(r"(\d+\.\d) % of (?:each step|the time)", finding["title"])
        if not shares or finding["measured"]["unit"] != "share, 0 to 1":
            continue
        assert float(shares[0]) == pytest.approx(100 * finding["measured"]["value"], abs=0.06)
        rules.add(finding["rule"])
    assert {"input-bound", "launch-bound", "precision"} <= rules and len(rules) > 10


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        (RECORDED / "small_copies.json.gz", "slow-transfers"),
        (RECORDED / "pageable_images.json.gz", "slow-transfers"),
        (RECORDED / "one_worker.json.gz", "input-bound"),
        (SAMPLES / "gpt_stack.json.gz", "input-bound"),
        (SAMPLES / "ddp", "input-bound"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_the_text_says_how_long_the_share_of_its_title_is(
    path: Path, rule: str, program: Program
) -> None:
    advice = advice_of(program, path)
    finding = next(one for one in advice["findings"] if one["rule"] == rule)
    # The step of the rank whose finding it is; the samples have it on the slowest.
    own_ns = finding["measured"]["value"] * advice["step_ns"]
    assert any(
        length == pytest.approx(own_ns, rel=0.01) for length in lengths_in(finding["detail"])
    )


def events_of(path: Path, rank: int) -> list[dict[str, Any]]:
    file = path / f"rank{rank}.json.gz" if path.is_dir() else path
    events: list[dict[str, Any]] = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    return events


def steps_of(events: list[dict[str, Any]]) -> list[tuple[int, float, float]]:
    """Number, begin and end of each."""
    return [
        (int(one["name"].partition("#")[2]), one["ts"], one["ts"] + one["dur"])
        for one in events
        if one.get("cat") == "user_annotation" and one["name"].startswith("ProfilerStep#")
    ]


def test_evidence_names_the_step_in_which_its_event_is_found(program: Program) -> None:
    found = 0
    for path in TRACES:
        events_by_rank: dict[int, list[dict[str, Any]]] = {}
        steps_by_rank: dict[int, list[tuple[int, float, float]]] = {}
        for finding in advice_of(program, path)["findings"]:
            for piece in finding["evidence"]:
                if piece["event"] is None or piece["step"] is None:
                    continue
                if piece["rank"] not in events_by_rank:
                    events_by_rank[piece["rank"]] = events_of(path, piece["rank"])
                    steps_by_rank[piece["rank"]] = steps_of(events_by_rank[piece["rank"]])
                events = events_by_rank[piece["rank"]]
                event = events[piece["event"]]
                if event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
                    continue
                steps = steps_by_rank[piece["rank"]]
                around = [number for number, begin, end in steps if begin <= event["ts"] < end]
                assert around in ([piece["step"]], []), (finding["rule"], piece)
                found += len(around)
    assert found > len(TRACES)


def test_findings_of_some_ranks_name_them(program: Program) -> None:
    advice = advice_of(program, SAMPLES / "ddp")
    assert {len(one["ranks"]) for one in advice["findings"]} == {1, 2}
    for finding in advice["findings"]:
        named = re.search(r"\(ranks? ([\d, and]+)\)$", finding["title"])
        if len(finding["ranks"]) == 2:
            assert named is None
        else:
            assert named is not None and named[1] == str(finding["ranks"][0])


@pytest.mark.parametrize("name", ["validation", "few_blocks", "vision_odd_channels"])
def test_a_run_with_something_to_gain_is_not_called_healthy(name: str, program: Program) -> None:
    advice = advice_of(program, RECORDED / f"{name}.json.gz")
    assert any(one["gain_per_step"] for one in advice["findings"])
    assert not any("Healthy" in sentence for sentence in advice["verdict"])
    # What may save a fifth of the step is not waved away.
    most = max(
        one["gain_per_step"]["high_ns"] for one in advice["findings"] if one["gain_per_step"]
    )
    large = most >= advice["step_ns"] / 5
    opening = r"None of \d+ rules gives a warning, but" if large else "No grave fault"
    assert re.match(opening, advice["verdict"][0]), advice["verdict"]


def test_kernels_are_shortened_for_people_and_whole_for_programs(program: Program) -> None:
    path = RECORDED / "few_blocks.json.gz"
    first = advice_of(program, path)["findings"][0]["evidence"][0]
    assert first["text"].startswith("cunn_SoftMaxBackward<")
    assert first["kernels"][0].startswith("void at::native::(anonymous namespace)::cunn_Soft")
    assert "anonymous namespace" not in text_of(program, path)


def test_the_places_of_a_finding_add_up_to_what_it_says(program: Program) -> None:
    """Convolutions both ways miss the tensor cores; what converts layouts is theirs, too."""
    path = RECORDED / "no_tensor_cores.json.gz"
    advice = advice_of(program, path)
    finding = advice["findings"][0]
    slow_ns = finding["measured"]["value"] * advice["step_ns"]
    plain, products = lengths_in(finding["detail"])[:2]  # and what is around the plain ones
    assert plain == pytest.approx(slow_ns, rel=0.02)
    assert finding["title"].startswith("Convolutions")
    places = sum(lengths_in(piece["text"])[0] for piece in finding["evidence"])
    assert places == pytest.approx(products, rel=0.02)


def test_a_recorded_run_says_which_of_its_steps_are_meant(program: Program) -> None:
    text = text_of(program, SAMPLES / "run")
    assert "A step that was not traced takes 16.3 ms on average" in text
    traced = "the 2 traced steps wait 28.5 % of their time: 6.77 ms of 23.8 ms each"
    assert traced in text_of(program, SAMPLES / "run", "--all")
    assert "The loader has workers" in text
    assert "Which process makes the batch is not recorded" not in text
    page = " ".join(program.run("report", SAMPLES / "run").stdout.decode().split())
    assert "18.5 ms on the slowest, 1), without warm-up and traced steps" in page
    assert "the median is 23.0 ms traced, 9.80 ms not" in page


def test_a_gate_says_of_which_rank_it_speaks(program: Program, tmp_path: Path) -> None:
    rules = tmp_path / "ci.yaml"
    rules.write_text("limits:\n  exposed_communication: {max: 0.5}\n")
    done = program.run("check", SAMPLES / "ddp", "--rules", rules)
    text = " ".join(done.stdout.decode().split())
    assert done.exit_status == 1
    assert "of rank 0, where it is largest" in text
    steps = json.loads(program.run("analyze", "steps", "-f", "json", SAMPLES / "ddp").stdout)[
        "tables"
    ]["steps"]
    shares = [row["communication_ns"] / row["step_ns"] for row in steps if row["rank"] == 0]
    printed = float(re.findall(r"exposed_communication (\d+\.\d) %", text)[0])
    assert printed == pytest.approx(100 * sum(shares) / len(shares), abs=0.06)
