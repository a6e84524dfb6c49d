"""Operators whose outputs are as long as values say: `nonzero`, `unique` and `bincount`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from operad.errors import IndexOutOfRangeError
from operad_sdk import (
    Array,
    Contract,
    InferredShapes,
    Integers,
    OperatorProperty,
    PartialShape,
    Shape,
    ShapeError,
    gradient,
    operator,
    param,
)


class ShapedByValues(OperatorProperty):
    """Base class: the axis of outputs that the shape line leaves open is found from values.

    A call waits for its arguments; a symbol with such an operator is not bound.
    """

    is_shaped_by_values = True
    found: int | None = None

    @abstractmethod
    def length(self, *arrays: Array) -> int:
        """Length of that axis, of arguments of these values."""

    def for_values(self, in_data: Sequence[Array]) -> Self:
        """Operator that knows the length; arguments that no length can be found of are refused first."""
        self.infer_shape([array.shape for array in in_data])
        made = type(self)(**{name: getattr(self, name) for name in type(self).params})
        made.is_shaped_by_values = False
        made.found = made.length(*in_data)
        return made

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line, and the length where it is known."""
        arguments, outputs, states = super().infer_shape(in_shapes)
        if all(shape is not None and None not in shape for shape in arguments):
            outputs = [
                shape if shape is None or None not in shape else
                tuple(self.found if length is None else length for length in shape)
                for shape in outputs
            ]  # fmt: skip
        return arguments, outputs, states


@operator("nonzero")
class nonzero(ShapedByValues):
    """The indices of all elements that are not 0, a row for each, in order; they have no gradient.

    Shapes:
        x: (...)
        output: (number of elements that are not 0, number of axes of x), of int64.

    Example:
        >>> import operad as od
        >>> od.nd.nonzero(od.nd.array([[0, 3], [4, 0]])).asnumpy().tolist()
        [[0, 1], [1, 0]]

    Source: NonzeroForwardCPU, src/operator/numpy/np_nonzero_op-inl.h.
    """

    spec = "x:(*S) -> output:int64(R, len(S))"
    contract = Contract(reference=lambda x: np.argwhere(x), nan_policy="NaN is not 0")

    def length(self, *arrays: Array) -> int:
        """Number of elements that are not 0."""
        return int(np.count_nonzero(arrays[0]))

    def forward(x: Array, output: Array) -> None:
        """One column for each axis."""
        for axis, column in enumerate(np.nonzero(x) if x.ndim else ()):
            output[:, axis] = column


def _before(shape: Shape, axis: int | None) -> Shape:
    """Lengths of the axes before an axis; none without an axis."""
    if axis is not None and not -len(shape) <= axis < len(shape):
        raise ShapeError(
            f"axis is {axis}, expected {-len(shape)} to {len(shape) - 1} for data of shape {shape}"
        )
    return () if axis is None else shape[: axis % len(shape)]


def _after(shape: Shape, axis: int | None) -> Shape:
    """Lengths of the axes after an axis; none without an axis."""
    return () if axis is None else shape[axis % len(shape) + 1 :]


def _unique(data: Array, index: bool, inverse: bool, counts: bool, axis: int | None) -> list[Array]:
    """Results of `numpy.unique`, of which those after the first have one axis."""
    numpy_unique: Any = np.unique
    found = numpy_unique(data, index, inverse, counts, axis)
    values, *others = found if isinstance(found, tuple) else (found,)
    return [values, *(each.reshape(-1) for each in others)]


@operator("unique")
class unique(ShapedByValues):
    """The different elements in ascending order, or the different parts along an axis; they have no gradient.

    Shapes:
        data: (...)
        output: (number of different elements,), `output0` where others follow; with `axis`, data with the
            different parts along it.
        output1: With `return_index`, where each comes first; of int64, as all that follow.
        output2: With `return_inverse`, which one each element, or part, is; of the elements in order.
        output3: With `return_counts`, how often each comes.

    Example:
        >>> import operad as od
        >>> values, counts = od.nd.unique(od.nd.array([3, 1, 3]), return_counts=True)
        >>> values.asnumpy().tolist(), counts.asnumpy().tolist()
        ([1.0, 3.0], [1, 2])

    Source: NumpyUniqueParam, src/operator/numpy/np_unique_op.h.
    """

    return_index = param(bool, False, doc="Say where each comes first.")
    return_inverse = param(bool, False, doc="Say which one each element is.")
    return_counts = param(bool, False, doc="Say how often each comes.")
    axis = param(int, None, doc="The axis along which parts are compared; left out: elements are.")
    spec = (
        "data:(*S) -> output:(*before(S, axis), R, *after(S, axis))"
        " if not (return_index or return_inverse or return_counts),"
        " output0:(*before(S, axis), R, *after(S, axis)) if return_index or return_inverse or return_counts,"
        " output1:int64(R) if return_index,"
        " output2:int64(S[axis] if axis is not None else prod(S)) if return_inverse,"
        " output3:int64(R) if return_counts"
    )
    functions: ClassVar = {"before": _before, "after": _after}
    contract = Contract(
        reference=lambda data, return_index, return_inverse, return_counts, axis: tuple(
            _unique(data, return_index, return_inverse, return_counts, axis)
        ),
        nan_policy="NaN is a value, the largest",
        no_numeric_gradient="which elements are equal is a matter of values, which have no slope",
    )

    def length(self, *arrays: Array) -> int:
        """Number of different ones."""
        return int(_unique(arrays[0], False, False, False, self.axis)[0].shape[self.axis or 0])

    def forward(
        data: Array, return_index: bool, return_inverse: bool, return_counts: bool, axis: int | None,
        output: Array | None, output0: Array | None, output1: Array | None, output2: Array | None,
        output3: Array | None,
    ) -> None:  # fmt: skip
        """Sort, and compare neighbours."""
        found = _unique(data, return_index, return_inverse, return_counts, axis)
        targets = [one for one in (output, output0, output1, output2, output3) if one is not None]
        for target, each in zip(targets, found, strict=True):
            target[...] = each


@operator("_npi_unique")
class npi_unique(unique):
    """`unique` by the name that MXNet 1.x has, in files too.

    Example:
        >>> import operad as od
        >>> od.nd._npi_unique(od.nd.array([3, 1, 3])).asnumpy()
        array([1., 3.], dtype=float32)

    Source: NumpyUniqueParam, src/operator/numpy/np_unique_op.h.
    """


@operator("bincount")
class bincount(ShapedByValues):
    """Counts of all numbers from 0 on, or sums of their weights, which are added in double precision.

    `d output / d weights` is 1 at the number of each weight.

    Shapes:
        data: (N,), integers from 0 on.
        weights: (N,), with `has_weights`.
        output: (R,), the largest number + 1, and at least `minlength`; of int64 or the type of weights.

    Example:
        >>> import operad as od
        >>> od.nd.bincount(od.nd.array([1, 3, 1], dtype="int64")).asnumpy().tolist()
        [0, 2, 0, 1]

    Source: NumpyBincountParam, src/operator/numpy/np_bincount_op-inl.h.
    """

    minlength = param(int, 0, ge=0, doc="Least length of the output.")
    has_weights = param(bool, False, doc="Use the argument weights.")
    spec = (
        "data:any(N), weights:(N) if has_weights"
        " -> output:(R) if has_weights, output:int64(R) if not has_weights"
    )
    accepts: ClassVar = {"data": "integer", "weights": "number"}
    contract = Contract(
        inputs={"data": Integers(0, 5)},
        reference=lambda data, *weights, minlength: np.bincount(
            data.astype(np.int64), weights[0] if weights else None, minlength
        ),
    )

    def length(self, *arrays: Array) -> int:
        """One more than the largest number.

        Raises:
            OperadError: A number is below 0.
        """
        numbers = arrays[0]
        if numbers.size and int(numbers.min()) < 0:
            raise IndexOutOfRangeError(f"bincount: data has {int(numbers.min())}, expected numbers from 0 on")
        return max(int(numbers.max()) + 1 if numbers.size else 0, int(self.minlength))

    def forward(data: Array, weights: Array | None, output: Array) -> None:
        """Count, or add up."""
        whole = data.astype(np.int64)
        output[...] = np.bincount(whole, weights, len(output)) if weights is not None else np.bincount(
            whole, minlength=len(output)
        )  # fmt: skip

    @gradient(when=lambda prop: prop.has_weights)
    def weights_grad(output_grad: Array, data: Array) -> Array:
        """The gradient of the sum to which it was added."""
        # A trace is tried with made-up numbers, which may be beyond the output.
        return output_grad[np.minimum(data.astype(np.int64), len(output_grad) - 1)]
