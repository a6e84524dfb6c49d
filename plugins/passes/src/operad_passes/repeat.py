"""Running a node once more: what gives the same bits again, and of what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

from operad.graph import Entry, Node, OpNode
from operad.operator import OperatorProperty, ResourceRequest, Shape


@final
class Repetition(NamedTuple):
    """Way in which the first outputs of a node are computed again.

    Attributes:
        op: The operator; its outputs are the node's first ones.
        inputs: What it reads: inputs of the node, and other outputs of it.
    """

    op: OperatorProperty
    inputs: Sequence[Entry]


def repetition(node: Node, in_shapes: Sequence[Shape]) -> Repetition | None:
    """Return the way in which a node's outputs may be computed again; None where they cannot.

    A node that updates auxiliary states, whose operator keeps state, or that draws random numbers is not run
    twice. Its operator may say what gives the same outputs without: `OperatorProperty.recomputation`.

    Args:
        in_shapes: Shapes of the node's arguments.
    """
    if not isinstance(node, OpNode):
        return None
    other = node.op.recomputation()
    if other is not None:
        op, reads = other
        return Repetition(op, [node.inputs[i] if kind == "in_data" else Entry(node, i) for kind, i in reads])
    if node.num_args < len(node.inputs) or node.op.is_stateful:
        return None
    if any(kind is not ResourceRequest.TEMP_SPACE for kind in node.op.forward_resource(in_shapes)):
        return None
    return Repetition(node.op, node.inputs)
