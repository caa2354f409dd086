"""Writes JSON the ways traces are written: as Kineto does, on one line, indented, at random."""

import json
from collections.abc import Callable
from random import Random

from oracle.text import Constant, Json, Number

Escape = Callable[[str], str]


def plain(text: str) -> str:
    """Only what must be escaped."""
    return json.dumps(text, ensure_ascii=False)


def escaped(text: str) -> str:
    """Every character as an escape: the same string for any right reader."""
    units = text.encode("utf-16-be", "surrogatepass")
    codes = [units[i : i + 2].hex() for i in range(0, len(units), 2)]
    return '"' + "".join(f"\\u{code}" for code in codes) + '"'


def sometimes_escaped(rng: Random) -> Escape:
    """Some strings, keys too, are escaped throughout."""
    return lambda text: escaped(text) if rng.random() < 0.1 else plain(text)


def write(value: Json, escape: Escape, between: str = ",", after_key: str = ":") -> str:
    """On one line."""
    if isinstance(value, dict):
        members = [
            f"{escape(key)}{after_key}{write(one, escape, between, after_key)}"
            for key, one in value.items()
        ]
        return "{" + between.join(members) + "}"
    if isinstance(value, list):
        return "[" + between.join(write(one, escape, between, after_key) for one in value) + "]"
    return atom(value, escape)


def atom(value: Json, escape: Escape) -> str:
    """What is neither object nor list."""
    if isinstance(value, Number | Constant):
        return value.text
    if isinstance(value, str):
        return escape(value)
    return json.dumps(value)


def indented(value: Json, escape: Escape, depth: int = 0) -> str:
    """As json.dump(indent=4) does."""
    inner, outer = "\n" + " " * 4 * (depth + 1), "\n" + " " * 4 * depth
    if isinstance(value, dict) and value:
        members = [f"{escape(k)}: {indented(v, escape, depth + 1)}" for k, v in value.items()]
        return "{" + inner + ("," + inner).join(members) + outer + "}"
    if isinstance(value, list) and value:
        items = [indented(one, escape, depth + 1) for one in value]
        return "[" + inner + ("," + inner).join(items) + outer + "]"
    return write(value, escape)


def kineto_event(event: Json, escape: Escape) -> str:
    """One event over several lines."""
    if not isinstance(event, dict):
        return "  " + write(event, escape)
    first = {k: v for k, v in event.items() if k not in ("ts", "dur", "args")}
    times = {k: v for k, v in event.items() if k in ("ts", "dur")}
    lines = [write(part, escape, ", ", ": ")[1:-1] for part in (first, times) if part]
    if isinstance(args := event.get("args"), dict):
        members = write(args, escape, ", ", ": ")[1:-1]
        lines.append(f"{escape('args')}: {{\n      {members}\n    }}")
    elif "args" in event:
        lines.append(f"{escape('args')}: {write(args, escape)}")
    return "  {\n    " + ",\n    ".join(lines) + "\n  }"


def kineto(trace: Json, escape: Escape) -> str:
    """The whole file as PyTorch writes it."""
    if isinstance(trace, list):
        return "[\n" + ",\n".join(kineto_event(event, escape) for event in trace) + "\n]\n"
    if not isinstance(trace, dict):
        return write(trace, escape)
    parts = []
    for key, value in trace.items():
        if key == "traceEvents" and isinstance(value, list):
            events = ",\n".join(kineto_event(event, escape) for event in value)
            parts.append(f"  {escape(key)}: [\n{events}\n  ]")
        else:
            parts.append(f"  {escape(key)}: {write(value, escape, ', ', ': ')}")
    return "\n{\n" + ",\n".join(parts) + "\n}\n"


def loose(value: Json, escape: Escape, rng: Random) -> str:
    """With white space wherever JSON allows it."""

    def gap() -> str:
        return rng.choice(["", "", " ", "\n", "\t", "\r\n", "   "])

    if isinstance(value, dict):
        members = [f"{gap()}{escape(k)}{gap()}:{loose(v, escape, rng)}" for k, v in value.items()]
        return f"{gap()}{{{','.join(members)}{gap()}}}{gap()}"
    if isinstance(value, list):
        return f"{gap()}[{','.join(loose(one, escape, rng) for one in value)}{gap()}]{gap()}"
    return f"{gap()}{atom(value, escape)}{gap()}"


def any_layout(trace: Json, rng: Random) -> bytes:
    """One of the layouts; Kineto's more often than the others."""
    escape = sometimes_escaped(rng) if rng.random() < 0.2 else plain
    style = rng.randrange(6)
    if style < 3:
        text = kineto(trace, escape)
    elif style == 3:
        text = write(trace, escape)
    elif style == 4:
        text = indented(trace, escape)
    else:
        text = loose(trace, escape, rng)
    return text.encode("utf-8", "surrogatepass")
