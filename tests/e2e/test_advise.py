"""Findings against runs with a planted fault, and what a reader must find in each of them."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from program import Program
from served import serving

# Runs of one program with one fault each, beside runs without: labels.json says which.
FAULTS = [
    "gpt__dataloader_bound",
    "gpt__unpinned_h2d",
    "gpt__launch_bound",
    "gpt__host_sync",
    "gpt__fp32_no_tensor_cores",
    "gpt__empty_cache",
    "gpt__checkpoint_stall",
    "gpt__unfused_optimizer",
    "gpt__gc_or_logging",
]
LEVELS = ["info", "notice", "warning", "critical"]
WIDEST = 0.30  # of the step


@pytest.fixture(scope="module")
def planted(corpus: Path) -> Path:
    folder = corpus / "planted"
    if not (folder / "labels.json").exists():
        pytest.skip("the corpus has no planted faults")
    return folder


def advice_of(program: Program, path: Path, *words: str) -> dict[str, Any]:
    advice: dict[str, Any] = json.loads(program.run("advise", "--json", *words, path).stdout)
    assert advice["schema"] == "stepscope.advice/1"
    return advice


def label_of(planted: Path, name: str) -> dict[str, Any]:
    label: dict[str, Any] = json.loads((planted / "labels.json").read_text())[name]
    return label


@pytest.mark.parametrize("name", FAULTS)
def test_the_planted_fault_is_the_first_finding(name: str, planted: Path, program: Program) -> None:
    first = advice_of(program, planted / f"{name}.json.gz")["findings"][0]
    assert first["cause"] == label_of(planted, name)["cause"]
    assert first["level"] in ("warning", "critical")


@pytest.mark.parametrize("name", FAULTS)
def test_the_interval_holds_the_true_gain(name: str, planted: Path, program: Program) -> None:
    run = advice_of(program, planted / f"{name}.json.gz")
    gain = run["findings"][0]["gain_per_step"]
    assert 0 < gain["low_ns"] <= gain["high_ns"]
    assert gain["high_ns"] - gain["low_ns"] <= WIDEST * run["step_ns"]
    reference = label_of(planted, name).get("reference")
    if reference is None:
        return
    without = advice_of(program, planted / f"{reference}.json.gz")
    true_gain = run["step_ns"] - without["step_ns"]
    assert gain["low_ns"] <= true_gain <= gain["high_ns"]


@pytest.mark.parametrize("name", FAULTS)
def test_nothing_else_is_called_a_fault(name: str, planted: Path, program: Program) -> None:
    others = advice_of(program, planted / f"{name}.json.gz")["findings"][1:]
    assert [one["rule"] for one in others if LEVELS.index(one["level"]) >= 2] == []


def test_a_pair_of_another_program(corpus: Path, program: Program) -> None:
    """ResNet-50 on another GPU with another torch: the same loop with 0 and with 4 workers."""
    folder = corpus / "kineto"
    run = advice_of(program, folder / "resnet50_num_workers_0.json.gz")
    mended = advice_of(program, folder / "resnet50_num_workers_4.json.gz")
    found, precision = run["findings"][:2]  # by level: 32-bit products cost this run even more
    assert (found["rule"], found["level"]) == ("input-bound", "critical")
    assert (precision["rule"], precision["level"]) == ("precision", "warning")
    code = " ".join(change["code"] for change in precision["changes"])
    assert "torch.float16" in code  # a V100 has neither TF32 nor bf16
    assert "bfloat16" not in code and "matmul_precision" not in code
    gain = found["gain_per_step"]
    assert gain["low_ns"] <= run["step_ns"] - mended["step_ns"] <= gain["high_ns"]
    assert gain["high_ns"] - gain["low_ns"] <= WIDEST * run["step_ns"]
    assert "input-bound" not in [one["rule"] for one in mended["findings"]]


def test_a_healthy_run_hears_its_ceiling_and_nothing_else(planted: Path, program: Program) -> None:
    advice = advice_of(program, planted / "gpt__healthy.json.gz")
    assert advice["healthy"]
    assert advice["findings"] == []
    assert "Healthy" in advice["verdict"][0]
    assert any("of the peak in bf16 (MFU)" in sentence for sentence in advice["verdict"])
    assert any("roofline" in sentence for sentence in advice["verdict"])


def test_a_small_batch_has_no_notice_of_what_only_recording_adds(
    planted: Path, program: Program
) -> None:
    """The GPU waits 12 % of its traced steps; played again without recording, 0.4 %."""
    advice = advice_of(program, planted / "gpt__healthy_small_batch.json.gz")
    assert advice["healthy"]
    assert advice["findings"] == []


@pytest.mark.parametrize(
    ("sample", "rule"),
    [
        ("gpt_stack.json.gz", "precision"),
        ("gpt_bf16.json.gz", "launch-bound"),
        ("ddp", "input-bound"),
        ("snap_gpt_leak.pickle.gz", "memory-leak"),
    ],
)
def test_bundled_samples(sample: str, rule: str, samples: Path, program: Program) -> None:
    first = advice_of(program, samples / sample)["findings"][0]
    assert first["rule"] == rule


def test_a_finding_has_all_a_reader_needs(samples: Path, program: Program) -> None:
    for sample in ("gpt_stack.json.gz", "ddp", "snap_gpt_leak.pickle.gz"):
        for finding in advice_of(program, samples / sample)["findings"]:
            assert finding["title"] and finding["detail"] and finding["verify"]
            assert "{}" not in finding["title"] + finding["detail"]
            assert finding["changes"] and finding["evidence"]
            assert (Path(__file__).parents[2] / finding["page"]).is_file()
            assert finding["measured"]["value"] >= finding["measured"]["threshold"]


def test_a_cut_trace_is_not_called_healthy(samples: Path, program: Program, tmp_path: Path) -> None:
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes((samples / "gpt_bf16.json.gz").read_bytes()[:300_000])
    advice = json.loads(program.run("advise", "--json", cut).stdout)
    assert not advice["healthy"]
    assert advice["verdict"][0].startswith("cut.json.gz is cut")
    assert not any("Healthy" in sentence for sentence in advice["verdict"])
    assert not any("activities" in one["record"] for one in advice["not_judged"])
    page = program.run("report", cut).stdout.decode()
    assert "Findings\n\n  cut.json.gz is cut" in page
    info = program.run("info", cut).stdout.decode()
    assert "the file is cut" in info and "PRIVILEGES" not in info


def test_evidence_names_events_of_the_file(samples: Path, program: Program) -> None:
    import gzip

    path = samples / "gpt_stack.json.gz"
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    launch = next(
        one for one in advice_of(program, path)["findings"] if one["rule"] == "input-bound"
    )
    event = launch["evidence"][0]["event"]
    assert "DataLoader" in events[event]["name"]


def test_the_report_opens_with_the_same_findings(samples: Path, program: Program) -> None:
    path = samples / "gpt_stack.json.gz"
    report = json.loads(program.run("report", "--json", path).stdout)
    alone = advice_of(program, path)
    assert report["advice"] == {key: alone[key] for key in report["advice"]}
    text = program.run("report", path).stdout.decode()
    assert text.index("Findings") < text.index("Where the step time goes")
    for finding in alone["findings"]:
        assert finding["title"][:60] in text.replace("\n             ", " ")


# Traces of one step, in which the GPU computes almost never: they cannot be called healthy.
@pytest.mark.parametrize("name", ["triton", "cuda_event_sync_multi_stream"])
def test_too_little_is_not_called_healthy(name: str, corpus: Path, program: Program) -> None:
    advice = advice_of(program, corpus / "hta" / f"{name}.json.gz")
    assert advice["healthy"] is None
    assert "cannot be said" in advice["verdict"][0]
    assert not any("No grave fault" in sentence for sentence in advice["verdict"])
    assert not any("0 of 1 steps" in one["detail"] for one in advice["findings"])


@pytest.mark.parametrize(
    "name",
    [
        "tracelens/mi300_resnet_checkpoint",
        "hta/two_ranks_0",
        "h200/nccl_one_rank",
        "h200/ddp_gloo_rank1",
    ],
)
def test_what_remains_is_as_much_as_the_others_say(
    name: str, corpus: Path, program: Program
) -> None:
    """The first of each may bring nothing: then all the others say remains."""
    advice = advice_of(program, corpus / f"{name}.json.gz")
    first, *others = [one for one in advice["findings"] if one["gain_per_step"]]
    assert first["remaining_gain_per_step"] is None
    left = advice["step_ns"] - first["gain_per_step"]["low_ns"]
    most = 0
    for one in others:
        assert one["remaining_gain_per_step"] is not None
        most = max(most, one["remaining_gain_per_step"]["high_ns"])
        if first["gain_per_step"]["low_ns"] == 0:
            assert one["remaining_gain_per_step"]["high_ns"] <= one["gain_per_step"]["high_ns"]
    assert most == max(min(one["gain_per_step"]["high_ns"], left) for one in others)
    assert any("What remains then" in sentence for sentence in advice["verdict"])


def test_transposes_in_16_bits_are_no_matter_of_precision(corpus: Path, program: Program) -> None:
    """All products of this network in bf16 are by matrix units; the rest turns pictures round."""
    advice = advice_of(program, corpus / "tracelens" / "mi300_resnet_checkpoint.json.gz")
    assert "precision" not in {one["rule"] for one in advice["findings"]}


def commands_of(finding: dict[str, Any]) -> list[list[str]]:
    """The commands a finding tells its reader to type, as words."""
    text: str = finding["verify"]
    return [shlex.split(one)[1:] for one in re.findall(r"`(stepscope analyze [^`]*)`", text)]


@pytest.mark.parametrize(
    "path",
    [
        *(f"planted:{name}" for name in FAULTS),
        *(
            f"faults:{name}"
            for name in (
                "odd_shapes",
                "exposed_copies",
                "small_batch",
                "unfused_chain",
                "recompute",
                "autotuning",
                "collector",
            )
        ),
    ],
)
def test_the_command_that_checks_shows_the_column_it_names(
    path: str, planted: Path, program: Program
) -> None:
    kind, name = path.split(":")
    file = (planted if kind == "planted" else RECORDED) / f"{name}.json.gz"
    findings = advice_of(program, file)["findings"]
    assert findings
    for finding in findings:
        for words in commands_of(finding):
            asked = [file.as_posix() if word == "new.json" else word for word in words]
            done = program.run(*asked, "--width", "100")
            assert done.exit_status == 0, (asked, done.stderr)
            shown = done.stdout.decode().split()
            whole = program.run(*asked, "--width", "0").stdout.decode().split()
            for column in re.findall(r"[a-z]+_[a-z_]+", finding["verify"]):
                words = re.sub(r"_(ns|bytes)$", "", column).split("_")
                if all(word in whole for word in words):
                    assert all(word in shown for word in words), (finding["rule"], column)


def test_what_could_not_be_judged_takes_a_few_lines(
    samples: Path, program: Program, tmp_path: Path
) -> None:
    host = tmp_path / "host.json"
    host.write_text(
        json.dumps(
            {
                "schemaVersion": 1,
                "deviceProperties": [],
                "traceEvents": [
                    {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}"}
                    | {"pid": 1, "tid": 1, "ts": 1000 * step, "dur": 1000}
                    for step in range(3)
                ],
            }
        )
    )
    for path in (samples / "gpt_stack.json.gz", samples / "ddp", host):
        text = program.run("advise", path).stdout.decode()
        lines = text.rstrip().split("could not judge")[-1].splitlines()[1:]
        assert 0 < len(lines) <= 7, text
        assert all(len(line) <= 100 for line in lines)
        missing = advice_of(program, path)["not_judged"]
        whole = program.run("advise", "--all", path).stdout.decode()
        whole = " ".join(whole.split())
        for one in missing:
            assert one["rule"] in whole and one["why"] in whole
            assert one["record"] in whole


def test_a_finding_tells_how_to_open_its_event(samples: Path, program: Program) -> None:
    path = samples / "gpt_stack.json.gz"
    assert "   open " not in program.run("advise", path).stdout.decode()
    text = program.run("advise", "--all", path).stdout.decode()
    first = next(
        evidence
        for finding in advice_of(program, path)["findings"]
        for evidence in finding["evidence"]
        if evidence["event"] is not None
    )
    ref = f"{first['rank']}.{first['window']}.{first['event']}"
    (command, *_) = re.findall(r"^   open +stepscope (.*)$", text, re.M)
    assert shlex.split(command) == ["serve", str(path), "--event", ref]  # a command to paste
    with serving(program, *shlex.split(command)[1:]) as server:
        assert server.place == f"/timeline?event={ref}"
        assert server.ask(f"api/events/{ref.replace('.', '/')}").status == 200


def test_every_rule_is_explained(samples: Path, program: Program) -> None:
    path = samples / "snap_gpt_leak.pickle.gz"
    sarif = json.loads(program.run("advise", "--sarif", path).stdout)
    names = [rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]]
    assert len(names) > 25
    for name in names:
        text = program.run("advise", "--explain", name).stdout.decode()
        for heading in ("What it means", "How we know", "The gain", "What to do", "How to verify"):
            assert f"\n{heading}\n" in text, (name, heading)
        assert "What it needs" in text and f"docs/advice/{name}.md" in text
        assert "](" not in text and "**" not in re.sub(r"[(,] ?\*\*\w+\)", "", text)


def test_any_number_of_threads_says_the_same(samples: Path, program: Program) -> None:
    answers = {
        program.run("advise", "--jobs", jobs, samples / "ddp").stdout for jobs in ("1", "2", "8")
    }
    assert len(answers) == 1


def test_thresholds_of_the_user(samples: Path, program: Program, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("precision: {notice: 0.9, warning: 0.95, critical: 0.99}\n")
    advice = advice_of(program, samples / "gpt_stack.json.gz", "--thresholds", str(rules))
    assert "precision" not in [one["rule"] for one in advice["findings"]]


# Alone, against the standard of a graver level, and in order.
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("launch-bound: {notice: 0.5, warning: 0.1}", "notice (0.5) is above warning (0.1)"),
        ("launch-bound: {notice: 0.25}", "notice (0.25) is above warning (0.2)"),
        ("host-sync: {warning: 0.4}", "warning (0.4) is above critical (0.3)"),
        ("launch-bound: {notice: 0.25, warning: 0.25}", ""),
        ("slow-transfers: {small_copies: 64}", ""),
    ],
)
def test_thresholds_of_levels_rise(
    text: str, wrong: str, samples: Path, program: Program, tmp_path: Path
) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(text + "\n")
    done = program.run("advise", "--thresholds", rules, samples / "gpt_stack.json.gz")
    assert (done.exit_status == 0) == (wrong == "")
    assert wrong in done.stderr.decode()


RECORDED = Path(__file__).parents[1] / "fixtures" / "faults"


# What is recorded of each, in labels.json with its cost; the rule that names it, and how grave.
@pytest.mark.parametrize(
    ("name", "rule", "least"),
    [
        ("odd_shapes", "odd-shapes", "warning"),
        ("exposed_copies", "exposed-copies", "warning"),
        ("small_batch", "launch-bound", "warning"),
        ("unfused_chain", "unfused-chains", "warning"),
        ("recompute", "recompute", "notice"),  # whether the memory is needed was not recorded
        ("autotuning", "cudnn-autotuning", "critical"),
        ("collector", "host-pause", "critical"),  # what stopped the program was not recorded
    ],
)
def test_a_recorded_fault_is_found(program: Program, name: str, rule: str, least: str) -> None:
    label = json.loads((RECORDED / "labels.json").read_text())["faults"][name]
    advice = advice_of(program, RECORDED / f"{name}.json.gz")
    first = advice["findings"][0]
    assert (first["rule"], first["cause"]) == (rule, label["cause"])
    assert LEVELS.index(first["level"]) >= LEVELS.index(least)
    others = [one["rule"] for one in advice["findings"][1:] if LEVELS.index(one["level"]) >= 2]
    assert others == []


@pytest.mark.parametrize(
    "name",
    ["odd_shapes", "exposed_copies", "unfused_chain", "recompute", "autotuning", "collector"],
)
def test_the_gain_is_the_one_that_was_measured(program: Program, name: str) -> None:
    label = json.loads((RECORDED / "labels.json").read_text())["faults"][name]
    took, would = (label[key]["median"] * 1e6 for key in ("fault_step_ms", "reference_step_ms"))
    advice = advice_of(program, RECORDED / f"{name}.json.gz")
    gain = advice["findings"][0]["gain_per_step"]
    # Collections every third step are in two of four that were traced: how often, is known less.
    widest = 0.49 if name == "collector" else WIDEST
    assert gain["high_ns"] - gain["low_ns"] < widest * advice["step_ns"]
    assert gain["low_ns"] <= took - would <= gain["high_ns"]


def test_the_garbage_collector_is_named_among_the_suspects(program: Program) -> None:
    advice = advice_of(program, RECORDED / "collector.json.gz")
    assert "garbage collector" in advice["findings"][0]["detail"]
    missing = {one["rule"]: one for one in advice["not_judged"]}
    assert "stepscope run" in missing["garbage-collector"]["record"]


def test_reentrant_checkpointing_on_another_gpu(corpus: Path, program: Program) -> None:
    """ResNet with checkpoints on an MI300: its second forward pass is seen too."""
    advice = advice_of(program, corpus / "tracelens" / "mi300_resnet_checkpoint.json.gz")
    found = {one["rule"]: one for one in advice["findings"]}
    assert "recompute" in found


def test_every_rule_judges_or_says_what_to_record(samples: Path, program: Program) -> None:
    listed = program.run("help", "advise", "rules").stdout.decode().split("\nThresholds")[0]
    rules = set(re.findall(r"^  ([a-z][a-z-]+)  +\S", listed, re.MULTILINE))
    advice = advice_of(program, samples / "gpt_bf16.json.gz")
    missing = [one["rule"] for one in advice["not_judged"]]
    assert len(missing) == len(set(missing)) and set(missing) < rules
    assert {"garbage-collector", "cpu-contention", "memory-leak"} <= set(missing)
    assert all(one["why"] and one["wanted"] for one in advice["not_judged"])
    nothing_helps = [one["rule"] for one in advice["not_judged"] if not one["record"]]
    assert len(nothing_helps) <= 2
