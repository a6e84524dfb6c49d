"""Nodes of programs, as profilers show them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, NamedTuple, final
from weakref import WeakKeyDictionary

from operad.context import Context
from operad.graph import OpNode, parts_of
from operad.operator import OperatorProperty, OpReq
from operad.program import Program


@final
class ProfiledNode(NamedTuple):
    """A node of a program, as profilers show it.

    Attributes:
        name: The node's name; the second of a name in its graph has `#2` behind it.
        operator: The operator's name.
        is_backward: Whether this is the operator's gradient.
        kernel: The kernel that runs; None where the operator chooses among none.
        ctx: Where it runs.
        size_bytes: The arrays that it reads and those that it writes, each once; None where the operator's
            cost says that it uses parts of them only.
        flops: Floating-point multiplications and additions, of products; None for other operators.
    """

    name: str
    operator: str
    is_backward: bool
    kernel: str | None
    ctx: Context
    size_bytes: int | None
    flops: float | None


_known: Final[WeakKeyDictionary[Program, dict[Sequence[int], tuple[ProfiledNode, ...]]]] = WeakKeyDictionary()


def profiled_nodes(program: Program, node_ids: Sequence[int]) -> tuple[ProfiledNode, ...]:
    """The nodes of a segment, which are looked at once."""
    known = _known.setdefault(program, {})
    found = known.get(node_ids)
    if found is None:
        found = known[node_ids] = tuple([profiled_node(program, node_id) for node_id in node_ids])
    return found


def profiled_node(program: Program, node_id: int) -> ProfiledNode:
    """The node of that number, which applies or differentiates an operator."""
    node = program.graph.nodes[node_id]
    assert isinstance(node, OpNode)
    applied = node.companion or node
    number = program.graph.node_ids.get(applied)
    return ProfiledNode(
        applied.name if number is None else program.labels[number],
        applied.op.name,
        applied is not node,
        _kernel(program, node_id),
        program.contexts[node_id],
        _size_bytes(program, node_id, applied.op),
        _flops(program, node_id, applied.op),
    )


def _kernel(program: Program, node_id: int) -> str | None:
    choice = program.kernels[node_id]
    if choice is None:
        return None
    names = [kernel.name for kernel in choice.of(parts_of(program.graph.nodes[node_id]))]
    return ", ".join(names) or None


def _size_bytes(program: Program, node_id: int, op: OperatorProperty) -> int | None:
    call = program.call(node_id)
    entries = [*dict.fromkeys((*call.reads, *call.aux))]
    for target, request in zip(call.outs, call.req, strict=True):
        if target is not None:
            # What is added to is read as well.
            entries += [target] * (2 if request is OpReq.ADD else 1)
    specs = [program.spec(entry) for entry in entries]
    cost = program.costs[node_id]
    counted = max(cost.operations, cost.size_bytes / 4)  # which counts elements of single precision
    if not op.multiplies and counted < sum([prod(spec.shape) for spec in specs]):
        return None
    return sum([prod(spec.shape) * spec.dtype.itemsize for spec in specs])


def _flops(program: Program, node_id: int, op: OperatorProperty) -> float | None:
    out = program.spec(program.entry_range(node_id).start)
    return program.costs[node_id].product_flops if op.multiplies and out.dtype.kind == "f" else None
