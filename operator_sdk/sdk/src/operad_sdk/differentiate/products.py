"""Derivatives of products of matrices, and of what LAPACK computes of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from math import prod
from string import ascii_letters
from typing import Any

import numpy as np

from operad_sdk.differentiate.dispatch import FUNCTIONS, UFUNCS
from operad_sdk.differentiate.tracing import Primitive


def _turned(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


_matmul = Primitive(
    np.matmul,
    lambda g, y, a, b: np.matmul(g, _turned(b)),
    lambda g, y, a, b: np.matmul(_turned(a), g),
    fits=True,
)
# d(A^-1) = -A^-1 dA A^-1
_inverse = Primitive(np.linalg.inv, lambda g, y, a: -np.matmul(np.matmul(_turned(y), g), _turned(y)))
# A dX = dB - dA X
_solution = Primitive(
    np.linalg.solve,
    lambda g, y, a, b: -np.matmul(np.linalg.solve(_turned(a), g), _turned(y)),
    lambda g, y, a, b: np.linalg.solve(_turned(a), g),
    fits=True,
)


def _product(a: Any, b: Any) -> Any:
    """Product of matrices; a vector is a row on the left or a column on the right, and loses that axis."""
    rows = a[None, :] if a.ndim == 1 else a
    columns = b[:, None] if b.ndim == 1 else b
    found = _matmul(rows, columns)
    shape = found.shape
    shape = shape[:-1] if b.ndim == 1 else shape
    shape = (*shape[: -2 + (b.ndim == 1)], *shape[-1 + (b.ndim == 1) :]) if a.ndim == 1 else shape
    return found if shape == found.shape else found.reshape(shape)


def _dot(a: Any, b: Any, out: Any = None) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b, out=out)
    result = _product(a, b) if b.ndim <= 2 else np.tensordot(a, b, (-1, -2))
    if out is not None:
        out[...] = result
    return result if out is None else out


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    if isinstance(axes, int):
        axes = (range(a.ndim - axes, a.ndim), range(axes))
    summed_a = [one % a.ndim for one in np.atleast_1d(axes[0])]
    summed_b = [one % b.ndim for one in np.atleast_1d(axes[1])]
    kept_a = [one for one in range(a.ndim) if one not in summed_a]
    kept_b = [one for one in range(b.ndim) if one not in summed_b]
    rows, columns = [a.shape[one] for one in kept_a], [b.shape[one] for one in kept_b]
    length = prod(a.shape[one] for one in summed_a)
    left = np.transpose(a, (*kept_a, *summed_a)).reshape((prod(rows), length))
    right = np.transpose(b, (*summed_b, *kept_b)).reshape((length, prod(columns)))
    return _matmul(left, right).reshape((*rows, *columns))


def _einsum(subscripts: str, *operands: Any) -> Any:
    """A product along named axes: all operands broadcast over all axes, multiplied and summed."""
    if not isinstance(subscripts, str):
        raise NotImplementedError
    terms, arrow, result = subscripts.replace(" ", "").partition("->")
    names, free = terms.split(","), sorted(set(ascii_letters) - set(terms))
    left = [one.ndim - len(term.replace("...", "")) for term, one in zip(names, operands, strict=True)]
    others = "".join(free[: max(left)])
    names = [term.replace("...", others[len(others) - n :]) for term, n in zip(names, left, strict=True)]
    if not arrow:  # the axes that are named once
        result = "..." + "".join(one for one in sorted(terms) if one.isalpha() and terms.count(one) == 1)
    result = result.replace("...", others)
    if any(len(set(term)) < len(term) for term in names):
        raise NotImplementedError
    every = [*result, *sorted(set("".join(names)) - set(result))]
    lying = []
    for term, operand in zip(names, operands, strict=True):
        order = [term.index(name) for name in every if name in term]
        shape = [operand.shape[term.index(name)] if name in term else 1 for name in every]
        lying.append(np.transpose(operand, order).reshape(shape))
    total = reduce(np.multiply, lying)
    summed = tuple(range(len(result), len(every)))
    return total.sum(summed, dtype=total.dtype) if summed else total


def multilinear(compute: Callable[..., Any], count: int) -> list[Primitive]:
    """Steps whose derivatives are each other: slopes of a number that is linear in each of some arrays.

    Such a number is the sum of a convolution's output times a head gradient: its slope by the head is the
    output, those by data and weight are their gradients. Each is linear in each of the other arrays, so the
    slope of a slope is one of them once more, with a gradient in the place of an array.

    Args:
        compute: Called with the position of an array, and then with the others: the slope by that one.
        count: How many arrays there are.
    """

    def pulling(target: int, source: int) -> Callable[..., Any]:
        def pull(g: Any, y: Any, *others: Any, **options: Any) -> Any:
            arrays = [*others[:target], g, *others[target:]]
            del arrays[source]
            return made[source](*arrays, **options)

        return pull

    made = [
        Primitive(
            partial(compute, target),
            *[pulling(target, source) for source in range(count) if source != target],
        )
        for target in range(count)
    ]
    return made


UFUNCS[np.matmul] = _product
FUNCTIONS.update({
    np.dot: _dot, np.tensordot: _tensordot, np.einsum: _einsum, np.linalg.inv: _inverse,
    np.linalg.solve: _solution,
})  # fmt: skip
