"""What type checkers learn of the extension is what it has."""

import ast
from pathlib import Path
from types import ModuleType
from typing import Any

import stepscope
from stepscope import _core


def declared(body: list[ast.stmt]) -> dict[str, Any]:
    """Names of functions and classes, and those of the classes' members."""
    return {
        node.name: declared(node.body) if isinstance(node, ast.ClassDef) else {}
        for node in body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def found(thing: ModuleType | type) -> dict[str, Any]:
    names = [name for name in vars(thing) if not name.startswith("__") or "arrow" in name]
    return {
        name: found(value) if isinstance(value := getattr(thing, name), type) else {}
        for name in names
    }


def test_the_stub_of_the_extension_names_what_is_there() -> None:
    stub = Path(stepscope.__path__[0]) / "_core.pyi"
    names = declared(ast.parse(stub.read_text()).body)
    for name in ("PageChoice", "SweepPage"):
        names[name].pop("__init__")
    assert names == found(_core)


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(stepscope.__path__[0]) / "py.typed").exists()
