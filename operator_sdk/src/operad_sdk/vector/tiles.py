"""Products of matrices in vector code: kernels, their tables, and calls in parts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from operad.operator import Array, OpContext, Shape
from operad_sdk.vector.array_calls import ArrayCall, strided_call, thread_memory
from operad_sdk.vector.layout import BoundKernel, Kernel, TableLayout
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
"""By how many vectors registers hold. Other shapes of as many sums are as fast."""
_ADDRESSES: Final = tuple(WORDS.index(name) for name in ("left", "right", "out", "bias"))
_LOCKED_FLOPS: Final = 2.0**20
"""Operations up to which a call keeps the interpreter's lock: 10 us."""
_DIVIDED_FLOPS: Final = 2.0**25
"""Operations from which a product is divided: 0.3 ms."""
_PARTS_OF_A_THREAD: Final = 2
"""Parts for each thread: where one is slow, another takes more of them."""


class _Program(NamedTuple):
    """The kernel for some matrices.

    Attributes:
        layout: Of the left matrix, the right one, the product, and the bias if there is one.
        call: Computes all of it, in this thread.
        flops: Multiplications and additions.
    """

    layout: TableLayout
    call: ArrayCall
    flops: float


def tiled_product(
    left: Array,
    right: Array,
    out: Array,
    bias: Array | None = None,
    *,
    adds: bool = False,
    op_ctx: OpContext | None = None,
) -> None:
    """Write `left @ right + bias` by a kernel in vector code.

    The bits of the product depend on the values and on K alone.

    Args:
        left: (N, K), of any strides.
        right: (K, M), copied unless rows or columns are in one piece each.
        out: (N, M), or another shape with as many elements; shares no memory with the others.
        bias: (M,), added to each row; or None.
        adds: Whether the product is added to what is there.
        op_ctx: Whose threads compute parts of a large product; None: the calling thread computes all.

    Raises:
        NoVectorCodeError: There is no vector code in this process.
    """
    shape = (left.shape[0], right.shape[1])
    if out.shape != shape and out.flags.c_contiguous:
        out = out.reshape(shape)
    program = _program(
        out.dtype.char, left.shape, left.strides, right.shape, right.strides, out.shape, out.strides,
        None if bias is None else bias.strides, adds,
    )  # fmt: skip
    arrays = (left, right, out) if bias is None else (left, right, out, bias)
    if program is None:
        target = out.reshape(shape).copy() if adds else np.empty(shape, out.dtype)
        bias = None if bias is None else np.ascontiguousarray(bias)
        tiled_product(left, np.ascontiguousarray(right), target, bias, adds=adds, op_ctx=op_ctx)
        out[...] = target.reshape(out.shape)
    elif op_ctx is None or program.flops < _DIVIDED_FLOPS or op_ctx.num_threads == 1:
        program.call(*arrays)
    else:
        _compute_parts(op_ctx, program, arrays, adds)


def _compute_parts(op_ctx: OpContext, program: _Program, arrays: tuple[Array, ...], adds: bool) -> None:
    """Compute panels side by side, or rows where there are fewer panels than threads."""
    threads, units = op_ctx.num_threads, program.layout.units
    left, right, out, *bias = arrays
    most = threads * _PARTS_OF_A_THREAD
    if units >= threads:
        count, bound = min(units, most), BoundKernel(program.layout, arrays)

        def part(number: int, _: int) -> None:
            some = (units * number // count, units * (number + 1) // count)
            bound.run(*some, thread_memory(bound.scratch_bytes))

    else:
        together = _TILES[host().vectors_held].rows
        step = -(-len(left) // (most * together)) * together
        count = -(-len(left) // step)

        def part(number: int, _: int) -> None:
            some = slice(number * step, (number + 1) * step)
            tiled_product(left[some], right, out[some], *bias, adds=adds)

    op_ctx.parallel(part, count, threads)


@lru_cache(maxsize=1024)
def _kernel(pattern: ProductPattern) -> Kernel:
    return Kernel(ProductText(pattern).text)


@lru_cache(maxsize=4096)
def _program(
    kind: str,
    left: Shape,
    left_strides: Shape,
    right: Shape,
    right_strides: Shape,
    out: Shape,
    out_strides: Shape,
    bias_strides: Shape | None,
    adds: bool,
) -> _Program | None:
    """The kernel for arrays of these shapes and strides; None if there is none."""
    dtype = np.dtype(kind)
    size = dtype.itemsize
    is_row = right_strides[1] == size
    are_in_pieces = out_strides[-1] == size and bias_strides in (None, (size,))
    if not (is_row or right_strides[0] == size) or out != (left[0], right[1]) or not are_in_pieces:
        return None
    (rows, inner), columns, lanes = left, right[1], LANES[size]
    most = _TILES[host().vectors_held]
    across = most.vectors if columns > lanes else 1
    tile = ProductTile(-(-rows // -(-rows // most.rows)), across)
    whole, rest = divmod(rows, tile.rows)
    panels, left_over = divmod(columns, across * lanes)
    last = -(-left_over // lanes)
    if last == across:
        panels, last = panels + 1, 0
    order: Right = "rows" if is_row else "columns"
    has_bias = bias_strides is not None
    pattern = ProductPattern(dtype.name, tile, rest, last, order, has_bias, adds, inner > BLOCK)
    step = right_strides[0 if is_row else 1]
    table = (0, *left_strides, 0, step, 0, 0, out_strides[0], whole, inner, columns, panels)
    scratch_bytes = ((min(inner, BLOCK) + lanes) * across + 1) * ALIGNED
    positions = _ADDRESSES if has_bias else _ADDRESSES[:-1]
    layout = TableLayout(_kernel(pattern), panels + bool(last), table, positions, scratch_bytes)
    flops = 2.0 * rows * inner * columns
    return _Program(layout, strided_call(layout, keeps_lock=flops < _LOCKED_FLOPS), flops)
