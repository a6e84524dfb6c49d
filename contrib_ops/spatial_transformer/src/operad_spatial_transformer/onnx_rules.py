"""Grids and samples of images as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from operad_spatial_transformer.onnx_grid import grid_sampled

Rule = str | Callable[[Any], Any]


def _line(length: int) -> Any:
    return np.linspace(-1, 1, length) if length > 1 else np.zeros(1)


def _affine(node: Any, theta: str, shape: tuple[int, int]) -> str:
    """The grid (N, 2, H, W) of matrices: products with (x, y, 1) of all pixels."""
    y, x = np.meshgrid(*map(_line, shape), indexing="ij")
    base = node.const(np.stack([x.ravel(), y.ravel(), np.ones(x.size)]))
    product = node.add("MatMul", node.add("Reshape", theta, node.ints(-1, 2, 3)), base)
    return str(node.add("Reshape", product, node.ints(-1, 2, *shape)))


def _sampled(node: Any, data: str, grid: str) -> Any:
    last = node.add("Transpose", grid, perm=(0, 2, 3, 1))
    mode = "linear" if node.opset >= 20 else "bilinear"
    return node.add("GridSample", data, last, mode=mode, padding_mode="zeros", align_corners=1)


def _grid(node: Any) -> Any:
    """An affine grid, or where each pixel moves to."""
    if node.op.transform_type == "affine":
        return _affine(node, node.inputs[0], tuple(node.op.target_shape))
    height, width = node.fixed_lengths(0, 2)
    y, x = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    half = np.array([width - 1 or 1, height - 1 or 1]).reshape(2, 1, 1) / 2
    moved = node.add("Div", node.add("Add", node.inputs[0], node.const(np.stack([x, y]))), node.const(half))
    return node.add("Sub", moved, node.const(np.array([width > 1, height > 1]).reshape(2, 1, 1)))


def _transformer(node: Any) -> Any:
    shape = tuple(node.op.target_shape) if any(node.op.target_shape) else node.fixed_lengths(0, 2)
    return _sampled(node, node.inputs[0], _affine(node, node.inputs[1], shape))


EXPORTS: Final[Mapping[str, Rule]] = {
    "BilinearSampler": lambda node: _sampled(node, *node.inputs),
    "GridGenerator": _grid,
    "SpatialTransformer": _transformer,
}


def _from_grid(node: Any) -> Any:
    """BilinearSampler between corners with zeros outside, else by gathered elements."""
    usual = (
        node.attr("mode", "linear") in ("linear", "bilinear")
        and node.attr("padding_mode", "zeros") == "zeros"
        and node.rank() == 4
    )
    if not usual or (not node.attr("align_corners", 0) and 1 in node.shape()[2:]):
        return grid_sampled(node)
    grid = node.call("transpose", node.sym(1), axes=(0, 3, 1, 2))
    if not node.attr("align_corners", 0):  # -1 is the left side of the first pixel, and not its centre
        height, width = node.shape()[2:]
        scale = np.array([width / (width - 1), height / (height - 1)]).reshape(1, 2, 1, 1)
        grid = node.call("broadcast_mul", grid, node.const(scale, node.dtype(1)))
    return node.call("BilinearSampler", node.sym(), grid)


IMPORTS: Final[Mapping[str, Rule]] = {"GridSample": _from_grid}
