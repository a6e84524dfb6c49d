"""Segments: runs of nodes that the engine sees as one operation.

Pushing each node to the engine would cost more than many nodes compute. A segment is a list of
calls whose arrays, requests and contexts are fixed, so that running it is a loop in C over
prepared callables; the engine orders whole segments by the variables of all their arrays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from operator import call, length_hint
from typing import TYPE_CHECKING, Any, Final, final

from operad import engine, registry, resource
from operad.config import settings
from operad.context import Context
from operad.engine import Opr, RunContext, Var
from operad.graph import BackwardNode, Entry, Node, OpNode, values_read
from operad.imperative import distinct
from operad.operator import OpContext, Operator, OpReq
from operad.resource import ResourceRequest

if TYPE_CHECKING:
    from operad.executor.layout import Layout
    from operad.executor.program import Program

_RUN_ALL: Final[Callable[[Iterable[object]], None]] = deque[object](maxlen=0).extend


@final
class Segment:
    """A piece of one lane.

    Args:
        started: Variables of planned blocks that earlier segments of the same run have written: what
            those left there counts. Any other block begins anew here, whatever an earlier run left.

    Attributes:
        nodes: What it runs, in order.
        ctx: Where.
        started: With those that this segment writes.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        ctx: Context,
        program: Program,
        layout: Layout,
        operators: Mapping[OpNode, Operator],
        started: Collection[Var],
    ) -> None:
        self.nodes = nodes
        self.ctx = ctx
        self._program = program
        self._layout = layout
        self._operators = operators
        self._resources = {node: _resources_of(node, program, ctx) for node in nodes}
        self._by_mode: dict[bool, tuple[engine.Engine, Opr]] = {}
        total = sum(map(program.cost, nodes))
        self._is_light = not ctx.is_gpu and total < settings().parallel_cost and settings().inline_cost > 0
        self._const, self._mutable, self._updated = self._variables(started)
        self.started = frozenset([*started, *self._mutable])

    def push(self, is_train: bool, alone: bool = False) -> None:
        """Schedule one run, or run here and now what is light and has nothing beside it.

        Args:
            is_train: The mode.
            alone: Whether no other segment could run at the same time. A light segment then runs in
                this thread if its variables are idle: handing it to a worker and taking the
                interpreter's lock in turns would cost more than it computes.
        """
        current = engine.get()
        made_by, opr = self._by_mode.get(is_train, (None, None))
        if opr is None or made_by is not current:
            opr = current.new_operator(
                self._runner(is_train, current.use_threads),
                self._const,
                self._mutable,
                name=_label(self.nodes),
                reads_mutable=self._updated,
                is_parallel=self._is_parallel(self.nodes[0]),
            )
            self._by_mode[is_train] = (current, opr)
        if not (alone and self._is_light and self._run_inline(current, opr)):
            current.push(opr, self.ctx)

    def _run_inline(self, current: engine.Engine, opr: Opr) -> bool:
        return current.run_inline(
            _with_one_thread, (current.use_threads, opr.fn), self.ctx, self._const, self._mutable, opr.name
        )

    def _runner(self, is_train: bool, use_threads: Callable[[bool], None]) -> Callable[[RunContext], None]:
        """The loop over the calls; between light and heavy nodes it says what threads are worth."""
        calls: list[Callable[[], object]] = []
        nodes: list[Node] = []
        was_parallel = self._is_parallel(self.nodes[0])
        for node, prepared in zip(self.nodes, self.calls(is_train), strict=True):
            if self._is_parallel(node) != was_parallel:
                was_parallel = not was_parallel
                calls.append(partial(use_threads, was_parallel))
                nodes.append(node)
            calls.append(prepared)
            nodes.append(node)
        return _runner(calls, nodes)

    def _is_parallel(self, node: Node) -> bool:
        return self._program.cost(node) >= settings().parallel_cost

    def calls(self, is_train: bool) -> list[Callable[[], object]]:
        """The nodes as callables that take nothing."""
        return [self._prepared(node, is_train) for node in self.nodes]

    def _prepared(self, node: Node, is_train: bool) -> Callable[[], object]:
        arrays, program = self._layout.array, self._program
        op_ctx = OpContext(self.ctx, is_train, self._resources[node])
        outputs = [Entry(node, i) for i in range(node.num_outputs)]
        req = tuple(program.plan.requests[node, i] for i in range(node.num_outputs))
        out = [None if r is OpReq.NULL else arrays(entry) for entry, r in zip(outputs, req, strict=True)]
        if isinstance(node, OpNode):
            # An operator that looks at shapes only may find the memory of its inputs gone.
            data = [arrays(entry) for entry in values_read(node)[: node.num_args]]
            aux = [arrays(entry) for entry in node.aux]
            return self._operators[node].prepare_forward(op_ctx, data, req, out, aux)
        assert isinstance(node, BackwardNode)
        forward = node.forward
        slots: dict[str, list[Any]] = {
            "out_grad": [None] * forward.num_outputs,
            "in_data": [None] * forward.num_args,
            "out_data": [None] * forward.num_outputs,
        }
        for read, entry in zip(node.reads, node.inputs, strict=True):
            slots[read.kind][read.index] = arrays(entry)
        aux = [arrays(entry) for entry in forward.aux]
        return self._operators[forward].prepare_backward(
            op_ctx, slots["out_grad"], slots["in_data"], slots["out_data"], req, out, aux
        )

    def _variables(self, started: Collection[Var]) -> tuple[list[Var], list[Var], list[Var]]:
        own = {Entry(node, i) for node in self.nodes for i in range(node.num_outputs)}
        layout, program = self._layout, self._program
        read: list[Var] = []
        written: list[Var] = []
        updated: list[Var] = []
        for node in self.nodes:
            forward = node.forward if isinstance(node, BackwardNode) else node
            aux = forward.aux if isinstance(forward, OpNode) else []
            updated += [layout.var(entry) for entry in aux]
            read += [
                layout.var(entry) for entry in values_read(node) if entry not in own and entry not in aux
            ]
            for i in range(node.num_outputs):
                request = program.plan.requests[node, i]
                if request is not OpReq.NULL:
                    entry = Entry(node, i)
                    var = layout.var(entry)
                    is_kept = request is OpReq.ADD or var in started or layout.is_part(entry)
                    (updated if is_kept else written).append(var)
            written += resource.mutable_vars_of(self._resources[node])
        return distinct(read, updated, written)


def _resources_of(node: Node, program: Program, ctx: Context) -> tuple[Any, ...]:
    forward = node.forward if isinstance(node, BackwardNode) else node
    assert isinstance(forward, OpNode)
    shapes = [program.shapes[entry] for entry in forward.args]
    prop = forward.op
    kinds: list[ResourceRequest] = (
        prop.backward_resource(shapes) if isinstance(node, BackwardNode) else prop.forward_resource(shapes)
    )
    return resource.get().request_all(ctx, kinds)


def _with_one_thread(use_threads: Callable[[bool], None], run: Callable[[Any], object]) -> None:
    use_threads(False)
    try:
        run(None)
    finally:
        use_threads(True)


def _runner(calls: list[Callable[[], object]], nodes: Sequence[Node]) -> Callable[[RunContext], None]:
    if len(calls) == 1:
        only = calls[0]

        def run_one(_: RunContext) -> None:
            try:
                only()
            except Exception as error:
                error.add_note(describe(nodes[0]))
                raise

        return run_one

    def run(_: RunContext) -> None:
        pending = iter(calls)
        try:
            _RUN_ALL(map(call, pending))
        except Exception as error:
            # invariant: the iterator has moved past the call that failed
            error.add_note(describe(nodes[len(calls) - length_hint(pending) - 1]))
            raise

    return run


def _label(nodes: Sequence[Node]) -> str:
    if len(nodes) == 1:
        return nodes[0].name
    return f"{nodes[0].name}..{nodes[-1].name}"


def describe(node: Node) -> str:
    """A node in words for an error: `in backward of Convolution 'conv2' (operad-convolution 0.1.0)`."""
    direction, forward = ("backward", node.forward) if isinstance(node, BackwardNode) else ("forward", node)
    assert isinstance(forward, OpNode)
    record = registry.find(forward.op.name)
    provider = f" ({record.distribution} {record.version})" if record is not None else ""
    return f"in {direction} of {forward.op.name} {forward.name!r}{provider}"
