"""Sequences that end early as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Rule = str | Callable[[Any], Any]


def _whole(node: Any) -> Any:
    """Lengths of sequences: integers up to how many steps there are."""
    count = node.shapes[0][node.op.axis]
    if count is None:
        node.refuse("the number of steps differs from run to run; export it with numbers")
    return node.add("Min", node.cast(node.inputs[1], "int64"), node.const(count, "int64"))


def _last(node: Any) -> Any:
    """The last step of each sequence: one element along time."""
    axis, rank = node.op.axis, len(node.shapes[0])
    if not node.op.use_sequence_length:
        return node.add("Gather", node.inputs[0], node.const(-1, "int64"), axis=axis)
    data = (
        node.inputs[0] if axis == 1 else node.add("Transpose", node.inputs[0], perm=(1, 0, *range(2, rank)))
    )
    lengths = _whole(node)
    places = node.add("Max", node.add("Sub", lengths, node.const(1, "int64")), node.const(0, "int64"))
    found = node.add("GatherND", data, node.unsqueeze(places, 1), batch_dims=1)
    runs = node.add("Greater", lengths, node.const(0, "int64"))
    runs = node.unsqueeze(runs, *range(1, rank - 1)) if rank > 2 else runs
    return node.add("Where", runs, found, node.const(0))


def _reversed(node: Any) -> Any:
    """ReverseSequence; without lengths a slice from the end."""
    if not node.op.use_sequence_length:
        return node.slice(node.inputs[0], [-1], [-(2**62)], [node.op.axis], [-1])
    lengths = node.add("Max", _whole(node), node.const(1, "int64"))
    return node.add("ReverseSequence", node.inputs[0], lengths, time_axis=0, batch_axis=1)


def _masked(node: Any) -> Any:
    """A value where a sequence has ended: the step's number is not below the length."""
    op, rank = node.op, len(node.shapes[0])
    if not op.use_sequence_length:
        return node.add("Identity", node.inputs[0])
    lengths = node.unsqueeze(_whole(node), op.axis)
    steps = node.unsqueeze(node.const(range(node.shapes[0][op.axis]), "int64"), 1 - op.axis)
    runs = node.add("Less", steps, lengths)
    runs = node.unsqueeze(runs, *range(2, rank)) if rank > 2 else runs
    return node.add("Where", runs, node.inputs[0], node.const(op.value))


EXPORTS: Final[Mapping[str, Rule]] = {
    "SequenceLast": _last,
    "SequenceMask": _masked,
    "SequenceReverse": _reversed,
}


def _imported(node: Any) -> Any:
    """SequenceReverse, whose time is axis 0."""
    time, batch = node.attr("time_axis", 0), node.attr("batch_axis", 1)
    order = (1, 0, *range(2, node.rank()))
    data = node.sym() if (time, batch) == (0, 1) else node.call("transpose", node.sym(), axes=order)
    made = node.call("SequenceReverse", data, node.sym(1), use_sequence_length=True)
    return made if (time, batch) == (0, 1) else node.call("transpose", made, axes=order)


IMPORTS: Final[Mapping[str, Rule]] = {"ReverseSequence": _imported}
