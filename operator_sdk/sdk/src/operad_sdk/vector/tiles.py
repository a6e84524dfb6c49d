"""Products of matrices in vector code: kernels, their tables, and calls in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, final

import numpy as np

from operad.dtypes import DType
from operad.operator import Array, OpContext, Shape
from operad_sdk.addresses import data_address
from operad_sdk.vector.array_calls import ArrayCall, strided_call, thread_memory
from operad_sdk.vector.layout import BoundKernel, Kernel, TableLayout
from operad_sdk.vector.machine import host
from operad_sdk.vector.primitives import NoVectorCodeError
from operad_sdk.vector.product_text import (
    ALIGNED,
    BLOCK,
    MOST_IN_A_SUM,
    PackTable,
    PackText,
    ProductPattern,
    ProductTable,
    ProductText,
    ProductTile,
    Right,
)
from operad_sdk.vector.team import has_team, team
from operad_sdk.vector.writer import LANES

_TILES: Final = {32: ProductTile(8, 2), 8: ProductTile(6, 1)}
"""By how many vectors registers hold. Other shapes of as many sums are as fast."""
_LOCKED_FLOPS: Final = 2.0**20
"""Operations up to which a call keeps the interpreter's lock: 10 us."""
DIVIDED_FLOPS: Final = 2.0**23
"""Operations from which a product is divided: 80 us."""
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
        left: (N, K), of any strides; or a stack of matrices, (..., N, K), by as many right ones.
        right: (K, M), copied unless rows or columns are in one piece each; or (..., K, M).
        out: (N, M), or another shape with as many elements; or (..., N, M). Shares no memory with the others.
        bias: (M,), added to each row; or None.
        adds: Whether the product is added to what is there.
        op_ctx: Whose threads compute parts of a large product; None: the calling thread computes all.

    Raises:
        NoVectorCodeError: There is no vector code in this process.
    """
    if not out.size:
        return
    shape = (*left.shape[:-1], right.shape[-1])
    if out.shape != shape and out.flags.c_contiguous:
        out = out.reshape(shape)
    program = _program(
        out.dtype.char, left.shape, left.strides, right.shape, right.strides, out.shape, out.strides,
        None if bias is None else bias.strides, adds,
    )  # fmt: skip
    arrays = (left, right, out) if bias is None else (left, right, out, bias)
    if program is None and len(shape) > 2:
        for matrices in zip(left, right, out, strict=True):
            tiled_product(*matrices, bias, adds=adds, op_ctx=op_ctx)
    elif program is None:
        target = out.reshape(shape).copy() if adds else np.empty(shape, out.dtype)
        bias = None if bias is None else np.ascontiguousarray(bias)
        tiled_product(left, np.ascontiguousarray(right), target, bias, adds=adds, op_ctx=op_ctx)
        out[...] = target.reshape(out.shape)
    else:
        _run(
            op_ctx,
            program,
            arrays,
            lambda rows: tiled_product(left[rows], right, out[rows], bias, adds=adds),
        )


def _run(
    op_ctx: OpContext | None,
    program: _Program,
    arrays: tuple[Array, ...],
    compute_rows: Callable[[slice], None],
) -> None:
    """Compute all, or some panels side by side; or some rows, where there are fewer panels than threads."""
    if op_ctx is None or program.flops < DIVIDED_FLOPS or op_ctx.num_threads == 1:
        program.call(*arrays)
        return
    threads, units, rows = op_ctx.num_threads, program.layout.units, len(arrays[0])
    most = threads * _PARTS_OF_A_THREAD
    if units >= threads:
        count, bound = min(units, most), BoundKernel(program.layout, arrays)
        if has_team():
            team.run(bound, count, threads)
            return

        def part(number: int, _: int) -> None:
            some = (units * number // count, units * (number + 1) // count)
            bound.run(*some, thread_memory(bound.scratch_bytes))

    elif arrays[0].ndim > 2:
        program.call(*arrays)
        return
    else:
        together = _TILES[host().vectors_held].rows
        step = -(-rows // (most * together)) * together
        count = -(-rows // step)

        def part(number: int, _: int) -> None:
            compute_rows(slice(number * step, (number + 1) * step))

    op_ctx.parallel(part, count, threads)


@final
class PackedMatrix:
    """The right matrix of several products, where kernels read it.

    Attributes:
        shape: (K, M).
        memory: `packed_elements(shape, dtype)` elements, filled by `pack`.

    Args:
        shape: Likewise.
        memory: Likewise.
    """

    def __init__(self, shape: Shape, memory: Array) -> None:
        self.shape: Final = shape
        self.memory: Final = memory

    @staticmethod
    def of(matrix: Array) -> PackedMatrix:
        """A matrix of any strides, copied.

        Raises:
            NoVectorCodeError: There is no vector code in this process.
        """
        made = PackedMatrix.empty(matrix.shape, matrix.dtype)
        pack(matrix, made.memory)
        return made

    @staticmethod
    def empty(shape: Shape, dtype: DType) -> PackedMatrix:
        """Memory that is yet to be filled; behind the last row there are zeros, as `pack` leaves."""
        size_bytes = packed_elements(shape, dtype) * dtype.itemsize
        memory = np.empty(size_bytes + ALIGNED, np.uint8)
        begin = -data_address(memory) % ALIGNED
        packed = memory[begin : begin + size_bytes].view(dtype)
        packed[-_slack(_panels(shape[1], dtype.itemsize), dtype.itemsize) :] = 0
        return PackedMatrix(shape, packed)

    def packing(self, matrix: Array) -> TableLayout:
        """Layout of the kernel that copies a matrix here, for that and `memory`.

        Args:
            matrix: Rows or columns are in one piece each.
        """
        found = _order(matrix.shape, matrix.strides, matrix.itemsize)
        assert found is not None, "neither rows nor columns of a matrix are in one piece"
        return _pack_layout(
            matrix.dtype.char, *found, *matrix.shape, _panels(matrix.shape[1], matrix.itemsize)
        )

    def multiply(
        self,
        left: Array,
        out: Array,
        bias: Array | None = None,
        *,
        adds: bool = False,
        op_ctx: OpContext | None = None,
    ) -> None:
        """Write `left @ matrix + bias`, with the bits that `tiled_product` gives.

        Args:
            left: (N, K), of any strides.
            out: (N, M), each row in one piece; shares no memory with the others.
            bias: (M,) in one piece, added to each row; or None.
            adds: Whether the product is added to what is there.
            op_ctx: Whose threads compute parts of a large product; None: the calling thread computes all.
        """
        program = self._program(left, out, bias, adds=adds)
        arrays = (left, self.memory, out) if bias is None else (left, self.memory, out, bias)
        _run(
            op_ctx,
            program,
            arrays,
            lambda rows: self.multiply(left[rows], out[rows], bias, adds=adds),
        )

    def layout(
        self, left: Array, out: Array, bias: Array | None = None, *, adds: bool = False
    ) -> TableLayout:
        """Layout of `multiply` for the left matrix, `memory`, the product and, if there is one, the bias."""
        return self._program(left, out, bias, adds=adds).layout

    def _program(self, left: Array, out: Array, bias: Array | None, *, adds: bool) -> _Program:
        strides = None if bias is None else bias.strides
        program = _program(
            out.dtype.char, left.shape, left.strides, self.shape, None, out.shape, out.strides, strides, adds
        )
        assert program is not None, "rows of a product, or its bias, are not in one piece"
        return program


def product_layout(
    left: Array, right: Array, out: Array, bias: Array | None = None, *, adds: bool = False
) -> TableLayout:
    """Layout of `left @ right + bias`, for these arrays in this order.

    Args:
        adds: Whether the product is added to what is there.
        right: Rows or columns are in one piece each.
        out: (N, M), each row in one piece.

    Raises:
        NoVectorCodeError: They are not so.
    """
    program = _program(
        out.dtype.char, left.shape, left.strides, right.shape, right.strides, out.shape, out.strides,
        None if bias is None else bias.strides, adds,
    )  # fmt: skip
    if program is None:
        raise NoVectorCodeError("rows of a product, or its bias, are not in one piece")
    return program.layout


def packed_elements(shape: Shape, dtype: DType) -> int:
    """Number of elements that `pack` fills for a matrix (K, M)."""
    panels = _panels(shape[1], dtype.itemsize)
    vectors = shape[0] * (panels.whole * panels.vectors + panels.last)
    return vectors * LANES[dtype.itemsize] + _slack(panels, dtype.itemsize)


def _slack(panels: _Panels, size: int) -> int:
    """Number of elements behind the last row, in which turned columns end."""
    return panels.vectors * LANES[size] ** 2


def pack(matrix: Array, out: Array) -> None:
    """Copy a matrix of any strides to `packed_elements` elements, which lie in one piece.

    Raises:
        NoVectorCodeError: There is no vector code in this process.
    """
    size = matrix.itemsize
    if _order(matrix.shape, matrix.strides, size) is None:
        matrix = np.ascontiguousarray(matrix)
    panels = _panels(matrix.shape[1], size)
    out[-_slack(panels, size) :] = 0  # which turned columns may reach, and else nothing writes
    BoundKernel(PackedMatrix(matrix.shape, out).packing(matrix), (matrix, out)).run()


class _Panels(NamedTuple):
    """Panels of a matrix: how many whole ones, their vectors, and those of one that is left over."""

    whole: int
    vectors: int
    last: int

    @property
    def number(self) -> int:
        return self.whole + bool(self.last)


def _panels(columns: int, size: int) -> _Panels:
    lanes = LANES[size]
    vectors = _TILES[host().vectors_held].vectors if columns > lanes else 1
    whole, left_over = divmod(columns, vectors * lanes)
    last = -(-left_over // lanes)
    return _Panels(whole + 1, vectors, 0) if last == vectors else _Panels(whole, vectors, last)


@lru_cache(maxsize=1024)
def _kernel(pattern: ProductPattern) -> Kernel:
    return Kernel(ProductText(pattern).text, "product")


def _order(shape: Shape, strides: Shape, size: int) -> tuple[Right, int] | None:
    """Order of a right matrix, and bytes from each row, or column, to the next; None if it has neither."""
    if strides[1] == size or shape[1] == 1 or not shape[0]:
        return "rows", strides[0]
    return ("columns", strides[1]) if strides[0] == size or shape[0] == 1 else None


@lru_cache(maxsize=64)
def _pack_kernel(kind: str, right: Right, vectors: int, last: int) -> Kernel:
    return Kernel(PackText(kind, right, vectors, last).text, "packing of a matrix")


@lru_cache(maxsize=256)
def _pack_layout(
    kind: str, right: Right, step: int, inner: int, columns: int, panels: _Panels
) -> TableLayout:
    kernel = _pack_kernel(np.dtype(kind).name, right, panels.vectors, panels.last)
    table = PackTable(right=0, right_step=step, out=0, inner=inner, columns=columns, panels=panels.whole)
    return TableLayout.of(kernel, panels.number, table, ("right", "out"))


def _stacked(shape: Sequence[int], strides: Sequence[Shape]) -> tuple[int, Shape]:
    """Number of matrices, and bytes from each to the next of each array; none if these differ."""
    count, steps = 1, (0,) * len(strides)
    for axis in reversed(range(len(shape))):
        own = tuple([each[axis] if each else 0 for each in strides])
        if shape[axis] == 1:
            continue
        if count > 1 and own != tuple([count * step for step in steps]):
            return 0, ()
        steps, count = steps if count > 1 else own, count * shape[axis]
    return count, steps


@lru_cache(maxsize=4096)
def _program(
    kind: str,
    left: Shape,
    left_strides: Shape,
    right: Shape,
    right_strides: Shape | None,
    out: Shape,
    out_strides: Shape,
    bias_strides: Shape | None,
    adds: bool,
) -> _Program | None:
    """The kernel for arrays of these shapes and strides; None if there is none.

    Without strides the right matrix is packed.
    """
    dtype = np.dtype(kind)
    size, (*stack, rows, inner), columns = dtype.itemsize, left, right[-1]
    packed: tuple[Right, int] = ("packed", 0)
    found = packed if right_strides is None else _order(right[-2:], right_strides[-2:], size)
    has_rows = columns == 1 or (out_strides[-1] == size and bias_strides in (None, (size,)))
    count, steps = _stacked(stack, (left_strides, right_strides or (), out_strides))
    if found is None or out != (*stack, rows, columns) or not has_rows or not steps:
        return None
    order, step = found
    panels, most = _panels(columns, size), _TILES[host().vectors_held]
    tile = ProductTile(-(-rows // -(-rows // most.rows)), panels.vectors)
    whole, rest = divmod(rows, tile.rows)
    has_bias = bias_strides is not None
    is_long, is_stack = inner > MOST_IN_A_SUM, count > 1
    pattern = ProductPattern(dtype.name, tile, rest, panels.last, order, has_bias, adds, is_long, is_stack)
    table = ProductTable(
        left=0, left_row=left_strides[-2], left_inner=left_strides[-1], right=0, right_step=step, bias=0,
        out=0, out_row=out_strides[-2], tiles=whole, inner=inner, columns=columns, panels=panels.whole,
        every=panels.number, left_matrix=steps[0], right_matrix=steps[1], out_matrix=steps[2],
    )  # fmt: skip
    scratch_bytes = (((BLOCK if is_long else inner) + LANES[size]) * panels.vectors + 1) * ALIGNED
    arrays = ["left", "right", "out", *["bias"] * has_bias]
    units = count if is_stack else panels.number
    layout = TableLayout.of(_kernel(pattern), units, table, arrays, scratch_bytes)
    flops = 2.0 * count * rows * inner * columns
    return _Program(layout, strided_call(layout, keeps_lock=flops < _LOCKED_FLOPS), flops)
