"""Products of matrices in vector code: kernels, their tables, and calls in parts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from operad_sdk.vector.layout import Kernel, TableLayout
from operad_sdk.vector.machine import host
from operad_sdk.vector.product_text import (
    ALIGNED,
    BLOCK,
    WORDS,
    ProductPattern,
    ProductText,
    ProductTile,
    Right,
)
from operad_sdk.vector.writer import LANES

_TILES: Final = {32: ProductTile(8, 2), 8: ProductTile(6, 1)}
"""By how many vectors registers hold."""
_ADDRESSES: Final = tuple(WORDS.index(name) for name in ("left", "right", "bias", "out"))


@lru_cache(maxsize=1024)
def _kernel(pattern: ProductPattern) -> Kernel:
    return Kernel(ProductText(pattern).text)


def product_layout(
    left: NDArray[Any], right: NDArray[Any], out: NDArray[Any], *, has_bias: bool = False, adds: bool = False
) -> TableLayout:
    """The kernel for matrices that lie so, and its table: left, right, bias if there is one, and product."""
    return _layout(left.dtype.name, left.shape, left.strides, right.shape, right.strides, out.strides, has_bias, adds)


@lru_cache(maxsize=4096)
def _layout(kind, left, left_strides, right, right_strides, out_strides, has_bias, adds):
    size = np.dtype(kind).itemsize
    (rows, inner), columns, lanes = left, right[1], LANES[size]
    most = _TILES[host().vectors_held]
    panel = most.vectors if columns > lanes else 1
    tiles = -(-rows // most.rows)
    tile = ProductTile(-(-rows // tiles), panel)
    whole, rest = divmod(rows, tile.rows)
    panels, left_over = divmod(columns, panel * lanes)
    vectors = -(-left_over // lanes)
    if vectors == panel:
        panels, vectors = panels + 1, 0
    order: Right = "rows" if right_strides[1] == size else "columns"
    step = right_strides[0 if order == "rows" else 1]
    pattern = ProductPattern(kind, tile, rest, vectors, order, has_bias, adds, inner > BLOCK)
    table = (0, *left_strides, 0, step, 0, 0, out_strides[0], whole, inner, columns, panels)
    positions = [i for i in _ADDRESSES if has_bias or WORDS[i] != "bias"]
    scratch = (min(inner, BLOCK) + lanes) * panel * ALIGNED + ALIGNED
    return TableLayout(_kernel(pattern), panels + bool(vectors), table, tuple(positions), scratch)
