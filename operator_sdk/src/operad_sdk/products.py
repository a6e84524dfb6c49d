"""Products of matrices, of which large ones are divided among the threads of the pool.

Each part is a product of BLAS on one thread. BLAS's own threads turn for tens of milliseconds after a
product, on cores that others want. Parts are cut by shapes alone, so a result does not depend on the number
of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

import numpy as np

from operad.operator import FORWARD, Array, Cost, KernelCall, OpContext

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
        divided(operator, name)(_kernel(factors))


def _kernel(factors: Factors) -> Callable[..., None]:
    def compute(op_ctx: OpContext, *given: Any) -> None:
        divided_product(op_ctx, *factors(*given))

    own = signature(factors)
    context = Parameter("op_ctx", Parameter.POSITIONAL_OR_KEYWORD)
    compute.__signature__ = own.replace(parameters=[context, *own.parameters.values()])  # type: ignore[attr-defined]
    return compute


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
        flops = _cost(call).flops
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
    return whole._replace(flops=0.0, pooled_flops=whole.flops, beside_us=20)
