"""The model in figures: layers, parameters, multiply-adds, sizes; into model.json beside the rank.

torchinfo counts where it is installed; else we do, by running one batch and looking on. A model is
left as it was: its mode, its gradients, its hooks, the state of the random numbers.
"""

from __future__ import annotations

import importlib.metadata
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
    layers = _layers(model)
    if batch is not None:
        _count_pass(model, batch, layers)
    total = layers[0]
    ran = batch is not None
    leaves = [one for one in layers if one["leaf"]]
    content = {
        "schema": SCHEMA,
        "counted_by": "stepscope",
        "name": type(model).__name__,
        "parameters": total["parameters"],
        "trainable": total["trainable"],
        "parameter_bytes": total["parameter_bytes"],
        "buffer_bytes": sum(_bytes_of(one) for one in _unique(model.buffers())),
    }
    if ran:
        content |= {
            "mult_adds": total["mult_adds"],
            "uncounted": sum(one["uncounted"] for one in leaves),
            "input_bytes": sum(map(_bytes_of, _tensors(batch))),
            "output_bytes": sum(one["output_bytes"] for one in leaves),
        }
        _ask_torchinfo(model, batch, content)
    inside = {"leaf", "uncounted", "module"}
    content["layers"] = [{k: v for k, v in one.items() if k not in inside} for one in layers]
    return content


def _ask_torchinfo(model: Any, batch: Any, content: dict[str, Any]) -> None:
    """Its count of multiplications and sizes, where it is installed and manages."""
    try:
        import torchinfo  # type: ignore[import-not-found, unused-ignore]

        data = dict(batch) if isinstance(batch, Mapping) else batch
        with _as_it_was(model):
            told = torchinfo.summary(model, input_data=data, verbose=0, device=_device_of(model))
        content |= {
            "mult_adds": int(told.total_mult_adds),
            "uncounted": 0,
            "input_bytes": int(told.total_input),
            "output_bytes": int(told.total_output_bytes),
            "counted_by": f"torchinfo {importlib.metadata.version('torchinfo')}",
        }
    except Exception:  # not installed, or a model it cannot run
        return


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
                "parameter_bytes": sum(map(_bytes_of, own)),
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


def _bytes_of(tensor: Any) -> int:
    return _numbers_in(tensor) * int(getattr(tensor, "element_size", lambda: 0)())


def _tensors(value: Any) -> list[Any]:
    """All tensors in a batch or an output."""
    if hasattr(value, "element_size"):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [tensor for one in value for tensor in _tensors(one)]
    return []


def _count_pass(model: Any, batch: Any, layers: list[dict[str, Any]]) -> None:
    """Runs the batch and takes down what each layer gets and gives."""
    import torch

    handles = []
    for one in layers:
        one["mult_adds"] = one["output_bytes"] = 0
        handles.append(one["module"].register_forward_hook(_taking_down(one)))
    try:
        with _as_it_was(model), torch.no_grad():
            _call(model, batch)
    finally:
        for handle in handles:
            handle.remove()
    _add_upwards(layers)


def _add_upwards(layers: list[dict[str, Any]]) -> None:
    """What leaves do is done by all layers around them."""
    by_name = {one["name"]: one for one in layers}
    for one in layers:
        if not one["leaf"] or not one["name"]:
            continue
        above = one["name"]
        while above:
            above = above.rpartition(".")[0]
            by_name[above]["mult_adds"] += one["mult_adds"]


def _call(model: Any, batch: Any) -> None:
    if isinstance(batch, Mapping):
        model(**batch)
    elif isinstance(batch, list | tuple):
        model(*batch)
    else:
        model(batch)


def _taking_down(layer: dict[str, Any]) -> Callable[[Any, Any, Any], None]:
    def hook(module: Any, inputs: Any, output: Any) -> None:
        given, gave = _tensors(inputs), _tensors(output)
        if layer["calls"] == 0:
            if given:
                layer["input"] = list(given[0].shape)
            if gave:
                layer["output"] = list(gave[0].shape)
        layer["calls"] += 1
        layer["output_bytes"] += sum(map(_bytes_of, gave))
        if not layer["leaf"]:
            return
        counted = _mult_adds(module, given, gave)
        if counted is None:
            layer["uncounted"] = int(layer["parameters"] > 0)
        else:
            layer["mult_adds"] += counted

    return hook


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
    if kind in ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"):
        return int(given[0].numel()) * (_numbers_in(weight) // int(module.in_channels))
    if kind in ("Embedding", "EmbeddingBag"):
        return 0  # a look-up
    if kind == "Bilinear":
        return int(gave[0].numel()) * int(module.in1_features) * (int(module.in2_features) + 1)
    if "Norm" in kind and weight is not None:
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
