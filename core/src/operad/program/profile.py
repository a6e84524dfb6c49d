"""Times of the nodes inside a segment, for a profiler.

A segment is one loop in C over its calls, which knows no clock. While nodes are observed, segments are
pushed in another form, whose loop reads the clock behind every call. So nothing is asked for each node while
none is observed, and a change takes effect with the next push, also of what was bound before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple, final

from operad import engine
from operad.device import Context, cpu
from operad.graph import OpNode, parts_of
from operad.op import OperatorProperty, OpReq

if TYPE_CHECKING:
    from operad.program.program import Program


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


NodeObserver = Callable[[Sequence[ProfiledNode], Sequence[float]], object]
"""Takes the nodes of a segment, and when the first began and each ended, by `time.perf_counter`.

Where a node failed, it is the last that has ended.
"""


@final
class _NodeProfiling:
    """The observer of nodes, in the whole process; None: there is none."""

    __slots__ = ("observer",)

    def __init__(self) -> None:
        self.observer: NodeObserver | None = None


node_profiling: Final = _NodeProfiling()


@final
class Timeline:
    """The nodes behind a segment's calls.

    Args:
        program: What they are nodes of.
        node_ids: The node of each call.
    """

    __slots__ = ("_edges", "_num_calls", "nodes")

    def __init__(self, program: Program, node_ids: Sequence[int]) -> None:
        own = list(dict.fromkeys(node_ids))
        self.nodes = tuple([profiled_node(program, node_id) for node_id in own])
        self._num_calls = len(node_ids)
        # With which call each node begins; at the end of one the next begins.
        self._edges = [
            0,
            *[i for i in range(1, len(node_ids)) if node_ids[i] != node_ids[i - 1]],
            len(node_ids),
        ]

    def report(self, times_s: list[float]) -> None:
        """Tell the observer of a run.

        Args:
            times_s: When the first call began, and when each ended.
        """
        observer = node_profiling.observer
        if observer is None:
            return
        edges = self._edges
        if len(times_s) <= self._num_calls:  # the next call has failed, and is the end of its node
            edges = [edge for edge in edges if edge < len(times_s)] + [len(times_s)]
            times_s.append(perf_counter())
        if len(edges) != len(times_s):  # some nodes have several calls
            times_s = [times_s[edge] for edge in edges]
        try:
            observer(self.nodes, times_s)
        except Exception as error:  # noqa: BLE001 - it must not fail the segment; a wait raises it
            node_profiling.observer = None
            _raise_at_a_wait(error)


def _raise_at_a_wait(error: Exception) -> None:
    def fail(_: object) -> None:
        raise error

    engine.get().push_sync(fail, cpu(), name="node_observer")


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
