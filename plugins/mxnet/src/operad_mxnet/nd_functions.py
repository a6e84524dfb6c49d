"""Functions of `mx.nd` that are no operators.

Source: python/mxnet/ndarray/ndarray.py and utils.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad import cpu, nd
from operad.errors import ArgumentError, ShapeError, UnsupportedError


def linspace(
    start: float, stop: float, num: int, endpoint: bool = True, ctx: Any = None, dtype: Any = np.float32
) -> Any:
    """`num` evenly spaced values from `start` to `stop`, or up to it without `endpoint`."""
    return nd._linspace(
        start=start, stop=stop, num=num, endpoint=endpoint, ctx=ctx, dtype=np.dtype(dtype).name
    )


def split_points(length: int, indices_or_sections: Any) -> tuple[int, ...]:
    """Positions where the parts begin.

    Raises:
        ShapeError: The axis cannot be cut into so many equal parts.
        ArgumentError: `indices_or_sections` is neither an integer nor integers.
    """
    if isinstance(indices_or_sections, int):
        if indices_or_sections < 1 or length % indices_or_sections:
            raise ShapeError(
                f"split_v2: got {indices_or_sections} sections, expected a divisor of the axis's "
                f"length, {length}; or give a tuple of positions"
            )
        step = length // indices_or_sections
        return tuple(range(0, length, step)) if length else (0,) * indices_or_sections
    if isinstance(indices_or_sections, (tuple, list)):
        return (0, *indices_or_sections)
    raise ArgumentError(f"split_v2: got {indices_or_sections!r}, expected an integer or a tuple of integers")


def split_v2(ary: Any, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False) -> Any:
    """The parts of an array between some positions of an axis, or its equal parts."""
    points = split_points(ary.shape[axis], indices_or_sections)
    return nd._split_v2(ary, indices=points, axis=axis, squeeze_axis=squeeze_axis)


def moveaxis(tensor: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
    """The array with axes at other positions, the rest in order.

    Raises:
        ShapeError: An axis does not exist or is named twice, or the numbers of both differ.
    """
    rank = tensor.ndim
    moved, positions = (_axes(given, rank) for given in (source, destination))
    if len(moved) != len(positions):
        raise ShapeError(f"moveaxis: {len(moved)} axes to {len(positions)} places, expected as many")
    order = [axis for axis in range(rank) if axis not in moved]
    for position, axis in sorted(zip(positions, moved, strict=True)):
        order.insert(position, axis)
    return nd.transpose(tensor, axes=order)


def _axes(given: int | Sequence[int], rank: int) -> list[int]:
    axes = [given] if isinstance(given, int) else list(given)
    found = [axis + rank if axis < 0 else axis for axis in axes]
    if len(set(found)) != len(found) or any(not 0 <= axis < rank for axis in found):
        raise ShapeError(
            f"moveaxis: {given!r} names axes of an array of {rank}, expected distinct ones of it"
        )
    return found


def histogram(a: Any, bins: Any = 10, range: tuple[float, float] | None = None) -> Any:
    """Number of elements in each bin, and the edges of the bins.

    Args:
        a: The elements.
        bins: Their number, or an array of edges.
        range: Outermost edges where `bins` is a number; those of the elements if None.
    """
    if isinstance(bins, nd.NDArray):
        return nd._histogram(a, bins)
    if not isinstance(bins, int):
        raise ArgumentError(f"histogram: bins is {bins!r}, expected an integer or an NDArray of edges")
    low, high = (a.min().asscalar(), a.max().asscalar()) if range is None else range
    if range is None and low == high:  # as NumPy widens it
        low, high = low - 0.5, high + 0.5
    return nd._histogram(a, bin_cnt=bins, range=(float(low), float(high)))


def onehot_encode(indices: Any, out: Any) -> Any:
    """Rows of zeros with a one where `indices` says, written to `out`."""
    return nd._onehot_encode(indices, out, out=out)


def from_numpy(ndarray: Any, zero_copy: bool = True, array_cls: Any = None) -> Any:
    """An array of a NumPy array's values, over its memory where that may be.

    Such a NumPy array becomes read-only, since only the engine orders writes.

    Raises:
        ArgumentError: It is no NumPy array, or one that is not contiguous.
    """
    if not isinstance(ndarray, np.ndarray):
        raise ArgumentError(f"from_numpy: got {type(ndarray).__name__}, expected a NumPy array")
    if not zero_copy:
        return nd.array(ndarray, dtype=ndarray.dtype)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise ArgumentError("from_numpy: the array is not contiguous; give zero_copy=False")
    if not ndarray.flags.writeable:
        return nd.array(ndarray, dtype=ndarray.dtype)
    (made,) = nd.over([ndarray.view(np.ndarray)], cpu())  # a view stays writable, for the engine
    ndarray.flags["WRITEABLE"] = False
    return made


def to_dlpack_for_read(data: Any) -> Any:
    """A DLPack capsule over the array's memory, after waiting for its values."""
    data.wait_to_read()
    return data.__dlpack__()


def to_dlpack_for_write(data: Any) -> Any:
    """A DLPack capsule over the array's memory, after waiting for all that uses it."""
    data.wait_to_write()
    return data.__dlpack__()


def imdecode(
    str_img: bytes, clip_rect: Any = (0, 0, 0, 0), out: Any = None, index: int = 0, channels: int = 3,
    mean: Any = None,
) -> Any:  # fmt: skip
    """Raises UnsupportedError; MXNet 1.x deprecates it as well."""
    raise UnsupportedError(
        "imdecode: nd.imdecode is gone; use image.imdecode, and crop and subtract from that"
    )


def load_frombuffer(buf: bytes) -> Any:
    """The arrays in the bytes of a `.params` file."""
    return nd.loads(buf)
