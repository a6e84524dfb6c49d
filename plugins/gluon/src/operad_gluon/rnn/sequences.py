"""Sequences of steps: as one array or symbol, or as a list with one for each step.

Source: _format_sequence and its neighbours, python/mxnet/gluon/rnn/rnn_cell.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from operad import NDArray, Symbol, nd, sym
from operad.errors import ArgumentError, ShapeError

tensor_types = (NDArray, Symbol)


class Steps(NamedTuple):
    """A sequence in the form that was asked for.

    Attributes:
        inputs: One array or symbol, or a list of steps.
        axis: Axis of the steps in the layout.
        F: `nd` or `sym`, as of the inputs.
        batch_size: Sequences in the batch; 0 of symbols.
    """

    inputs: Any
    axis: int
    F: Any
    batch_size: int


def as_list(value: Any) -> list[Any]:
    """A list of what an operator returned: one array, or several."""
    return [value] if isinstance(value, tensor_types) and not _is_several(value) else list(value)


def _is_several(value: Any) -> bool:
    return isinstance(value, Symbol) and len(value.list_outputs()) > 1


def module_of(value: Any) -> Any:
    """`sym` for a symbol, and `nd` for an array; of a list, as of its first."""
    first = value if isinstance(value, tensor_types) else value[0]
    return sym if isinstance(first, Symbol) else nd


def split_steps(F: Any, data: Any, length: int, axis: int) -> list[Any]:
    """The steps of one array or symbol."""
    return as_list(F.split(data, num_outputs=length, axis=axis, squeeze_axis=True))


def format_sequence(
    length: int | None, inputs: Any, layout: str, merge: bool | None, in_layout: str | None = None
) -> Steps:
    """Steps in one piece or in a list.

    Args:
        length: How many there are; None: not compared.
        inputs: One array or symbol, or a list of steps.
        layout: `NTC` or `TNC`: axes of the batch, the steps and the features.
        merge: True: one piece. False: a list. None: as they are.
        in_layout: Layout of `inputs`, where it is another.
    Raises:
        ArgumentError: There are no inputs, or a group of symbols.
        ShapeError: There are more or fewer steps than `length`.
    """
    if inputs is None:
        raise ArgumentError("unroll: inputs is None; make the input variables outside of unroll")
    axis = layout.find("T")
    in_axis = axis if in_layout is None else in_layout.find("T")
    F = module_of(inputs)
    if isinstance(inputs, tensor_types):
        batch_size = inputs.shape[layout.find("N")] if F is nd else 0
        if merge is False:
            inputs = split_steps(F, inputs, _length(length, inputs, in_axis), in_axis)
    else:
        if length is not None and len(inputs) != length:
            raise ShapeError(f"unroll: there are {len(inputs)} inputs for {length} steps")
        batch_size = inputs[0].shape[0] if F is nd else 0
        if merge:
            inputs = F.stack(*inputs, axis=axis)
            in_axis = axis
    if isinstance(inputs, tensor_types) and axis != in_axis:
        inputs = F.swapaxes(inputs, dim1=axis, dim2=in_axis)
    return Steps(inputs, axis, F, batch_size)


def _length(length: int | None, inputs: Any, axis: int) -> int:
    if isinstance(inputs, Symbol):
        if _is_several(inputs):
            raise ArgumentError("unroll: got a group of symbols, expected one; give list(inputs)")
        if length is None:
            raise ArgumentError("unroll: the length of a symbol is not known; give it")
        return length
    steps = int(inputs.shape[axis])
    if length is not None and length != steps:
        raise ShapeError(f"unroll: inputs of shape {inputs.shape} have {steps} steps, expected {length}")
    return steps


def mask_sequence(F: Any, data: Any, length: int, valid_length: Any, axis: int, merge: bool | None) -> Any:
    """The steps, with zeros behind the end of each sequence.

    Args:
        F: `nd` or `sym`.
        data: One piece, or a list of steps.
        length: How many steps there are.
        valid_length: Steps of each sequence, of shape (batch,).
        axis: Axis of the steps.
        merge: Whether the result is one piece.
    """
    if not isinstance(data, tensor_types):
        data = F.stack(*data, axis=axis)
    masked = F.SequenceMask(data, sequence_length=valid_length, use_sequence_length=True, axis=axis)
    return masked if merge else split_steps(F, masked, length, axis)


def reverse_sequences(sequences: Sequence[Any], length: int, valid_length: Any = None) -> list[Any]:
    """Steps backwards; of each sequence only its own, where it has fewer than `length`."""
    if valid_length is None:
        return list(reversed(sequences))
    F = module_of(sequences)
    whole = F.SequenceReverse(
        F.stack(*sequences, axis=0), sequence_length=valid_length, use_sequence_length=True
    )
    return split_steps(F, whole, length, 0)


def last_states(F: Any, states: Iterable[Sequence[Any]], valid_length: Any) -> list[Any]:
    """Each sequence's states after its own last step.

    Args:
        F: `nd` or `sym`.
        states: The states after each step.
        valid_length: Steps of each sequence.
    """
    return [
        F.SequenceLast(
            F.stack(*steps, axis=0), sequence_length=valid_length, use_sequence_length=True, axis=0
        )
        for steps in zip(*states, strict=True)
    ]
