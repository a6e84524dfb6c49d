"""`SequenceLast`: the last step of every sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import Array, Contract, OpContext, OperatorProperty, operator
from operad_sequence.lengths import AXIS, INPUTS, LENGTHS, USE_SEQUENCE_LENGTH, counts, line, steps_first


def _last(data: Array, *sequence_length: Array, axis: int) -> Array:
    """Last step of each sequence, found one sequence at a time, for the contract checks."""
    sequences = np.moveaxis(data, axis, 1)
    lengths = sequence_length[0] if sequence_length else np.full(len(sequences), sequences.shape[1])
    output = np.zeros((len(sequences), *sequences.shape[2:]))
    for position, length in enumerate(lengths):
        if length >= 1:
            output[position] = sequences[position, int(length) - 1]
    return output


@operator("SequenceLast")
class SequenceLast(OperatorProperty):
    """The last step of each sequence; 0 where a sequence has none.

    Shapes:
        data: (T, N, ...), or (N, T, ...) with axis 1: T steps of N sequences.
        sequence_length: (N,), where use_sequence_length is set.
        output: (N, ...).

    Example:
        >>> import operad as od
        >>> data, lengths = od.nd.array([[1, 2], [3, 4], [5, 6]]), od.nd.array([1, 3])
        >>> od.nd.SequenceLast(data, lengths, use_sequence_length=True).asnumpy()
        array([1., 6.], dtype=float32)

    Source: SequenceLastParam, src/operator/sequence_last-inl.h. Differs: a length of 0 is allowed.
    """

    optional_inputs = INPUTS
    use_sequence_length = USE_SEQUENCE_LENGTH
    axis = AXIS
    contract = Contract(inputs=LENGTHS, reference=_last)

    def spec(self) -> str:
        """One line of the shape language, which depends on the layout."""
        return line(self.axis, "step")

    def forward(
        data: Array, op_ctx: OpContext, sequence_length: Array | None, axis: int, output: Array
    ) -> None:
        """Take one step from each sequence."""
        if data.shape[axis] == 0:
            output[...] = 0
            return
        step, is_none = _positions(op_ctx.xp, data, sequence_length, axis)
        output[...] = steps_first(data, axis)[step]
        if is_none is not None:
            output[is_none] = 0

    def data_grad(
        output_grad: Array, op_ctx: OpContext, sequence_length: Array | None, axis: int, data_grad: Array
    ) -> None:
        """`dy/dx = 1` in the steps that were taken, else 0."""
        data_grad[...] = 0
        if data_grad.shape[axis] == 0:
            return
        step, is_none = _positions(op_ctx.xp, data_grad, sequence_length, axis)
        if is_none is not None:
            output_grad = np.where(is_none[(..., *(None,) * (output_grad.ndim - 1))], 0, output_grad)
        steps_first(data_grad, axis)[step] = output_grad


def _positions(xp: Any, data: Array, sequence_length: Array | None, axis: int) -> tuple[Any, Array | None]:
    """The index of the last steps where the steps come first, and which sequences have none."""
    if sequence_length is None:
        return -1, None
    count = counts(sequence_length, data.shape[axis])
    return (np.maximum(count - 1, 0), xp.arange(data.shape[1 - axis])), count == 0
