"""`SequenceReverse`: every sequence backwards, its padding left where it is."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OpContext, OperatorProperty, operator, param
from operad_sequence.lengths import INPUTS, LENGTHS, USE_SEQUENCE_LENGTH, counts, line


def _reversed(data: Array, *sequence_length: Array) -> Array:
    """Reversed data, computed one sequence at a time, for the contract checks."""
    if not sequence_length:
        return data[::-1]
    output = np.array(data)
    for position, length in enumerate(sequence_length[0]):
        output[: int(length), position] = data[: int(length), position][::-1]
    return output


@operator("SequenceReverse")
class SequenceReverse(OperatorProperty):
    """Each sequence backwards; the steps beyond its end stay where they are.

    Shapes:
        data: (T, N, ...): T steps of N sequences.
        sequence_length: (N,), where use_sequence_length is set.
        output: As data.

    Example:
        >>> import operad as od
        >>> data, lengths = od.nd.array([[1, 2], [3, 4], [5, 6]]), od.nd.array([2, 3])
        >>> od.nd.SequenceReverse(data, lengths, use_sequence_length=True).asnumpy()
        array([[3., 6.],
               [1., 4.],
               [5., 2.]], dtype=float32)

    Source: SequenceReverseParam, src/operator/sequence_reverse-inl.h.
    """

    optional_inputs = INPUTS
    use_sequence_length = USE_SEQUENCE_LENGTH
    axis = param(int, 0, ge=0, le=0, doc="The axis of the steps, which is 0.")
    contract = Contract(inputs=LENGTHS, reference=_reversed)

    def spec(self) -> str:
        """One line of the shape language."""
        return line(self.axis, "data")

    def forward(data: Array, op_ctx: OpContext, sequence_length: Array | None, output: Array) -> None:
        """Take the steps in the other order."""
        _reverse(op_ctx, data, sequence_length, output)

    def data_grad(
        output_grad: Array, op_ctx: OpContext, sequence_length: Array | None, data_grad: Array
    ) -> None:
        """The same once more: reversal is its own inverse, and moves each element to one position."""
        _reverse(op_ctx, output_grad, sequence_length, data_grad)


def _reverse(op_ctx: OpContext, steps: Array, sequence_length: Array | None, out: Array) -> None:
    if sequence_length is None:
        out[...] = steps[::-1]
        return
    xp, (count, batch) = op_ctx.xp, steps.shape[:2]
    position, length = xp.arange(count)[:, None], counts(sequence_length, count)
    source = np.where(position < length, length - 1 - position, position)
    out[...] = steps[source, xp.arange(batch)]
