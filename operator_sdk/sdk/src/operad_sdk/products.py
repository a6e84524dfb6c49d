"""Products of matrices: by kernels in vector code where these are faster, by BLAS elsewhere.

Large ones are divided among the threads of the pool; each part is a product of BLAS on one thread, or of a
kernel. BLAS's own threads turn for tens of milliseconds after a product, on cores that others want. What a
part gives follows from shapes alone, so a result does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

import numpy as np

from operad.operator import FORWARD, Array, Cost, KernelCall, OpContext
from operad_sdk.multiplication import reason_for_blas
from operad_sdk.vector import InVectorCode, tiled_product
from operad_sdk.vector.tiles import DIVIDED_FLOPS

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

F = TypeVar("F", bound=Callable[..., Any])
Factors = Callable[..., tuple[Any, ...]]
"""A function that names what a gradient, or forward, does, and returns the arguments of `product` for it."""

_DIVIDED_FLOPS: Final = 2.0**25
"""Operations from which a product is divided: about 0.3 ms."""
_PARTS: Final = 4
_FEWEST: Final = 32
"""Rows of a part, or columns: with fewer, reading the other matrix costs more than the products."""
_TOGETHER: Final = 16
"""Rows of which BLAS computes some at once: parts have multiples of them."""


def product(left: Array, right: Array, out: Array, scale: float = 1.0) -> None:
    """Write `scale * left @ right`, without a copy where strides allow that.

    Args:
        left: Matrices in the last two axes, (..., N, K).
        right: As many matrices, (..., K, M).
        out: To be written, of shape (..., N, M), or of another shape with as many elements.
        scale: 0 gives 0, as in BLAS, whatever the matrices have.
    """
    _multiply(left, right, out, scale, np.matmul)


def divided_product(op_ctx: OpContext, left: Array, right: Array, out: Array, scale: float = 1.0) -> None:
    """`product` in parts, which the threads of the run divide among themselves."""

    def multiply(left: Array, right: Array, out: Array) -> None:
        while left.ndim > 2 and len(left) == 1:
            left, right, out = left[0], right[0], out[0]
        count, factors = _cut(left, right, out)

        def part(number: int, slot: int) -> None:
            np.matmul(*factors(number))

        op_ctx.parallel(part, count, min(op_ctx.num_threads, count))

    _multiply(left, right, out, scale, multiply)


def divided(operator: type[OperatorProperty], part: str) -> Callable[[F], F]:
    """Declare a kernel of a part of an operator, which computes large products by `divided_product`.

    It is taken on the host, where the operator's `cost` has enough `flops`.
    """
    name = "in_parts" if part == FORWARD else f"{part}_in_parts"
    return operator.kernel(part, name=name, priority=1, when=_is_divided, cost=_divided_cost)


def divide(operator: type[OperatorProperty], **parts: Factors) -> None:
    """Declare such kernels for parts that are one product each.

    Args:
        parts: For each part what gives the factors, and where the product is written.
    """
    for name, factors in parts.items():
        divided(operator, name)(_kernel(factors, divided_product))


def tile(operator: type[OperatorProperty], **parts: Factors) -> None:
    """Declare kernels in vector code for parts that are one product each, taken where BLAS is slower.

    Args:
        parts: As for `divide`; behind the product there may be a bias, which is added to each row, or None.
    """
    for part, factors in parts.items():
        # What takes no run is called with arrays alone: forward has a kernel for products in one piece, too.
        if part == FORWARD:
            _declare_tiles(operator, part, "in_vectors", factors, in_one_piece=True)
            _declare_tiles(operator, part, "in_vectors_in_parts", factors, in_one_piece=False)
        else:
            _declare_tiles(operator, part, f"{part}_in_vectors", factors, in_one_piece=False)


def _declare_tiles(
    operator: type[OperatorProperty], part: str, name: str, factors: Factors, *, in_one_piece: bool
) -> None:
    when = InVectorCode(_Refusal(factors, in_one_piece=in_one_piece))
    declare = operator.kernel(part, device="cpu", name=name, priority=2, when=when, cost=_tiled_cost)
    declare(_kernel(factors, tiled_product if in_one_piece else _tiled_in_parts, takes_run=not in_one_piece))


def _tiled_in_parts(op_ctx: OpContext, *factors: Any) -> None:
    tiled_product(*factors, op_ctx=op_ctx)


@final
class _Refusal:
    """Reason why another kernel computes the product that a function gives the factors of."""

    def __init__(self, factors: Factors, *, in_one_piece: bool) -> None:
        self._factors = factors
        self._in_one_piece = in_one_piece
        self._names = list(signature(factors).parameters)

    def __call__(self, call: KernelCall, is_large: bool) -> str | None:
        """The reason; None if there is none. With `is_large` the sizes are none."""
        kinds = {dtype.kind for dtype in call.in_types}
        if kinds != {"f"}:
            return "vector code computes in float32 and float64"
        is_double = np.dtype(np.float64) in call.in_types
        dtype = np.dtype(np.float64 if is_double else np.float32)
        shapes: dict[str, Any] = call.memo.get("shapes") or _shapes(call)
        # For an array one whose memory nobody touches.
        given = [
            np.empty(shapes[name], dtype) if name in shapes
            else None if name in (call.prop.optional_inputs or ())
            else getattr(call.prop, name)
            for name in self._names
        ]  # fmt: skip
        left, right, out, *_ = self._factors(*given)
        rows = left.shape[-2]
        if 0 in (*left.shape, right.shape[-1]):
            return "there is nothing to compute"
        if out.ndim > 2 and out.strides[-1] != out.itemsize:
            return "BLAS writes columns that are in one piece each"
        if is_large:
            return None
        flops = 2.0 * rows * right.size
        if self._in_one_piece and flops >= DIVIDED_FLOPS and call.threads > 1:
            return f"{flops:.3g} operations are worth parts"
        return reason_for_blas(rows, right)


def _shapes(call: KernelCall) -> dict[str, Any]:
    """Shapes of arrays and their gradients, by what functions call them; found once for all kernels."""
    names = [*call.prop.list_arguments(), *call.prop.list_outputs()]
    own = dict(zip(names, (*call.in_shapes, *call.out_shapes), strict=True))
    found = call.memo["shapes"] = {f"{name}_grad": shape for name, shape in own.items()} | own
    return found


def _kernel(
    factors: Factors, multiply: Callable[..., None], *, takes_run: bool = True
) -> Callable[..., None]:
    """The function of a kernel: it takes the run, unless told not to, and what `factors` takes."""

    def compute(*given: Any) -> None:
        multiply(*factors(*given))

    def compute_in_run(op_ctx: OpContext, *given: Any) -> None:
        multiply(op_ctx, *factors(*given))

    own = signature(factors)
    made: Callable[..., None] = compute_in_run if takes_run else compute
    context = [Parameter("op_ctx", Parameter.POSITIONAL_OR_KEYWORD)] if takes_run else []
    made.__signature__ = own.replace(parameters=[*context, *own.parameters.values()])  # type: ignore[attr-defined]
    return made


def _multiply(left: Array, right: Array, out: Array, scale: float, multiply: Callable[..., Any]) -> None:
    if not scale:
        out[...] = 0
        return
    shape = (*left.shape[:-1], right.shape[-1])
    if out.shape != shape and not out.flags.c_contiguous:
        target = np.empty(shape, out.dtype)
        _multiply(left, right, target, scale, multiply)
        out[...] = target.reshape(out.shape)
        return
    out = out.reshape(shape)
    if left.shape[-1] == 1:  # of which BLAS makes three times the work
        np.multiply(left, right, out=out)
    else:
        multiply(left, right, out)
    if scale != 1:
        out *= scale


def _cut(left: Array, right: Array, out: Array) -> tuple[int, Callable[[int], tuple[Array, Array, Array]]]:
    """Number of parts, and what gives the arrays of each: some matrices, or some rows or columns of one."""
    is_matrix, by_rows = left.ndim == 2, len(left) >= right.shape[-1]
    length = len(left) if by_rows or not is_matrix else right.shape[1]
    count = min(_PARTS, length // _FEWEST if is_matrix else length)
    step = -(-length // max(1, count))
    if is_matrix:
        step = -(-step // _TOGETHER) * _TOGETHER

    def factors(number: int) -> tuple[Array, Array, Array]:
        some = slice(number * step, (number + 1) * step)
        if not is_matrix:
            return left[some], right[some], out[some]
        if by_rows:
            return left[some], right, out[some]
        return left, right[:, some], out[:, some]

    return -(-length // max(1, step)), factors


@final
class _IsDivided:
    """Condition: products are so large that their parts are worth handing over."""

    def __call__(self, call: KernelCall) -> bool | str:
        """True, or the reason why not."""
        if call.ctx.is_gpu:
            return "threads of the host divide products of the host"
        flops = _cost(call).product_flops
        return flops >= _DIVIDED_FLOPS or f"{flops:.3g} operations, parts pay from {_DIVIDED_FLOPS:.3g}"

    def regardless_of_size(self, call: KernelCall) -> bool:
        """True on the host: the checks try the kernels on small arrays."""
        return not call.ctx.is_gpu


_is_divided: Final = _IsDivided()


def _cost(call: KernelCall) -> Cost:
    found: Cost = call.prop.cost(call.in_shapes, call.out_shapes)
    return found


def _divided_cost(call: KernelCall) -> Cost:
    whole = _cost(call)
    return whole._replace(flops=0.0, single_flops=whole.product_flops, beside_us=20)


def _tiled_cost(call: KernelCall) -> Cost:
    whole = _cost(call)
    pooled_us = whole._replace(loops=0.0, size_bytes=0.0).work_us if whole.flops >= DIVIDED_FLOPS else 0.0
    return whole._replace(flops=0.0, single_flops=whole.product_flops, pooled_us=pooled_us)
