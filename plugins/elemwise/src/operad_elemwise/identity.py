"""Operators that return their argument and differ in the gradient: a copy, a wall, a loss."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, binary, unary


@unary("_copy", inplace="data", contract=Contract(reference=lambda data: data))
def identity(data: Array, out: Array) -> None:
    """The array itself.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.identity(od.nd.array([1, 2])).asnumpy()
        array([1., 2.], dtype=float32)
    """
    np.copyto(out, data)


@identity.gradient(inplace="ograd")
def _(ograd: Array, out: Array) -> None:
    np.copyto(out, ograd)


@unary(
    "BlockGrad",
    inplace="data",
    contract=Contract(reference=lambda data: data, no_numeric_gradient="it is there to stop gradients"),
)
def block_grad(data: Array, out: Array) -> None:
    """The array itself; no gradient goes back through it.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.BlockGrad(od.nd.array([1, 2])).asnumpy()
        array([1., 2.], dtype=float32)
    """
    np.copyto(out, data)


@unary(
    "make_loss",
    inplace="data",
    contract=Contract(
        reference=lambda data: data, ignores_head_gradient="a loss, at the end of a network", loss=np.sum
    ),
)
def make_loss(data: Array, out: Array) -> None:
    """The array itself, as a loss: its gradient is 1, whatever comes from above.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.make_loss(od.nd.array([1, 2])).asnumpy()
        array([1., 2.], dtype=float32)
    """
    np.copyto(out, data)


@make_loss.gradient
def _(out: Array) -> None:
    out.fill(1)


@binary("_identity_with_attr_like_rhs", inplace="lhs", contract=Contract(reference=lambda lhs, rhs: lhs))
def identity_with_attr_like_rhs(lhs: Array, rhs: Array, out: Array) -> None:
    """The left array; the right one tells shape inference its shape.

    Shapes:
        lhs: (...)
        rhs: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> x, like = od.nd.array([1, 2]), od.nd.array([3, 4])
        >>> od.nd._identity_with_attr_like_rhs(x, like).asnumpy()
        array([1., 2.], dtype=float32)
    """
    np.copyto(out, lhs)


@identity_with_attr_like_rhs.gradient("lhs", inplace="ograd")
def _(ograd: Array, out: Array) -> None:
    np.copyto(out, ograd)
