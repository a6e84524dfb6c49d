"""ONNX's Resize: elements chosen, or products with matrices of interpolation, axis by axis.

Coordinates follow from the lengths when the model is read, so an axis is one `take` for nearest, and one
product with a constant matrix for linear and cubic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import Array


def resize(node: Any) -> Any:
    """Resize and Upsample."""
    if node.op_type == "Upsample":
        scales = node.attr("scales") or list(node.value(1))
        return _resized(node, scales, None, None, "asymmetric", "floor")
    roi = (
        node.value(1)
        if node.has(1) and node.attr("coordinate_transformation_mode") == "tf_crop_and_resize"
        else None
    )
    scales = list(node.value(2).reshape(-1)) if node.has(2) and node.lengths(2) != (0,) else None
    sizes = node.ints("sizes", 3) if node.has(3) else None
    mode = node.attr("coordinate_transformation_mode", "half_pixel" if node.opset >= 11 else "asymmetric")
    nearest = node.attr("nearest_mode", "round_prefer_floor" if node.opset >= 11 else "floor")
    return _resized(node, scales, sizes, roi, mode, nearest)


def _resized(node: Any, scales: Any, sizes: Any, roi: Any, mode: str, nearest: str) -> Any:
    rank = node.rank()
    axes = [axis % rank for axis in node.ints("axes", None, range(rank))]
    lengths, symbol = node.lengths(), node.sym()
    if sizes is not None:
        sizes = _kept(node, [lengths[axis] for axis in axes], list(sizes))
    for place, axis in enumerate(axes):
        old = lengths[axis]
        if old is None:
            if (scales is not None and scales[place] == 1) or (sizes is not None and axis == 0):
                continue
            node.refuse(f"axis {axis} has no length; give shapes")
        scale = float(scales[place]) if scales is not None else sizes[place] / old
        new = int(np.floor(old * scale)) if sizes is None else sizes[place]
        part = None if roi is None else (roi[place], roi[place + len(axes)])
        if new == old and scale == 1 and part in (None, (0, 1)):
            continue
        symbol = _along(node, symbol, axis, old, new, scale, part, mode, nearest)
    return node.call("identity", symbol)


def _kept(node: Any, lengths: Any, sizes: list[int]) -> list[int]:
    """Sizes that keep the ratio, where that is asked for."""
    policy = node.attr("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return sizes
    ratios = [size / length for size, length in zip(sizes, lengths, strict=True)]
    ratio = min(ratios) if policy == "not_larger" else max(ratios)
    return [int(np.floor(ratio * length + 0.5)) for length in lengths]


def _along(
    node: Any, symbol: Any, axis: int, old: int, new: int, scale: float, part: Any, mode: str, nearest: str
) -> Any:
    places = _coordinates(old, new, scale, part, mode)
    if node.attr("mode", "nearest") == "nearest":
        return node.call("take", symbol, node.const(_nearest(places, old, nearest), "int64"), axis=axis)
    matrix = _matrix(node, places, old, scale)
    outside = ((places < 0) | (places > old - 1)) & (mode == "tf_crop_and_resize")
    matrix[outside] = 0
    rank = node.rank()
    order = [*(i for i in range(rank) if i != axis), axis]
    turned = symbol if axis == rank - 1 else node.call("transpose", symbol, axes=tuple(order))
    made = node.call("dot", turned, node.const(matrix.T, node.dtype()))
    if (beyond := outside * node.attr("extrapolation_value", 0.0)).any():
        made = node.call(
            "broadcast_add", made, node.const(beyond.reshape((1,) * (rank - 1) + (-1,)), node.dtype())
        )
    back = tuple(int(i) for i in np.argsort(order))
    return made if axis == rank - 1 else node.call("transpose", made, axes=back)


def _coordinates(old: int, new: int, scale: float, part: Any, mode: str) -> Array:
    """Position of each element of the result in the data."""
    x = np.arange(new, dtype=np.float64)
    if mode == "asymmetric":
        return x / scale
    if mode == "align_corners":
        return x * (old - 1) / (old * scale - 1) if new > 1 else np.zeros(1)
    if mode == "pytorch_half_pixel" and new <= 1:
        return np.zeros(new)
    if mode == "half_pixel_symmetric":
        centre = old / 2 * (1 - new / (old * scale))
        return centre + (x + 0.5) / scale - 0.5
    if mode == "tf_crop_and_resize":
        start, end = (float(p) for p in part)
        if new > 1:
            return start * (old - 1) + x * (end - start) * (old - 1) / (new - 1)
        return np.array([0.5 * (start + end) * (old - 1)])
    return (x + 0.5) / scale - 0.5


def _nearest(places: Array, length: int, rule: str) -> Array:
    rules: dict[str, Any] = {
        "round_prefer_floor": lambda x: np.ceil(x - 0.5),
        "round_prefer_ceil": lambda x: np.floor(x + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    return np.clip(rules[rule](places), 0, length - 1).astype(np.int64)


def _matrix(node: Any, places: Array, length: int, scale: float) -> Array:
    """Share of each element of the data in each of the result."""
    is_cubic = node.attr("mode") == "cubic"
    spread = max(1 / scale, 1.0) if node.attr("antialias", 0) else 1.0
    reach = int(np.ceil((2 if is_cubic else 1) * spread)) + 1
    matrix = np.zeros((len(places), length))
    for row, place in enumerate(places):
        columns = np.arange(int(np.floor(place)) - reach, int(np.floor(place)) + reach + 1)
        distances = np.abs(columns - place) / spread
        shares = (
            _cubic(distances, node.attr("cubic_coeff_a", -0.75)) if is_cubic else np.maximum(1 - distances, 0)
        )
        inside = (columns >= 0) & (columns < length)
        if node.attr("exclude_outside", 0):
            shares = shares * inside
        shares = shares / shares.sum()
        np.add.at(matrix[row], np.clip(columns, 0, length - 1), shares)
    return matrix


def _cubic(x: Array, a: float) -> Array:
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))
