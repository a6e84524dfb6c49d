"""GridSample of any mode as sums of gathered elements, where BilinearSampler has no form.

Along each axis a sample reads one, two or four elements, each with a position and a weight. Elements are
gathered for each combination of them, times the product of the weights.

Source: GridSample of the standard; the cubic kernel is Keys' with -0.75.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import numpy as np

_CUBIC: Final = -0.75


def grid_sampled(node: Any) -> Any:
    """Samples (N, C, *O) of data (N, C, *S) at a grid (N, *O, len(S)), the last axis's coordinate first."""
    mode, padding = node.attr("mode", "linear").removeprefix("bi"), node.attr("padding_mode", "zeros")
    count, channels, *lengths = node.shape()
    rank, flat = len(lengths), np.prod(lengths)
    data = node.call("transpose", node.sym(), axes=(0, *range(2, rank + 2), 1))
    data = node.reshape(data, (-1, channels))
    image = np.arange(count).reshape(-1, *(1,) * (rank + 1)) * flat
    strides = [int(np.prod(lengths[axis + 1 :])) for axis in range(rank)]
    each = [_elements(node, axis, length, mode, padding) for axis, length in enumerate(lengths)]
    total = None
    for chosen in product(*each):
        place, weight = node.const(image, node.dtype(1)), None
        for (position, own), stride in zip(chosen, strides, strict=True):
            place = node.call("broadcast_add", place, node.call("_mul_scalar", position, scalar=stride))
            weight = own if weight is None else node.call("broadcast_mul", weight, own)
        found = node.call("take", data, node.call("squeeze", place, axis=rank + 1), axis=0)
        found = node.call("broadcast_mul", found, node.cast(weight, node.dtype()))
        total = found if total is None else node.call("broadcast_add", total, found)
    return node.call("transpose", total, axes=(0, rank + 1, *range(1, rank + 1)))


def _elements(node: Any, axis: int, length: int, mode: str, padding: str) -> list[tuple[Any, Any]]:
    """Positions and weights along an axis, of shape (N, *O, 1)."""
    last = node.rank() - 3 - axis
    at = node.call("slice_axis", node.sym(1), axis=-1, begin=last, end=last + 1)
    between = bool(node.attr("align_corners", 0))  # whether -1 is the centre of the first, or its side
    at = node.call("_mul_scalar", _plus(node, at, 1), scalar=(length - between) / 2)
    at = at if between else _plus(node, at, -0.5)
    at = _rounded(node, at) if mode == "nearest" else at
    at = _inside(node, at, length, padding, between)
    first = node.call("floor", at)
    part = node.call("broadcast_sub", at, first)
    found = []
    for offset, weight in enumerate(_weights(node, part, mode), -1 if mode == "cubic" else 0):
        place = _plus(node, first, offset)
        if padding == "zeros":
            is_in = [node.call("_greater_equal_scalar", place, scalar=0)]
            is_in += [node.call("_lesser_equal_scalar", place, scalar=length - 1)]
            for one in is_in:
                weight = node.call("broadcast_mul", weight, one)
        place = _inside(node, place, length, padding, between)
        found.append((node.call("clip", place, a_min=0, a_max=length - 1), weight))
    return found


def _rounded(node: Any, at: Any) -> Any:
    """The nearest integer; of two the even one, which `rint` here does not take."""
    up = node.call("floor", _plus(node, at, 0.5))
    is_half = node.call("_equal_scalar", node.call("broadcast_sub", up, at), scalar=0.5)
    odd = node.call("_mod_scalar", up, scalar=2)
    return node.call("broadcast_sub", up, node.call("broadcast_mul", is_half, odd))


def _inside(node: Any, at: Any, length: int, padding: str, between: bool) -> Any:
    """Positions that padding moves: to the border, or back from it."""
    if padding == "border":
        return node.call("clip", at, a_min=0, a_max=length - 1)
    if padding == "zeros":
        return at
    low, size = (0.0, length - 1.0) if between else (-0.5, float(length))
    if size == 0:
        return node.call("_mul_scalar", at, scalar=0)
    at = node.call("_mod_scalar", _plus(node, at, -low), scalar=2 * size)
    return _plus(
        node, node.call("_rminus_scalar", node.call("abs", _plus(node, at, -size)), scalar=size), low
    )


def _weights(node: Any, part: Any, mode: str) -> list[Any]:
    if mode == "nearest":
        return [node.call("ones_like", part)]
    if mode == "linear":
        return [node.call("_rminus_scalar", part, scalar=1), part]
    near = (_CUBIC + 2, -_CUBIC - 3, 0, 1)
    far = (_CUBIC, -5 * _CUBIC, 8 * _CUBIC, -4 * _CUBIC)
    rest = node.call("_rminus_scalar", part, scalar=1)
    pairs = [(_plus(node, part, 1), far), (part, near), (rest, near), (_plus(node, rest, 1), far)]
    return [_polynomial(node, at, numbers) for at, numbers in pairs]


def _polynomial(node: Any, at: Any, numbers: tuple[float, ...]) -> Any:
    made = node.call("_mul_scalar", at, scalar=numbers[0])
    for number in numbers[1:-1]:
        made = node.call("broadcast_mul", _plus(node, made, number), at)
    return _plus(node, made, numbers[-1])


def _plus(node: Any, symbol: Any, number: float) -> Any:
    return node.call("_plus_scalar", symbol, scalar=number) if number else symbol
