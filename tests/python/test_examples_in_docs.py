"""Examples in docstrings and in the guide print what they say they print."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest
from program import ROOT

import stepscope
from stepscope.analyses import descriptors

EVERY = [m.name for m in pkgutil.walk_packages(stepscope.__path__, "stepscope.")]
# They import a framework, which only the training environment has; tests/recording runs them.
FRAMEWORKS = {
    f"stepscope.integrations.{name}"
    for name in (
        *("anemoi.callback", "keras", "lightning", "mlflow", "pytorch_lightning"),
        *("transformers", "wandb"),
    )
}
# Not the extensions, nor the library beside them.
MODULES = [
    name
    for name in EVERY
    if not name.removeprefix("stepscope.").startswith(("_", "lib")) and name not in FRAMEWORKS
]
PAGES = sorted((ROOT / "docs" / "python").glob("*.md"))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("name", ["stepscope", *MODULES])
def test_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    run = stepscope.open("examples/data/gpt_bf16.json.gz")  # as in the example of `open`
    done = doctest.testmod(module, optionflags=FLAGS, extraglobs={"run": run})
    assert done.failed == 0
    if name == "stepscope.analyses":
        assert done.attempted >= len(descriptors())


def test_every_public_thing_is_documented() -> None:
    for name in stepscope.__all__:
        thing = getattr(stepscope, name)
        if not isinstance(thing, str):
            assert thing.__doc__, name


def prompts(text: str) -> str:
    """The blocks of kind pycon where they stand, all else left out."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            inside, line = line == "```pycon", ""
        lines.append(line if inside else "")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_guide(page: Path) -> None:
    parser = doctest.DocTestParser()
    test = parser.get_doctest(prompts(page.read_text()), {}, page.name, str(page), 0)
    done = doctest.DocTestRunner(optionflags=FLAGS).run(test)
    assert done.attempted > (20 if page.name == "README.md" else 5)
    assert done.failed == 0
