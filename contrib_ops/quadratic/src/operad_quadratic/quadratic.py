"""`_contrib_quadratic`: the quadratic function."""

from __future__ import annotations

from typing import Any

from operad_sdk import Array, Contract, param, unary


def _coefficient(doc: str) -> Any:
    return param(float, 0.0, doc=doc)


def _powers(data: Array, a: float, b: float, c: float) -> Array:
    """The same, power by power."""
    return a * data**2 + b * data + c


@unary(
    "_contrib_quadratic",
    accepts="number",
    integers_as="float64",
    inplace="data",
    contract=Contract(reference=_powers),
)
def quadratic(
    data: Array,
    a: float = _coefficient("Factor of the square."),
    b: float = _coefficient("Factor of the element."),
    c: float = _coefficient("The number to add."),
) -> Array:
    """`a x² + b x + c`.

    Shapes:
        data: Any.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd._contrib_quadratic(od.nd.array([1, 2, 3]), a=1, b=2, c=3).asnumpy()
        array([ 6., 11., 18.], dtype=float32)

    Source: quadratic_forward, src/operator/contrib/quadratic_op-inl.h.
    """
    return (a * data + b) * data + c  # Horner's rule, as in MXNet: other sums overflow elsewhere


@quadratic.gradient(inplace="output_grad")
def _(output_grad: Array, data: Array, a: float, b: float) -> Array:
    return output_grad * (2 * a * data + b)  # d/dx = 2 a x + b
