"""Rules for ONNX operators of other frameworks' pipelines, which belong to no single operator here.

The domain `ai.onnx.ml` has what scikit-learn's exporter writes around linear models and networks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np


def _shape(node: Any) -> Any:
    """The shape as a value, where it differs from run to run."""
    found = node.call("shape_array", node.sym())
    start, end = node.attr("start", 0), node.attr("end")
    if start == 0 and end is None:
        return found
    return node.call("slice_axis", found, axis=0, begin=start, end=end)


def _scaler(node: Any) -> Any:
    """`(x - offset) scale`, by column."""
    data = node.cast(node.sym(), "float32")
    offset, scale = (
        node.const(np.reshape(node.attr(key), (1, -1)), "float32") for key in ("offset", "scale")
    )
    return node.call("broadcast_mul", node.call("broadcast_sub", data, offset), scale)


def _regressor(node: Any) -> Any:
    """A product with the coefficients of each target, and its intercept."""
    if node.attr("post_transform", "NONE") != "NONE":
        node.refuse(f"post_transform {node.attr('post_transform')!r} has no counterpart")
    targets = node.attr("targets", 1)
    weights = np.reshape(node.attr("coefficients"), (targets, -1))
    made = node.call("dot", node.cast(node.sym(), "float32"), node.const(weights.T, "float32"))
    if node.attr("intercepts") is None:
        return made
    return node.call(
        "broadcast_add", made, node.const(np.reshape(node.attr("intercepts"), (1, -1)), "float32")
    )


def _extracted(node: Any) -> Any:
    return node.call("take", node.sym(), node.reshape(node.sym(1), (-1,)), axis=node.rank() - 1)


def _binary(node: Any) -> Any:
    return node.call("_greater_scalar", node.sym(), scalar=node.attr("threshold", 0.0))


IMPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {
    "Shape": _shape,
    "Size": lambda node: node.reshape(node.call("size_array", node.sym()), ()),
    "ai.onnx.ml::Scaler": _scaler,
    "ai.onnx.ml::LinearRegressor": _regressor,
    "ai.onnx.ml::ArrayFeatureExtractor": _extracted,
    "ai.onnx.ml::Binarizer": _binary,
}
