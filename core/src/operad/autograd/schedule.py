"""The gradient pass of a recorded graph, worked out once for each structure of graph.

Two recorded graphs have the same structure if their nodes, taken in topological order, were run by
the same plans on inputs that come from the same places, and if the same gradients are wanted. The
pass's result is kept in a form that names nodes and values by number, and so fits every graph of
that structure.

A gradient that belongs to a variable is written straight into its buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol, final

from operad.autograd.function import FunctionProperty
from operad.graph import BackwardNode, Entry, Graph, Node, OpNode, Variable, ZerosLike, gradient
from operad.imperative import (
    Array,
    Invoker,
    Marked,
    Plan,
    Spec,
    TapeEntry,
    TapeNode,
    copy_into,
    execute,
)
from operad.operator import OpReq

_REQUESTS: Final = {"write": OpReq.WRITE, "add": OpReq.ADD}
_MAX_CACHED: Final = 256

Tape = Sequence[TapeNode | Marked]
Values = list[Any]
"""Gradients on their way (`Array`), by number; None before they are computed and after they are used."""


class _Step(Protocol):
    """One node of a backward graph, by numbers."""

    def run(self, nodes: Tape, values: Values, buffers: Sequence[Array]) -> None:
        """Compute its values from recorded nodes and earlier values."""


@final
class _Backward:
    """Runs the gradient of a recorded operator call."""

    def __init__(self, number: int, node: BackwardNode, numbering: _Numbering, train_mode: bool) -> None:
        recorded = node.forward.saved
        plan = recorded.plan
        self._number = number
        saved = {read: ~i for i, read in enumerate(plan.recipe(recorded.wanted).entries)}
        # A value by its number, or what the recorded node keeps, by its number inverted.
        self._reads = [
            numbering.of(entry) if read.kind == "out_grad" else saved[read]
            for read, entry in zip(node.reads, node.inputs, strict=True)
        ]
        self._targets: list[tuple[int, int, Spec] | None] = []
        req = []
        for i, wanted in enumerate(node.wanted):
            buffer, request = numbering.buffer(Entry(node, i)) if wanted else (-1, OpReq.NULL)
            req.append(request)
            self._targets.append((numbering.of(Entry(node, i)), buffer, plan.in_specs[i]) if wanted else None)
        self._request = (tuple(node.reads), tuple(req), train_mode)

    def run(self, nodes: Tape, values: Values, buffers: Sequence[Array]) -> None:
        node = nodes[self._number]
        assert isinstance(node, TapeNode)
        node.check_unchanged()
        saved = node.saved
        assert saved is not None
        reads = [values[read] if read >= 0 else saved[~read] for read in self._reads]
        grads: list[Array | None] = []
        for target in self._targets:
            if target is None:
                grads.append(None)
                continue
            number, buffer, spec = target
            grad = buffers[buffer] if buffer >= 0 else buffers[0]._new(spec)
            grads.append(grad)
            values[number] = grad
        # Of the node that is run: its run-time values may differ from those this was made for.
        assert isinstance(node.plan, Plan)
        node.plan.backward_call(*self._request).run(reads, grads, node.aux)


@final
class _Function:
    """Runs the hand-written gradient of a `Function`."""

    def __init__(self, number: int, node: BackwardNode, numbering: _Numbering) -> None:
        self._number = number
        self._reads = [numbering.of(entry) for entry in node.inputs]
        self._targets = [
            (numbering.of(Entry(node, i)), *numbering.buffer(Entry(node, i))) if wanted else None
            for i, wanted in enumerate(node.wanted)
        ]

    def run(self, nodes: Tape, values: Values, buffers: Sequence[Array]) -> None:
        node = nodes[self._number]
        assert isinstance(node, TapeNode)
        assert isinstance(node.plan.prop, FunctionProperty)
        grads = node.plan.prop.run_backward([values[read] for read in self._reads])
        for target, grad in zip(self._targets, grads, strict=True):
            if target is not None:
                number, buffer, request = target
                values[number] = _delivered(grad, buffers[buffer], request) if buffer >= 0 else grad


@final
class _Primitive:
    """Runs an operator that the gradient pass inserted."""

    def __init__(self, node: OpNode, numbering: _Numbering) -> None:
        self._invoke = Invoker(node.op)
        self._reads = [numbering.of(entry) for entry in node.inputs]
        self._target = numbering.of(Entry(node))
        self._buffer, self._request = numbering.buffer(Entry(node))

    def run(self, nodes: Tape, values: Values, buffers: Sequence[Array]) -> None:
        value = self._invoke([values[read] for read in self._reads])
        if self._buffer >= 0:
            value = _delivered(value, buffers[self._buffer], self._request)
        values[self._target] = value


@final
class _Zeros:
    """Makes the zeros of a gradient that nothing flows to."""

    def __init__(self, node: OpNode, numbering: _Numbering) -> None:
        source = node.inputs[0]
        self._spec: Spec = (
            source.node.saved.grad._spec if isinstance(source.node, Variable)
            else source.node.saved.plan.out_specs[source.index]
        )  # fmt: skip
        self._target = numbering.of(Entry(node))
        self._buffer, self._request = numbering.buffer(Entry(node))

    def run(self, nodes: Tape, values: Values, buffers: Sequence[Array]) -> None:
        zeros = buffers[self._buffer] if self._buffer >= 0 else buffers[0]._new(self._spec)
        if self._request is not OpReq.ADD:
            args, var = (zeros._data,), zeros._chunk.var
            execute(_fill_zero, args, zeros.context, (), (var,), "_zeros", reads_mutable=zeros._is_part)
        values[self._target] = zeros


def _delivered(value: Array, target: Array, request: OpReq) -> Array:
    """Put a gradient into the buffer it belongs to."""
    if request is OpReq.ADD:
        args, const = (target._data, value._data), (value._chunk.var,)
        execute(_add_into, args, target.context, const, (target._chunk.var,), "_grad_add", reads_mutable=True)
    else:
        copy_into(target, value)
    return target


def deliver(value: Array, target: Array, request: str) -> None:
    """Put a gradient into a buffer, which `request` (`write` or `add`) says how to write."""
    _delivered(value, target, _REQUESTS[request])


def _add_into(target: Any, value: Any) -> None:
    target += value


def _fill_zero(target: Any) -> None:
    target[...] = 0


@final
class _Numbering:
    """Numbers for the values of a backward graph, and the buffers that some of them go to."""

    def __init__(self, heads: Sequence[Entry], results: Sequence[Entry], requests: Sequence[str]) -> None:
        self._numbers = {head: i for i, head in enumerate(heads)}
        self._buffers = {
            entry: (i, _REQUESTS[request])
            for i, (entry, request) in enumerate(zip(results, requests, strict=True))
        }

    def of(self, entry: Entry) -> int:
        return self._numbers.setdefault(entry, len(self._numbers))

    def buffer(self, entry: Entry) -> tuple[int, OpReq]:
        """The buffer an entry goes to and the request; -1 if it goes to none."""
        return self._buffers.get(entry, (-1, OpReq.WRITE))

    def __len__(self) -> int:
        return len(self._numbers)


@final
class Schedule:
    """The backward graph of one structure of recorded graph, by numbers."""

    def __init__(
        self,
        nodes: Tape,
        heads: Sequence[TapeEntry],
        wanted: Sequence[TapeEntry],
        requests: Sequence[str],
        train_mode: bool,
    ) -> None:
        head_grads = [Entry(Variable(f"head_grad{i}")) for i in range(len(heads))]
        graph = _graph_of(nodes)
        ends = [[Entry(graph[node], index) for node, index in entries] for entries in (heads, wanted)]
        results = gradient(ends[0], head_grads, ends[1])
        recorded = {graph[node]: i for i, node in enumerate(nodes)}
        numbering = _Numbering(head_grads, results, requests)
        order = [n for n in Graph(results).nodes if n not in recorded and not isinstance(n, Variable)]
        self._steps = [_step(node, recorded, numbering, train_mode) for node in order]
        self._frees = _last_uses(order, numbering, len(self._steps))
        self._num_values = len(numbering)

    def run(self, nodes: Tape, head_grads: Sequence[Array], buffers: Sequence[Array]) -> None:
        """Compute the gradients into `buffers`, from what `nodes` keep."""
        values: Values = [*head_grads, *[None] * (self._num_values - len(head_grads))]
        for step, frees in zip(self._steps, self._frees, strict=True):
            step.run(nodes, values, buffers)
            for number in frees:
                values[number] = None


def _graph_of(nodes: Tape) -> dict[TapeNode | Marked, Node]:
    """A graph like the tape; what was recorded stands in each node's `saved`."""
    constant = Entry(Variable("constant"))
    made: dict[TapeNode | Marked, Node] = {}
    for node in nodes:
        if isinstance(node, Marked):
            made[node] = Variable("variable")
        else:
            inputs = [constant if e is None else Entry(made[e[0]], e[1]) for e in node.inputs]
            made[node] = OpNode(node.plan.prop, node.plan.name, inputs)
        made[node].saved = node
    return made


def _step(node: Node, recorded: dict[Node, int], numbering: _Numbering, train_mode: bool) -> _Step:
    if isinstance(node, BackwardNode):
        number = recorded[node.forward]
        if isinstance(node.op, FunctionProperty):
            return _Function(number, node, numbering)
        return _Backward(number, node, numbering, train_mode)
    assert isinstance(node, OpNode)
    return _Zeros(node, numbering) if isinstance(node.op, ZerosLike) else _Primitive(node, numbering)


def _last_uses(order: Sequence[Node], numbering: _Numbering, num_steps: int) -> list[list[int]]:
    """By step, the values that no later step reads, so that their memory is free at once."""
    last: dict[int, int] = {}
    for step, node in enumerate(order):
        grads = [
            entry for i, entry in enumerate(node.inputs)
            if not isinstance(node, BackwardNode) or node.reads[i].kind == "out_grad"
        ]  # fmt: skip
        for entry in [*grads, *[Entry(node, i) for i in range(node.num_outputs)]]:
            last[numbering.of(entry)] = step
    frees: list[list[int]] = [[] for _ in range(num_steps)]
    for number, step in last.items():
        frees[step].append(number)
    return frees


_schedules: Final[dict[Any, Schedule]] = {}


def schedule(
    nodes: Tape,
    heads: Sequence[TapeEntry],
    wanted: Sequence[TapeEntry],
    requests: Sequence[str],
    train_mode: bool,
) -> Schedule:
    """The schedule for a recorded graph.

    Args:
        nodes: The graph in topological order.
        heads: The entries to differentiate.
        wanted: The entries whose gradients are wanted.
        requests: `write` or `add`, one for each of `wanted`.
        train_mode: Whether backward runs in training mode.
    """
    key = _structure(nodes, heads, wanted, requests, train_mode)
    if key is None:
        return Schedule(nodes, heads, wanted, requests, train_mode)
    found = _schedules.get(key)
    if found is None:
        if len(_schedules) >= _MAX_CACHED:
            _schedules.clear()
        found = _schedules[key] = Schedule(nodes, heads, wanted, requests, train_mode)
    return found


def _structure(
    nodes: Tape,
    heads: Sequence[TapeEntry],
    wanted: Sequence[TapeEntry],
    requests: Sequence[str],
    train_mode: bool,
) -> Any:
    """What two graphs that share a schedule have in common; None for graphs with hand-written functions."""
    number = {node: i for i, node in enumerate(nodes)}
    parts: list[Any] = []
    for node in nodes:
        if isinstance(node, TapeNode):
            plan = node.plan
            if not isinstance(plan, Plan) or plan.prop.is_stateful:
                return None
            parts.append(plan.structure)
            parts += [None if entry is None else (number[entry[0]], entry[1]) for entry in node.inputs]
        else:
            parts.append(node.grad._spec)
    ends = [(number[node], index) for node, index in (*heads, *wanted)]
    return (train_mode, len(heads), *ends, *requests, *parts)
