"""`SequenceMask`: what lies beyond the end of a sequence is replaced."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    DType,
    DTypeError,
    InferredTypes,
    OpContext,
    OperatorProperty,
    gradient,
    operator,
    param,
    wrapped,
)
from operad_sequence.lengths import AXIS, INPUTS, LENGTHS, USE_SEQUENCE_LENGTH, is_beyond, line


def _masked(data: Array, *sequence_length: Array, value: float, axis: int) -> Array:
    """Masked data, computed one sequence at a time, for the contract checks."""
    output = np.array(data)
    for lengths in sequence_length:
        for position, length in enumerate(lengths):
            sequence = output[position] if axis == 1 else output[:, position]
            sequence[int(length) :] = value
    return output


@operator("SequenceMask")
class SequenceMask(OperatorProperty):
    """The data, with `value` in the steps beyond the end of each sequence.

    Shapes:
        data: (T, N, ...), or (N, T, ...) with axis 1: T steps of N sequences.
        sequence_length: (N,), where use_sequence_length is set.
        output: As data.

    Example:
        >>> import operad as od
        >>> data, lengths = od.nd.array([[1, 2], [3, 4], [5, 6]]), od.nd.array([1, 3])
        >>> od.nd.SequenceMask(data, lengths, use_sequence_length=True, value=-1).asnumpy()
        array([[ 1.,  2.],
               [-1.,  4.],
               [-1.,  6.]], dtype=float32)

    Source: SequenceMaskParam, src/operator/sequence_mask-inl.h.
    """

    optional_inputs = INPUTS
    use_sequence_length = USE_SEQUENCE_LENGTH
    value = param(float, 0.0, doc="Value beyond the ends; wraps around for integer data.")
    axis = AXIS
    inplace = "data -> output"
    contract = Contract(inputs=LENGTHS, reference=_masked)

    def spec(self) -> str:
        """One line of the shape language, which depends on the layout."""
        return line(self.axis, "data")

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Infer types; integers must be able to hold `value`."""
        dtype = in_types[0]
        if dtype is not None and dtype.kind in "iu" and not np.isfinite(self.value):
            raise DTypeError(f"SequenceMask: value is {self.value}, and data is {dtype}; give a finite value")
        return super().infer_type(in_types)

    def forward(
        data: Array, op_ctx: OpContext, sequence_length: Array | None, value: float, axis: int, output: Array
    ) -> None:
        """Copy, then fill."""
        np.copyto(output, data)
        if sequence_length is not None:
            dtype = output.dtype
            fill = wrapped(value, dtype) if dtype.kind in "iu" else value
            np.copyto(output, dtype.type(fill), where=is_beyond(op_ctx.xp, sequence_length, data, axis))

    @gradient(inplace="output_grad -> data_grad")
    def data_grad(
        output_grad: Array, op_ctx: OpContext, sequence_length: Array | None, axis: int, data_grad: Array
    ) -> None:
        """`dy/dx = 1`, and 0 beyond the ends."""
        np.copyto(data_grad, output_grad)
        if sequence_length is not None:
            np.copyto(data_grad, 0, where=is_beyond(op_ctx.xp, sequence_length, data_grad, axis))
