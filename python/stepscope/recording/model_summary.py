"""The model in figures: layers, parameters, multiply-adds, sizes; into model.json beside the rank.

Counted by running one batch and looking on, or from what was seen of a pass that the program
made; torchinfo, where it is installed, knows more layers. A model is left as it was: its mode, its
gradients, its hooks, the state of the random numbers.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import sys
from collections.abc import Callable, Mapping
from typing import Any

SCHEMA = "stepscope.model/1"


def summary_of(model: Any, batch: Any | None) -> dict[str, Any]:
    """What model.json holds.

    Args:
        model: a torch module.
        batch: what it is called with: a tensor, a list or tuple of arguments, or a dictionary of
            named ones. None: nothing is run, so neither shapes nor multiplications are known.
    """
    while type(model).__name__ == "OptimizedModule" and hasattr(model, "_orig_mod"):
        model = model._orig_mod  # torch.compile's wrapper
    layers = _layers(model)
    if batch is None:
        return _content(model, layers)
    _count_pass(model, batch, layers)
    by = _ask_torchinfo(model, batch, [one for one in layers if one["uncounted"]])
    _add_upwards(layers)
    sums = _sums(layers, sum(map(bytes_of, tensors_in(batch))))
    return (
        _content(model, layers) | sums | {"counted_by": f"stepscope, {by}" if by else "stepscope"}
    )


def summary_of_seen(model: Any, seen: Mapping[int, Calls], input_bytes: int) -> dict[str, Any]:
    """The same of a pass that was only looked at.

    Args:
        model: a torch module.
        seen: what was taken down, by `id` of the layer.
        input_bytes: that the pass was given.
    """
    layers = _layers(model)
    for one in layers:
        calls = seen.get(id(one["module"]), Calls())
        one.update(calls.figures(one["parameters"] > 0))
    _add_upwards(layers)
    return _content(model, layers) | _sums(layers, input_bytes)


def _content(model: Any, layers: list[dict[str, Any]]) -> dict[str, Any]:
    total, inside = layers[0], {"leaf", "uncounted", "module"}
    return {
        "schema": SCHEMA,
        "counted_by": "stepscope",
        "name": type(model).__name__,
        "parameters": total["parameters"],
        "trainable": total["trainable"],
        "parameter_bytes": total["parameter_bytes"],
        "buffer_bytes": sum(bytes_of(one) for one in _unique(model.buffers())),
        "layers": [{k: v for k, v in one.items() if k not in inside} for one in layers],
    }


def _sums(layers: list[dict[str, Any]], input_bytes: int) -> dict[str, Any]:
    leaves = [one for one in layers if one["leaf"]]
    return {
        "mult_adds": layers[0]["mult_adds"],
        "uncounted": sum(one["uncounted"] for one in leaves),
        "input_bytes": input_bytes,
        "output_bytes": sum(one["output_bytes"] for one in leaves),
    }


def _ask_torchinfo(model: Any, batch: Any, unknown: list[dict[str, Any]]) -> str | None:
    """Its count of the layers that have no formula here; its name, where it knows one of them.

    Of those alone: of a linear layer it counts one row of each sample, though there are many.
    """
    if not unknown:
        return None
    try:
        import torchinfo  # type: ignore[import-not-found, unused-ignore]

        data = dict(batch) if isinstance(batch, Mapping) else batch
        with _as_it_was(model), _as_written():
            summary = torchinfo.summary(model, input_data=data, verbose=0, device=_device_of(model))
        known: dict[int, int] = {}
        for layer in summary.summary_list:
            known[layer.layer_id] = known.get(layer.layer_id, 0) + int(layer.macs)
        version = importlib.metadata.version("torchinfo")
    except Exception:  # not installed, or a model it cannot run
        return None
    found = [one for one in unknown if known.get(id(one["module"]), 0) > 0]
    for one in found:
        one |= {"mult_adds": known[id(one["module"])], "uncounted": 0}
    return f"torchinfo {version}" if found else None


def _device_of(model: Any) -> Any:
    first = next(model.parameters(), None)
    return None if first is None else first.device


def _layers(model: Any) -> list[dict[str, Any]]:
    """A layer before those inside it; one that stands in two places is counted where it is first.

    Sums are with the layers inside, shared parameters once.
    """
    layers = []
    for name, module in model.named_modules():
        own = _unique(module.parameters())
        layers.append(
            {
                "module": module,
                "name": name,
                "type": type(module).__name__,
                "depth": name.count(".") + 1 if name else 0,
                "calls": 0,
                "parameters": sum(_numbers_in(one) for one in own),
                "trainable": sum(_numbers_in(one) for one in own if one.requires_grad),
                "parameter_bytes": sum(map(bytes_of, own)),
                "leaf": next(module.children(), None) is None,
                "uncounted": 0,
            }
        )
    return layers


def _unique(tensors: Any) -> list[Any]:
    return list({id(one): one for one in tensors}.values())


def _numbers_in(tensor: Any) -> int:
    try:
        return int(tensor.numel())
    except Exception:  # a lazy layer that has not seen its first batch
        return 0


def bytes_of(tensor: Any) -> int:
    """0 for what is no tensor."""
    return _numbers_in(tensor) * int(getattr(tensor, "element_size", lambda: 0)())


def tensors_in(value: Any) -> list[Any]:
    """All tensors in a batch or an output."""
    if hasattr(value, "element_size"):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [tensor for one in value for tensor in tensors_in(one)]
    return []


def _count_pass(model: Any, batch: Any, layers: list[dict[str, Any]]) -> None:
    """Runs the batch and takes down what each layer gets and gives."""
    import torch

    seen = [(one, Calls()) for one in layers]

    def looking_on(calls: Calls) -> Callable[[Any, Any, Any, Any], None]:
        def hook(module: Any, args: Any, named: Any, output: Any) -> None:
            calls.take_down(module, tensors_in([args, named]), tensors_in(output))

        return hook

    handles = [
        one["module"].register_forward_hook(looking_on(calls), with_kwargs=True)
        for one, calls in seen
    ]
    try:
        with _as_it_was(model), _as_written(), torch.no_grad():
            _call(model, batch)
    finally:
        for handle in handles:
            handle.remove()
    for one, calls in seen:
        one.update(calls.figures(one["parameters"] > 0))


def _as_written() -> contextlib.AbstractContextManager[Any]:
    """Nothing is compiled for our look at it, and nothing that is compiled is run.

    Hooks would be compiled, too, and the training's own first step compile once more. That cannot
    be avoided before torch 2.6.
    """
    if "torch._dynamo" not in sys.modules:  # nothing compiles, and to ask would load the compiler
        return contextlib.nullcontext()
    import torch

    stance = getattr(torch.compiler, "set_stance", None)
    return contextlib.nullcontext() if stance is None else stance("force_eager")


def _add_upwards(layers: list[dict[str, Any]]) -> None:
    """What leaves do is done by all layers around them; nothing known of any is not known."""
    by_name = {one["name"]: one for one in layers}
    unknown = set()
    for one in layers:
        if not one["leaf"] or not one["name"]:
            continue
        above = one["name"]
        while above:
            above = above.rpartition(".")[0]
            by_name[above]["mult_adds"] += one["mult_adds"] or 0
            if one["uncounted"]:
                unknown.add(above)
    for name in unknown:
        by_name[name]["mult_adds"] = by_name[name]["mult_adds"] or None


def _call(model: Any, batch: Any) -> None:
    if isinstance(batch, Mapping):
        model(**batch)
    elif isinstance(batch, list | tuple):
        model(*batch)
    else:
        model(batch)


class Calls:
    """What a layer was given and gave, over the calls of a pass."""

    def __init__(self) -> None:
        self._calls = self._output_bytes = self._mult_adds = 0
        self._has_formula = True
        self._shapes: dict[str, list[int]] = {}  # of the first tensors of the first call

    def take_down(self, module: Any, given: list[Any], gave: list[Any]) -> None:
        """One call, by the tensors of its arguments and of its output."""
        if self._calls == 0:
            for name, tensors in (("input", given), ("output", gave)):
                if tensors:
                    self._shapes[name] = list(tensors[0].shape)
        self._calls += 1
        self._output_bytes += sum(map(bytes_of, gave))
        if next(module.children(), None) is not None:
            return
        counted = _mult_adds(module, given, gave)
        self._has_formula &= counted is not None
        self._mult_adds += counted or 0

    def figures(self, has_parameters: bool) -> dict[str, Any]:
        """Of a layer's row."""
        is_unknown = has_parameters and not self._has_formula
        return {
            "calls": self._calls,
            **self._shapes,
            "mult_adds": None if is_unknown else self._mult_adds,
            "output_bytes": self._output_bytes,
            "uncounted": int(is_unknown),
        }


_RECURRENT = ("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell")


def _mult_adds(module: Any, given: list[Any], gave: list[Any]) -> int | None:
    """Multiplications of one call; None: no formula. Bias is addition alone."""
    kind = type(module).__name__
    if not gave or not given:
        return None
    weight = getattr(module, "weight", None)
    if kind in ("Linear", "NonDynamicallyQuantizableLinear"):
        return int(gave[0].numel()) * int(module.in_features)
    if kind in ("Conv1d", "Conv2d", "Conv3d"):
        return int(gave[0].numel()) * (_numbers_in(weight) // int(module.out_channels))
    if kind == "Conv1D" and weight is not None:  # of transformers: a Linear, turned around
        return int(gave[0].numel()) * int(weight.shape[0])
    if kind in ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"):
        return int(given[0].numel()) * (_numbers_in(weight) // int(module.in_channels))
    if kind in ("Embedding", "EmbeddingBag"):
        return 0  # a look-up
    if kind == "Bilinear":
        return int(gave[0].numel()) * int(module.in1_features) * (int(module.in2_features) + 1)
    if kind in _RECURRENT:  # each weight once for every time of every sample
        rows = int(given[0].numel()) // int(module.input_size)
        weights = (one for name, one in module.named_parameters() if name.startswith("weight"))
        return rows * sum(map(_numbers_in, weights))
    if kind == "PReLU" or ("Norm" in kind and weight is not None):
        return int(gave[0].numel())
    return 0 if next(module.parameters(), None) is None else None


class _as_it_was:  # noqa: N801  (read as a phrase: with _as_it_was(model))
    """Evaluation mode meanwhile, so that running means and dropout stay out of it."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __enter__(self) -> None:
        import torch

        self._modes = [(one, one.training) for one in self._model.modules()]
        self._random = torch.random.get_rng_state()
        self._model.eval()

    def __exit__(self, *error: object) -> None:
        import torch

        for module, mode in self._modes:
            module.training = mode
        torch.random.set_rng_state(self._random)
