"""Where in a model memory is asked for, given to torch's allocator as it goes: cheaper than stacks.

From 2.10 on torch keeps a text beside every entry of its memory history that a thread has set
before. Here that is the pass and the module at work, outermost first:

    stepscope: forward pass / GPT / blocks.3 (Block) / attn (Attention)

A backward pass runs in threads of its own, which set nothing: what they ask for has no text.
Of a model the outermost modules are named, and none that holds no others or one alone: naming one
costs some microseconds a call, and the one around it tells enough. torch copies the text into every
entry, so it is given a short one, and what that stands for is written into the snapshot.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from stepscope.recording import addresses

MARK = "stepscope: "
BETWEEN = " / "
MOST_NAMED = 64  # modules: three levels of a usual model
OUTSIDE = f"{MARK}outside of modules"
OPTIMIZER = f"{MARK}optimizer step"
_FORWARD = f"{MARK}forward pass"
_AGAIN = f"{MARK}backward pass{BETWEEN}forward pass"  # a checkpoint computes it once more


_texts: dict[str, str] = {}  # by the short ones that torch is given
_shorts: dict[str, str] = {}


def short_of(text: str) -> str:
    """What stands for it: at most 15 bytes, which C++ keeps without asking for memory."""
    if text not in _shorts:
        short = _shorts[text] = f"stepscope:{len(_shorts)}"
        _texts[short] = text
    return _shorts[text]


def whole_of(short: str) -> str:
    """The text that it stands for; any other text is itself."""
    return _texts.get(short, short)


def why_not() -> str:
    """Why torch cannot take it; empty where it can."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return "torch is not imported"
    if not hasattr(torch.cuda.memory, "_set_memory_metadata"):
        return f"it needs torch 2.10, and this is {torch.__version__}"
    return ""


class _Open(threading.local):
    """The short texts of what a thread is in, the innermost last."""

    def __init__(self) -> None:
        self.texts: list[str] = []


class MemoryPlaces:
    """Says which module of the given models is at work, from `begin` to `end`."""

    def __init__(self, say: Callable[[str], object] | None = None) -> None:
        self._say = say
        self._open = _Open()
        self._handles: list[Any] = []

    def begin(self, models: Iterable[Any] = ()) -> None:
        """Of all models that are alive where none is given."""
        import torch
        from torch.optim import optimizer

        if self._say is None:
            self._say = torch._C._cuda_setMemoryMetadata
        for module, label in _named(list(models) or addresses.alive()[0]):
            self._watch(module, label)
        self._handles += (
            optimizer.register_optimizer_step_pre_hook(lambda *_: self._enter(short_of(OPTIMIZER))),
            optimizer.register_optimizer_step_post_hook(lambda *_: self._leave()),
        )
        self.reset()

    def reset(self) -> None:
        """This thread is in no module: whatever an exception left open is over."""
        assert self._say is not None
        outside = short_of(OUTSIDE)
        self._open.texts[:] = [outside]
        self._say(outside)

    def end(self) -> None:
        """Nothing is said any more."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        if self._say is not None:
            self._say("")

    def _enter(self, short: str) -> None:
        assert self._say is not None
        self._open.texts.append(short)
        self._say(short)

    def _leave(self) -> None:
        assert self._say is not None
        texts = self._open.texts
        if texts:
            texts.pop()
        self._say(texts[-1] if texts else "")

    def _watch(self, module: Any, label: str) -> None:
        import torch

        is_compiling = torch.compiler.is_compiling
        in_backward = getattr(torch._C, "_current_autograd_node", lambda: None)
        outside = short_of(OUTSIDE)
        known: dict[str, str] = {}  # by the one around it

        def before(*_: object) -> None:
            if is_compiling():
                return
            texts = self._open.texts
            around = texts[-1] if texts else ""
            if around in ("", outside):
                around = _FORWARD if in_backward() is None else _AGAIN
            short = known.get(around)
            if short is None:
                short = known[around] = short_of(f"{whole_of(around)}{BETWEEN}{label}")
            self._enter(short)

        def after(*_: object) -> None:
            if not is_compiling():
                self._leave()

        try:
            self._handles.append(module.register_forward_pre_hook(before))
            self._handles.append(module.register_forward_hook(after, always_call=True))
        except Exception:  # a module of another kind: it is not named
            return


def _named(modules: list[Any]) -> Iterator[tuple[Any, str]]:
    """Modules that hold others, with what they are called below the one around them."""
    held = {id(child) for module in modules for child in _children(module).values()}
    waiting = [(module, "") for module in modules if id(module) not in held]
    seen: set[int] = set()
    named = 0
    while waiting and named < MOST_NAMED:
        module, name = waiting.pop(0)  # level by level
        children = _children(module)
        # Hooks of a module that is compiled in place would be compiled with it.
        is_compiled = getattr(module, "_compiled_call_impl", None) is not None
        if id(module) in seen or is_compiled or (name and not children):
            continue
        seen.add(id(module))
        kind = type(module).__name__
        whole = kind == "OptimizedModule"  # and so would those inside of it
        if name and len(children) == 1 and not whole:  # a wrapper; what it holds does the work
            waiting.insert(0, (*children.values(), name))
            continue
        is_list = kind in ("ModuleList", "ModuleDict")  # never called
        if not is_list:
            named += 1
            yield module, f"{name} ({kind})" if name else kind
        if not whole:
            prefix = f"{name}." if is_list and name else ""
            waiting += [(child, f"{prefix}{key}") for key, child in children.items()]


def _children(module: Any) -> dict[str, Any]:
    own = getattr(module, "__dict__", {}).get("_modules") or {}
    return {name: child for name, child in own.items() if child is not None}
