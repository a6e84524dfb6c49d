"""NumPy's products of arrays of any rank: `matmul`, `tensordot`, `outer` and `kron`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import prod
from typing import Any, Final

import numpy as np

from operad_matrix.contraction import Contraction, contract, gradient, path
from operad_sdk import (
    Array,
    Contract,
    Cost,
    OpContext,
    OperatorProperty,
    ParamError,
    Shape,
    ShapeError,
    operator,
    param,
    product_cost,
)
from operad_sdk.products import divided, divided_product

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Product(OperatorProperty):
    """Base class of operators that are one contraction of their arrays, which a subclass names."""

    accepts = "number"
    compute_dtype = "float32"
    spec = "a:(*A), b:(*B) -> output:(*product(A, B))"

    @property
    def functions(self) -> Mapping[str, Callable[..., Shape]]:  # type: ignore[override]
        """The shape of the result."""
        return {"product": lambda *shapes: self.shaped(*shapes) or (1,)}

    def contraction(self, *shapes: Shape) -> Contraction:
        """The contraction of arrays of these shapes."""
        raise NotImplementedError

    def shaped(self, *shapes: Shape) -> Shape:
        """The shape of the result; () of a number."""
        contraction = self.contraction(*shapes)
        lengths = contraction.lengths(shapes)
        return tuple(lengths[letter] for letter in contraction.result)

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Multiplications and additions along the path."""
        _, flops = path(self.contraction(*in_shapes), tuple(in_shapes))
        return product_cost(flops, *in_shapes, *out_shapes)._replace(beside_us=20)

    def computed(self, arrays: Sequence[Array], output: Array, *multiply: Any) -> None:
        """Write the contraction."""
        terms = self.contraction(*(array.shape for array in arrays))
        output[...] = contract(terms, arrays, *multiply).reshape(output.shape)

    def slope(self, output_grad: Array, arrays: Sequence[Array], number: int) -> Array:
        """The gradient of one of the arrays."""
        return gradient(self.contraction(*(array.shape for array in arrays)), output_grad, arrays, number)


class ProductOfTwo(Product):
    """Base class of those of two arrays."""

    def forward(self, a: Array, b: Array, output: Array) -> None:
        """One product of matrices."""
        self.computed([a, b], output)

    def a_grad(self, output_grad: Array, a: Array, b: Array) -> Array:
        """The product with `b` over the axes that `b` alone has."""
        return self.slope(output_grad, [a, b], 0)

    def b_grad(self, output_grad: Array, a: Array, b: Array) -> Array:
        """The product with `a` over the axes that `a` alone has."""
        return self.slope(output_grad, [a, b], 1)


def _in_parts(op_ctx: OpContext) -> Callable[[Array, Array], Array]:
    def multiply(left: Array, right: Array) -> Array:
        made = np.empty((*left.shape[:-1], right.shape[-1]), left.dtype)
        divided_product(op_ctx, left, right, made)
        return made

    return multiply


@operator("matmul")
class matmul(ProductOfTwo):
    """The matrix product over the last axis of `a` and the last but one of `b`; the axes before broadcast.

    `d/da = output_grad b^T` and `d/db = a^T output_grad`, summed over what was repeated.

    Shapes:
        a: (..., N, K), or (K,), a row.
        b: (..., K, M), or (K,), a column.
        output: (..., N, M) without the axis of a row or column; (1,) of both.

    Example:
        >>> import operad as od
        >>> od.nd.matmul(od.nd.array([[1, 2], [3, 4]]), od.nd.array([1, 10])).asnumpy()
        array([21., 43.], dtype=float32)

    Source: MatmulForward, src/operator/numpy/np_matmul_op-inl.h.
    """

    contract = Contract(reference=lambda a, b: np.atleast_1d(np.matmul(a, b)))

    def contraction(self, *shapes: Shape) -> Contraction:
        """Rows by columns, behind axes counted from the last."""
        a, b = shapes
        if not (a and b and a[-1] == b[-2:][0]):
            raise ShapeError(
                f"a has shape {a} and b {b}, expected the last axis of a as long as the last but one of b"
            )
        batch = _LETTERS[: max(len(a), len(b), 2) - 2]
        left = batch[len(batch) - max(len(a) - 2, 0) :] + "XK"[2 - min(len(a), 2) :]
        right = batch[len(batch) - max(len(b) - 2, 0) :] + "KZ"[: min(len(b), 2)]
        return Contraction((left, right), batch + "X" * (len(a) > 1) + "Z" * (len(b) > 1))


def _axes(axes: Sequence[int], ndim: int, what: str) -> list[int]:
    if wrong := [axis for axis in axes if not -ndim <= axis < ndim]:
        raise ShapeError(f"{what} has axis {wrong[0]}, expected {-ndim} to {ndim - 1} for {ndim} axes")
    return [axis % ndim for axis in axes]


class _TensorDot(ProductOfTwo):
    """Products summed over pairs of axes."""

    def summed(self, a: Shape, b: Shape) -> tuple[Sequence[int], Sequence[int]]:
        """The axes of both that are summed over."""
        raise NotImplementedError

    def contraction(self, *shapes: Shape) -> Contraction:
        """The axes of a and of b, where those that are summed have one letter."""
        a, b = shapes
        first, second = self.summed(a, b)
        left, right = [*_LETTERS[: len(a)]], [*_LETTERS[len(a) : len(a) + len(b)]]
        for one, other in zip(first, second, strict=True):
            if a[one] != b[other]:
                raise ShapeError(f"axis {one} of a {a} and {other} of b {b} differ, expected one length")
            right[other] = left[one]
        result = [letter for letter in (*left, *right) if (letter in left) != (letter in right)]
        return Contraction(("".join(left), "".join(right)), "".join(result))


@operator("tensordot")
class tensordot(_TensorDot):
    """The sum of products over pairs of axes; the others of `a` come first, then those of `b`.

    Each gradient is such a product of that of the output and the other array.

    Shapes:
        a: (...)
        b: (...), of the same length on each of `b_axes_summed` as a on that of `a_axes_summed`.
        output: The axes that are left; (1,) where there are none.

    Example:
        >>> import operad as od
        >>> a, b = od.nd.array([[1, 2], [3, 4]]), od.nd.array([1, 10])
        >>> od.nd.tensordot(a, b, a_axes_summed=(0,), b_axes_summed=(0,)).asnumpy()
        array([31., 42.], dtype=float32)

    Source: TensordotParam, src/operator/numpy/np_tensordot_op-inl.h.
    """

    a_axes_summed = param("indices", doc="Axes of a, each with its own of b.")
    b_axes_summed = param("indices", doc="Axes of b.")
    contract = Contract(
        param_sets=[
            {"a_axes_summed": (), "b_axes_summed": ()},
            {"a_axes_summed": (-1,), "b_axes_summed": (0,)},
            {"a_axes_summed": (0, 1), "b_axes_summed": (1, 0)},
        ],
        reference=lambda a, b, a_axes_summed, b_axes_summed: np.atleast_1d(
            np.tensordot(a, b, (a_axes_summed, b_axes_summed))
        ),
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if len(self.a_axes_summed) != len(self.b_axes_summed):
            raise ParamError(
                f"tensordot: a_axes_summed is {self.a_axes_summed} and b_axes_summed {self.b_axes_summed}, "
                "expected equally many"
            )

    def summed(self, a: Shape, b: Shape) -> tuple[Sequence[int], Sequence[int]]:
        """As they are given."""
        found = (
            _axes(self.a_axes_summed, len(a), "a_axes_summed"),
            _axes(self.b_axes_summed, len(b), "b_axes_summed"),
        )
        if any(len({*axes}) < len(axes) for axes in found):
            raise ShapeError(f"an axis is named twice: {self.a_axes_summed} of a, {self.b_axes_summed} of b")
        return found


@operator("_npi_tensordot_int_axes")
class tensordot_int_axes(_TensorDot):
    """`tensordot` over the last axes of `a` and as many first ones of `b`.

    Shapes:
        a: (..., *summed)
        b: (*summed, ...)
        output: The axes that are left; (1,) where there are none.

    Example:
        >>> import operad as od
        >>> a, b = od.nd.array([[1, 2], [3, 4]]), od.nd.array([1, 10])
        >>> od.nd._npi_tensordot_int_axes(a, b, axes=1).asnumpy()
        array([21., 43.], dtype=float32)

    Source: TensordotIntAxesParam, src/operator/numpy/np_tensordot_op-inl.h.
    """

    axes = param(int, ge=0, doc="Number of axes to sum over.")
    contract = Contract(reference=lambda a, b, axes: np.atleast_1d(np.tensordot(a, b, axes)))

    def summed(self, a: Shape, b: Shape) -> tuple[Sequence[int], Sequence[int]]:
        """The last and the first."""
        if self.axes > min(len(a), len(b)):
            raise ShapeError(f"axes is {self.axes}, expected at most those of a {a} and of b {b}")
        return range(len(a) - self.axes, len(a)), range(self.axes)


@operator("outer")
class outer(ProductOfTwo):
    """The products of each element of `a` with each of `b`; `d/da = output_grad b`, `d/db = output_grad^T a`.

    Shapes:
        a: (...), taken as a vector.
        b: (...), likewise.
        output: (elements of a, elements of b).

    Example:
        >>> import operad as od
        >>> od.nd.outer(od.nd.array([1, 2]), od.nd.array([3, 4])).asnumpy()
        array([[3., 4.],
               [6., 8.]], dtype=float32)
    """

    contract = Contract(reference=lambda a, b: a.reshape(-1, 1) * b.reshape(1, -1))

    def contraction(self, *shapes: Shape) -> Contraction:
        """All axes, none of them summed."""
        a, b = shapes
        left, right = _LETTERS[: len(a)], _LETTERS[len(a) : len(a) + len(b)]
        return Contraction((left, right), left + right)

    def shaped(self, *shapes: Shape) -> Shape:
        """Two axes."""
        return tuple(map(prod, shapes))


@operator("kron")
class kron(ProductOfTwo):
    """The Kronecker product: each element of `a` is a block, the element times `b`.

    Each gradient is the sum of that of the output times the other array.

    Shapes:
        a: (...); the one with fewer axes has further ones of length 1 in front.
        b: (...)
        output: On each axis the product of both lengths.

    Example:
        >>> import operad as od
        >>> od.nd.kron(od.nd.array([[1, 10]]), od.nd.array([[1, 2]])).asnumpy()
        array([[ 1.,  2., 10., 20.]], dtype=float32)
    """

    contract = Contract(reference=lambda a, b: np.atleast_1d(np.kron(a, b)))

    def contraction(self, *shapes: Shape) -> Contraction:
        """The axes of both in turn, from the last."""
        a, b = shapes
        left, right = _LETTERS[: len(a)], _LETTERS[len(a) : len(a) + len(b)]
        rank = max(len(a), len(b))
        pairs = zip(left.rjust(rank), right.rjust(rank), strict=True)
        return Contraction((left, right), "".join(chain(*pairs)).replace(" ", ""))

    def shaped(self, *shapes: Shape) -> Shape:
        """The product on each axis."""
        whole = [(1,) * (max(map(len, shapes)) - len(shape)) + shape for shape in shapes]
        return tuple(one * other for one, other in zip(*whole, strict=True))


for _operator in (matmul, tensordot, tensordot_int_axes):

    @divided(_operator, "forward")
    def in_parts(op_ctx: OpContext, self: Any, a: Array, b: Array, output: Array) -> None:
        """Large products in parts, for threads."""
        self.computed([a, b], output, _in_parts(op_ctx))
