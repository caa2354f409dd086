"""Models whose sizes are known by hand, summarized in a run and read back."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded_program import Script, rank_facts, rank_folder

import stepscope

MODEL = """
import sys, torch
import stepscope as ss

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, padding=1, bias=False),
            torch.nn.BatchNorm2d(8), torch.nn.ReLU())
        self.head = torch.nn.Linear(8, 5)
        self.again = torch.nn.Linear(5, 5)
        for parameter in self.again.parameters():
            parameter.requires_grad = False
    def forward(self, x):
        x = self.head(self.stem(x).mean((2, 3)))
        return self.again(self.again(x))

torch.manual_seed(1)
net = Net()
batch = torch.randn(2, 3, 16, 16)
with ss.profile("run", trace=False) as prof:
    before = [net.training, net.stem[1].running_mean.clone(), torch.random.get_rng_state()]
    prof.summarize(net, *([] if "plain" in sys.argv else [batch]))
    assert net.training == before[0] and torch.equal(net.stem[1].running_mean, before[1])
    assert torch.equal(torch.random.get_rng_state(), before[2])
    assert not any(m._forward_hooks for m in net.modules())
    prof.step()
"""
# Convolution 8·(3·9), normalisation 2·8, head 8·5 + 5, again 5·5 + 5.
PARAMETERS = {"": 307, "stem": 232, "stem.0": 216, "stem.1": 16, "head": 45, "again": 30}
# Per call, and `again` is called twice.
MULT_ADDS = {
    "stem.0": 2 * 8 * 16 * 16 * 27,
    "stem.1": 2 * 8 * 16 * 16,
    "stem.2": 0,
    "head": 2 * 5 * 8,
    "again": 2 * (2 * 5 * 5),
}


def tables(folder: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    answer = stepscope.open(folder).model()
    (summary,) = answer["summary"].rows()
    return summary, {row["layer"]: row for row in answer["layers"].rows()}


def test_layers_are_counted_as_by_hand(training: Callable[[str], Script], tmp_path: Path) -> None:
    done = training(MODEL).run()
    assert done.returncode == 0, done.stderr
    summary, layers = tables(tmp_path / "run")
    assert (summary["model"], summary["parameters"], summary["trainable"]) == ("Net", 307, 277)
    assert summary["parameter_bytes"] == 4 * 307
    assert summary["buffer_bytes"] == 4 * 8 * 2 + 8  # mean, variance, and a count
    assert summary["layers"] == 6
    assert summary["mult_adds"] == sum(MULT_ADDS.values())
    assert (summary["uncounted"], summary["counted_by"]) == (0, "stepscope")
    assert summary["input_bytes"] == 4 * 2 * 3 * 16 * 16
    assert summary["output_bytes"] == 4 * (3 * (2 * 8 * 16 * 16) + 2 * 5 + 2 * (2 * 5))
    for name, count in PARAMETERS.items():
        row = layers[name or "Net"]
        assert row["parameters"] == count
        assert row["parameter_share"] == pytest.approx(count / 307)
    for name, count in MULT_ADDS.items():
        assert layers[name]["mult_adds"] == count
    assert layers["stem"]["mult_adds"] == MULT_ADDS["stem.0"] + MULT_ADDS["stem.1"]
    assert (layers["again"]["calls"], layers["again"]["trainable"]) == (2, 0)
    assert (layers["head"]["input"], layers["head"]["output"]) == ("[2, 8]", "[2, 5]")
    assert [row["depth"] for row in layers.values()] == [0, 1, 2, 2, 2, 1, 1]


@pytest.mark.parametrize("way", ["torch.compile(net, backend='eager')", "in place"])
def test_a_compiled_model_is_counted_as_what_it_was_made_of(
    training: Callable[[str], Script], tmp_path: Path, way: str
) -> None:
    """With a batch that is handed over: nothing is compiled for it."""
    compiled = "net.compile(backend='eager')" if way == "in place" else f"net.made = [{way}]"
    text = MODEL.replace("net = Net()\n", f"net = Net()\n{compiled}\n")
    text = text.replace("prof.summarize(net,", "prof.summarize(getattr(net, 'made', [net])[0],")
    text += "from stepscope.recording.model_pass import has_compiled\nassert not has_compiled()\n"
    done = training(text).run()
    assert done.returncode == 0, done.stderr
    summary, layers = tables(tmp_path / "run")
    assert summary["mult_adds"] == sum(MULT_ADDS.values())
    assert {name: layers[name]["mult_adds"] for name in MULT_ADDS} == MULT_ADDS


def test_without_a_batch_parameters_are_known(
    training: Callable[[str], Script], tmp_path: Path
) -> None:
    assert training(MODEL).run("plain").returncode == 0
    summary, layers = tables(tmp_path / "run")
    assert (summary["parameters"], summary["mult_adds"]) == (307, None)
    assert (layers["head"]["output"], layers["head"]["output_bytes"]) == (None, None)
    answer = stepscope.open(tmp_path / "run").model()
    assert any("No batch was seen" in remark for remark in answer.remarks)


def test_a_model_that_fails_is_a_warning(training: Callable[[str], Script], tmp_path: Path) -> None:
    text = MODEL.replace("batch = torch.randn(2, 3, 16, 16)", "batch = torch.randn(7)")
    done = training(text).run()
    assert done.returncode == 0, done.stderr
    assert "could not be summarized" in done.stderr
    assert rank_facts(tmp_path / "run")["finished"] == "stop"
    assert not (rank_folder(tmp_path / "run") / "model.json").exists()


# With "odd" one layer more, for which there is no formula here.
MIXED = """
import sys, torch
import stepscope as ss

class Odd(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width, 32))
    def forward(self, x):
        return x @ self.weight

class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.nodes = torch.nn.Linear(4, width)
        self.time = Odd(width) if "odd" in sys.argv else torch.nn.ReLU()
    def forward(self, x):
        return self.time(self.nodes(x))

with ss.profile("run", trace=False) as prof:
    prof.summarize(Net(int(sys.argv[1])), torch.randn(2, 50, 4))
    prof.step()
"""


def test_torchinfo_counts_what_we_cannot(
    training: Callable[[str], Script], training_python: str, tmp_path: Path
) -> None:
    """Of linear layers it counts a row of each sample; there are 50 here, as nodes of a graph."""
    into = tmp_path / "torchinfo"
    command = [training_python, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    made = subprocess.run(
        [*command, str(into), "torchinfo==1.8.0"], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"torchinfo cannot be installed here: {made.stderr.strip()[-200:]}")
    path = os.pathsep.join((str(Path(stepscope.__file__).parents[1]), str(into)))
    program = training(MIXED)

    def counted(*words: str) -> tuple[str, int, int, int]:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        done = program.run(*words, PYTHONPATH=path)
        assert done.returncode == 0, done.stderr
        summary, layers = tables(tmp_path / "run")
        assert layers["nodes"]["mult_adds"] == 2 * 50 * 4 * int(words[0])
        assert summary["input_bytes"] == 4 * 2 * 50 * 4
        return tuple(
            summary[name] for name in ("counted_by", "mult_adds", "uncounted", "output_bytes")
        )

    assert counted("8") == ("stepscope", 3200, 0, 2 * (4 * 2 * 50 * 8))
    # Of the layer that has no formula here alone: its row and the sum are one count.
    by, mult_adds, uncounted, _ = counted("8", "odd")
    assert (by, uncounted) == ("stepscope, torchinfo 1.8.0", 0)
    _, layers = tables(tmp_path / "run")
    assert mult_adds == layers["Net"]["mult_adds"] == 3200 + layers["time"]["mult_adds"]
    assert layers["time"]["mult_adds"] > 0


def test_what_is_uncounted_is_empty_and_named(
    training: Callable[[str], Script], tmp_path: Path
) -> None:
    assert training(MIXED).run("8", "odd").returncode == 0
    summary, layers = tables(tmp_path / "run")
    assert (summary["counted_by"], summary["mult_adds"]) == ("stepscope", 3200)
    assert (summary["uncounted"], layers["time"]["mult_adds"]) == (1, None)
    remarks = stepscope.open(tmp_path / "run").model().remarks
    assert any("without a formula are in no sum: Odd." in remark for remark in remarks)


RECURRENT = """
import torch
import stepscope as ss
from torch.nn.utils.rnn import pack_sequence

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(10, 7, num_layers=2, bidirectional=True, batch_first=True)
        self.short = torch.nn.LSTM(14, 7, proj_size=3)
        self.gru = torch.nn.GRU(14, 6)
        self.rnn = torch.nn.RNN(14, 5, bias=False)
        self.cell = torch.nn.LSTMCell(14, 4)
        self.packed = torch.nn.GRU(14, 6)
    def forward(self, x):
        x, _ = self.lstm(x)
        self.short(x), self.gru(x), self.rnn(x), self.cell(x[:, 0])
        return self.packed(pack_sequence([x[0], x[1, :2]]))

with ss.profile("run", trace=False) as prof:
    prof.summarize(Net(), torch.randn(3, 5, 10))
    prof.step()
"""


def test_recurrent_layers_multiply_at_every_time(
    training: Callable[[str], Script], tmp_path: Path
) -> None:
    done = training(RECURRENT).run()
    assert done.returncode == 0, done.stderr
    summary, layers = tables(tmp_path / "run")
    expected = {
        "lstm": 15 * 2 * (4 * 7 * (10 + 7) + 4 * 7 * (14 + 7)),
        "short": 15 * (4 * 7 * (14 + 3) + 3 * 7),
        "gru": 15 * 3 * 6 * (14 + 6),
        "rnn": 15 * 5 * (14 + 5),
        "cell": 3 * 4 * 4 * (14 + 4),
        "packed": 7 * 3 * 6 * (14 + 6),  # 5 and 2 times
    }
    assert {name: layers[name]["mult_adds"] for name in expected} == expected
    assert (summary["mult_adds"], summary["uncounted"]) == (sum(expected.values()), 0)


def test_a_damaged_summary_costs_nothing_else(
    training: Callable[[str], Script], tmp_path: Path
) -> None:
    assert training(MODEL).run("plain").returncode == 0
    file = rank_folder(tmp_path / "run") / "model.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, "schema": "stepscope.model/9"}))
    run = stepscope.open(tmp_path / "run")
    assert any("No summary of a model" in remark for remark in run.model().remarks)
    assert len(list(run.time()["steps"].rows())) == 1
