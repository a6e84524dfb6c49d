"""`where`: elements of one array or another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    Drawn,
    InferredShapes,
    OperatorProperty,
    PartialShape,
    Shape,
    ShapeError,
    gradient,
    operator,
)


def _mask(condition: Array, ndim: int) -> Array:
    """Mask of the condition that broadcasts to `ndim` axes; NaN is not 0."""
    holds: Array = condition if condition.dtype == np.bool_ else condition != 0
    return holds.reshape(holds.shape + (1,) * (ndim - holds.ndim))


def _choose(condition: Array, x: Array, y: Array) -> Array:
    """A sum of both, each with the other's positions left out, for the contract checks."""
    first = (condition != 0).reshape(condition.shape + (1,) * (x.ndim - condition.ndim))
    chosen = np.broadcast_to(first, x.shape)
    output = np.empty(x.shape)
    output[chosen], output[~chosen] = x[chosen], y[~chosen]
    return output


def _shapes(prop: OperatorProperty, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """A condition for each element, or for each row."""
    shape = tuple(choose((1, 2, 3, 5, 0)) for _ in range(max(1, choose((1, 2, 3)))))
    return [shape[: max(1, choose((1, len(shape))))], shape, shape]


@operator("where")
class where(OperatorProperty):
    """The elements of `x` where the condition is not 0, and those of `y` elsewhere.

    `d output / d x` is 1 where `x` was chosen, else 0; for `y` the other way round.

    Shapes:
        condition: As `x`, or (N,), which chooses whole rows; of any type.
        x: (N, ...)
        y: As `x`.
        output: As `x`.

    Example:
        >>> import operad as od
        >>> x, y = od.nd.array([[1, 2], [3, 4]]), od.nd.array([[5, 6], [7, 8]])
        >>> od.nd.where(od.nd.array([[0, 1], [1, 0]]), x, y).asnumpy()
        array([[5., 2.],
               [3., 8.]], dtype=float32)
        >>> od.nd.where(od.nd.array([0, 1]), x, y).asnumpy()
        array([[5., 6.],
               [3., 4.]], dtype=float32)

    Source: WhereOpShape, src/operator/tensor/control_flow_op.h.
    """

    spec = "condition:any(*C), x:(*S), y:(*S) -> output:(*S)"
    contract = Contract(
        inputs={"condition": Drawn(lambda rng, shape, prop, shapes: rng.integers(-1, 2, shape))},
        shapes=_shapes,
        reference=_choose,
        nan_policy="a NaN that is not chosen does not show",
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line, where the condition fits."""
        (condition, x, y), outputs, states = super().infer_shape(in_shapes)
        if condition is not None and x is not None:
            expected = x if len(condition) == len(x) else x[:1]
            if len(condition) != len(expected) or any(
                None not in (one, other) and one != other
                for one, other in zip(condition, expected, strict=True)
            ):
                raise ShapeError(
                    f"where: condition has shape {condition}, expected {x}, that of x, or {x[:1]}, "
                    "one for each row"
                )
        return [condition, x, y], outputs, states

    def forward(condition: Array, x: Array, y: Array, output: Array) -> None:
        """Copy the one, and the other over it."""
        np.copyto(output, y)
        np.copyto(output, x, where=_mask(condition, x.ndim))

    @gradient
    def x_grad(output_grad: Array, condition: Array, x_grad: Array) -> None:
        """The gradient where `x` was chosen."""
        x_grad.fill(0)
        np.copyto(x_grad, output_grad, where=_mask(condition, x_grad.ndim))

    @gradient
    def y_grad(output_grad: Array, condition: Array, y_grad: Array) -> None:
        """The gradient where `y` was chosen."""
        np.copyto(y_grad, output_grad)
        np.copyto(y_grad, 0, where=_mask(condition, y_grad.ndim))
