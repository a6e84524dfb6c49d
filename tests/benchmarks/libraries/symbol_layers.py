"""Single layers of convolution networks, of operad and of MXNet alike: each pass by a bound graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.benchmarks.convolution.layers import Layer, error, mean_sizes
from tests.benchmarks.work import Fact, Work


def makers(mx: Any) -> dict[str, Callable[..., Any]]:
    """Makers of rows, by name, for one of the two libraries."""
    return {make.__name__: partial(make, mx) for make in (layer, layer_error)}


def layer(mx: Any, layer: tuple[Any, ...], of: str) -> Work:
    """One pass of a layer."""
    run, result = _pass(mx, Layer(*layer), of)

    def check() -> dict[str, float]:
        run()
        return {of: mean_sizes(result())}

    return Work(run, check=check)


def layer_error(mx: Any, layer: tuple[Any, ...], of: str) -> Fact:
    """Its error against float64."""
    run, result = _pass(mx, Layer(*layer), of)
    run()
    return Fact(error(result(), Layer(*layer).expected()[of]))


def _pass(mx: Any, layer: Layer, of: str) -> tuple[Callable[[], object], Callable[[], np.ndarray]]:
    """The function that computes it, and one that gives what was computed."""
    words = {
        "kernel": (layer.kernel,) * 2, "stride": (layer.stride,) * 2, "pad": (layer.pad,) * 2,
        "dilate": (layer.dilate,) * 2, "num_filter": layer.outputs, "num_group": layer.groups,
        "no_bias": True,
    }  # fmt: skip
    operator = mx.sym.Deconvolution if layer.transposed else mx.sym.Convolution
    arrays = layer.arrays()
    symbol = operator(mx.sym.Variable("data"), weight=mx.sym.Variable("weight"), name="layer", **words)
    requests = {name: "write" if name == of else "null" for name in ("data", "weight")}
    executor = symbol.simple_bind(mx.cpu(), grad_req=requests, data=arrays["data"].shape)
    for name in requests:
        executor.arg_dict[name][:] = arrays[name]
    head = mx.nd.array(arrays["head"])

    def forward() -> None:
        executor.forward(is_train=True)
        mx.nd.waitall()

    def backward() -> None:
        executor.backward([head])
        mx.nd.waitall()

    if of == "forward":
        return forward, lambda: executor.outputs[0].asnumpy()
    forward()
    return backward, lambda: executor.grad_dict[of].asnumpy()
