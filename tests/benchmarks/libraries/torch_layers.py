"""Single layers of convolution networks in PyTorch: each pass by the function that autograd calls for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tests.benchmarks.convolution.layers import Layer, error, mean_sizes
from tests.benchmarks.work import Fact, Work


def makers(_: Any) -> dict[str, Callable[..., Any]]:
    """Makers of rows, by name."""
    return {make.__name__: make for make in (layer, layer_error)}


def layer(layer: tuple[Any, ...], of: str) -> Work:
    """One pass of a layer."""
    run = _pass(Layer(*layer), of)
    return Work(run, check=lambda: {of: mean_sizes(run().numpy())})


def layer_error(layer: tuple[Any, ...], of: str) -> Fact:
    """Its error against float64."""
    return Fact(error(_pass(Layer(*layer), of)().numpy(), Layer(*layer).expected()[of]))


def _pass(layer: Layer, of: str) -> Callable[[], Any]:
    data, weight, head = (torch.from_numpy(value) for value in layer.arrays().values())
    stride, pad, dilate, zero = ([n, n] for n in (layer.stride, layer.pad, layer.dilate, 0))
    words = (stride, pad, dilate, layer.transposed, zero, layer.groups)

    def forward() -> Any:
        with torch.no_grad():
            return torch.convolution(data, weight, None, *words)

    def backward() -> Any:
        wanted = [of == "data", of == "weight", False]
        grads = torch.ops.aten.convolution_backward(head, data, weight, None, *words, wanted)
        return grads[wanted.index(True)]

    return forward if of == "forward" else backward
