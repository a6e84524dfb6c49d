"""`_sample_multinomial`: classes drawn with given probabilities, with replacement."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    Distribution,
    InferredShapes,
    OpContext,
    OperadError,
    OperatorProperty,
    ParamError,
    PartialShape,
    Probabilities,
    ResourceRequest,
    Shape,
    ShapeError,
    gradient,
    operator,
    param,
)

_CLASSES: Final = {
    "float16": 1 << 11,
    "float32": 1 << 24,
    "float64": 1 << 53,
    "int32": 1 << 31,
    "uint8": 1 << 8,
}
"""Number of classes that an element type can count."""


def _drawn(batch: Shape, shape: Shape) -> Shape:
    """The output's shape; one draw from one row is an array of one axis."""
    return (*batch, *shape) or (1,)


@operator("_sample_multinomial")
class SampleMultinomial(OperatorProperty):
    """Classes, each drawn with the probability that the last axis of `data` has for it; with replacement.

    A row that does not sum to one gives its classes in proportion. With `get_prob` there is a second output,
    `log p`, of the number `p` in `data` of each class drawn; its gradient is `d log p / dp = 1 / p`.

    Shapes:
        data: (..., K), numbers from 0 up, some of each row more than 0.
        output: (..., *shape), of type `dtype`; (1,) where that has no axis.
        log_prob: As output, of the type of data; only with `get_prob`.

    Example:
        >>> import operad as od
        >>> p = od.nd.array([[0, 1, 0], [0, 0, 1]])
        >>> od.nd.sample_multinomial(p, shape=2).asnumpy()
        array([[1, 1],
               [2, 2]], dtype=int32)

    Source: SampleMultinomialParam, src/operator/random/sample_multinomial_op.h.
    Differs: there, what a row lacks of one goes to a class that does not exist.
    """

    shape = param("shape", (), doc="Shape of the draws for each row.")
    get_prob = param(bool, False, doc="Give the logarithms of the probabilities too.")
    dtype = param("dtype", "int32", doc="Element type of the classes: uint8, int32 or a floating one.")

    functions = {"drawn": _drawn}
    accepts = "floating"
    resource = ResourceRequest.RANDOM
    element_cost = 20
    constant_outputs = ("output0",)
    contract = Contract(
        inputs={"data": Probabilities()},
        params={"shape": ((), (2,), (2, 3)), "dtype": tuple(_CLASSES)},
        distribution=Distribution(
            mean=lambda prop: 0.0,
            variance=lambda prop: 1.0,
            draws=lambda prop, inputs, outputs: _standardized(inputs[0], outputs[0]),
            params=[{"shape": (1000,), "dtype": "float64"}],
            shapes=[(4, 5)],
        ),
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.dtype not in _CLASSES:
            raise ParamError(
                f"{self.name}: parameter 'dtype' is {self.dtype!r}, expected one of {', '.join(_CLASSES)}"
            )

    def spec(self) -> str:
        """Two outputs are numbered, one is not, as in MXNet."""
        if self.get_prob:
            return "data:(*B, K) -> output0:dtype(*drawn(B, shape)), output1:(*drawn(B, shape))"
        return "data:(*B, K) -> output:dtype(*drawn(B, shape))"

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; there is a class to draw, and the output's type holds all."""
        inferred = super().infer_shape(in_shapes)
        classes = (inferred[0][0] or (None,))[-1]
        if classes == 0:
            raise ShapeError(f"{self.name}: data has shape {inferred[0][0]}, expected at least one class")
        if classes is not None and classes > _CLASSES[self.dtype]:
            raise ShapeError(
                f"{self.name}: data has {classes} classes, expected at most {_CLASSES[self.dtype]}, which "
                f"{self.dtype} can number; choose another dtype"
            )
        return inferred

    def forward(self, op_ctx: OpContext, data: Array) -> Any:
        """The class of a draw is the number of classes whose probabilities add up to `u` or less."""
        rows = data.reshape(prod(data.shape[:-1]), data.shape[-1])
        sums = np.cumsum(rows, axis=1, dtype=np.float64)
        _check_rows(self.name, rows, sums[:, -1])
        draws = op_ctx.requested[0].generator.random((len(rows), prod(self.shape)))
        positions = _first_above(sums, draws * sums[:, -1:])
        classes = positions.reshape(_drawn(data.shape[:-1], self.shape)).astype(self.dtype)
        if not self.get_prob:
            return classes
        return classes, np.log(np.take_along_axis(rows, positions, 1)).reshape(classes.shape)

    @gradient(accumulate=True, when=lambda prop: prop.get_prob)
    def data_grad(
        output1_grad: Array, op_ctx: OpContext, data: Array, output0: Array, data_grad: Array
    ) -> None:
        """`d log p / dp = 1 / p` for the class of each draw, and 0 for the others."""
        count = prod(data.shape[:-1])
        rows, target = data.reshape(count, data.shape[-1]), data_grad.reshape(count, data.shape[-1])
        positions = output0.astype(np.intp).reshape(count, output0.size // max(count, 1))
        numbers = op_ctx.xp.arange(count)[:, None]
        slopes = output1_grad.reshape(positions.shape) / rows[numbers, positions]
        op_ctx.xp.add.at(target, (numbers, positions), slopes)
        if not data_grad.flags.c_contiguous:
            data_grad[...] = target.reshape(data_grad.shape)


def _check_rows(name: str, rows: Array, totals: Array) -> None:
    is_bad = ~((totals > 0) & (totals < np.inf) & (rows >= 0).all(axis=1))
    if is_bad.any():
        row = int(is_bad.argmax())
        raise OperadError(
            f"{name}: row {row} of data has the sum {float(totals[row])} and the smallest number "
            f"{float(rows[row].min())}, expected probabilities: numbers from 0 up, some more than 0"
        )


def _first_above(sums: Array, values: Array) -> Array:
    """For each value the first place of its row whose sum is above it, by bisection."""
    low = np.zeros_like(values, np.intp)
    high = np.full_like(low, sums.shape[1] - 1)
    for _ in range((sums.shape[1] - 1).bit_length()):
        middle = (low + high) // 2
        is_below = np.take_along_axis(sums, middle, 1) <= values
        low = np.where(is_below, np.minimum(middle + 1, high), low)
        high = np.where(is_below, high, middle)
    return low


def _standardized(data: Array, classes: Array) -> Array:
    """The classes drawn, less their mean, over their standard deviation, by row."""
    numbers = np.arange(data.shape[-1])
    mean = (data * numbers).sum(-1, keepdims=True)
    spread = (data * numbers**2).sum(-1, keepdims=True) - mean**2
    standardized: Array = (classes - mean) / spread**0.5
    return standardized
