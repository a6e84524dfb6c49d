"""Segments: runs of nodes that the engine sees as one operation.

Pushing each node to the engine would cost more than many nodes compute. A segment is a list of
calls whose arrays, requests and contexts are fixed, so that running it is a loop in C over
prepared callables; the engine orders whole segments by the variables of all their arrays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from operator import call, length_hint
from typing import Any, Final, final

from operad import engine, registry, resource
from operad.config import settings
from operad.engine import Opr, RunContext, Var
from operad.engine.thread import NESTED, local
from operad.graph import BackwardNode, Node, OpNode, cut, estimated_us
from operad.imperative import distinct
from operad.operator import OpContext, OpReq
from operad.program.binding import Binding

_RUN_ALL: Final[Callable[[Iterable[object]], None]] = deque[object](maxlen=0).extend

INLINE_US: Final = 200.0
"""A segment estimated below this may run in the calling thread; handing it over costs about 14 us."""
_BLAS_COST: Final = 1 << 18
"""Below this cost a BLAS product uses one thread anyhow, so nobody need say how many it may use."""


def segments(
    binding: Binding, steps: Iterable[int], started: Collection[Var] = (), by_node: bool = False
) -> list[Segment]:
    """The steps as segments, in the order to push them.

    Args:
        started: Variables of planned blocks that have been written before in the same run.
        by_node: Whether every node is a segment of its own.
    """
    schedule = binding.program.plan.schedule
    parts = cut(schedule, steps)
    if by_node:
        parts = [[step] for step in sorted(step for part in parts for step in part)]
    made: list[Segment] = []
    for part in parts:
        made.append(Segment(binding, part, started))
        started = made[-1].started
    return made


@final
class Segment:
    """A piece of one partition.

    Args:
        started: Variables of planned blocks that earlier segments of the same run have written: what
            those left there counts. Any other block begins anew here, whatever an earlier run left.

    Attributes:
        steps: What it runs, in order.
        ctx: Where.
        started: With those that this segment writes.
    """

    def __init__(self, binding: Binding, steps: Sequence[int], started: Collection[Var]) -> None:
        self.steps = steps
        self._binding = binding
        self._program = program = binding.program
        self.ctx = program.contexts[steps[0]]
        self._by_mode: dict[bool, tuple[engine.Engine, Opr]] = {}
        manager = resource.get()
        self._resources: dict[int, tuple[Any, ...]] = {
            step: manager.request_all(self.ctx, kinds) for step in steps if (kinds := program.resources(step))
        }
        costs = [program.costs[step] for step in steps]
        self._is_light = (
            not self.ctx.is_gpu and settings().inline_cost > 0 and estimated_us(costs) < INLINE_US
        )
        self._uses_blas_threads = max(costs) >= _BLAS_COST
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
                name=self._label(),
                reads_mutable=self._updated,
                is_parallel=self._is_parallel(self.steps[0]),
            )
            self._by_mode[is_train] = (current, opr)
        if local.state.inside == NESTED:
            current.run_nested(opr.fn, (None,), self._const, self._mutable, opr.name)
        elif not (alone and self._is_light and self._run_inline(current, opr)):
            current.push(opr, self.ctx)

    def _run_inline(self, current: engine.Engine, opr: Opr) -> bool:
        fn: Callable[..., object] = opr.fn
        args: tuple[object, ...] = (None,)
        if self._uses_blas_threads:
            fn, args = _with_one_thread, (current.use_threads, opr.fn)
        return current.run_inline(fn, args, self.ctx, self._const, self._mutable, opr.name)

    def _runner(self, is_train: bool, use_threads: Callable[[bool], None]) -> Callable[[RunContext], None]:
        """The loop over the calls; between light and heavy nodes it says what threads are worth."""
        calls: list[Callable[[], object]] = []
        steps: list[int] = []
        was_parallel = self._is_parallel(self.steps[0])
        for step in self.steps:
            is_parallel = self._is_parallel(step)
            if is_parallel != was_parallel and self._program.costs[step] >= _BLAS_COST:
                was_parallel = is_parallel
                calls.append(partial(use_threads, is_parallel))
                steps.append(step)
            calls.append(self._prepared(step, is_train))
            steps.append(step)
        nodes = self._program.graph.nodes
        return _runner(calls, lambda index: describe(nodes[steps[index]]))

    def _is_parallel(self, step: int) -> bool:
        return self._program.costs[step] >= settings().parallel_cost

    def _prepared(self, step: int, is_train: bool) -> Callable[[], object]:
        """The step as a callable that takes nothing."""
        call, data = self._program.call(step), self._binding.data
        node = self._program.graph.nodes[step]
        operator = self._binding.operators[call.operator]
        op_ctx = OpContext(self.ctx, is_train, self._resources.get(step, ()))
        ins = [None if entry is None else data(entry) for entry in call.slots]
        outs = [None if entry is None else data(entry) for entry in call.outs]
        aux = [data(entry) for entry in call.aux]
        if isinstance(node, OpNode):
            return operator.prepare_forward(op_ctx, ins, call.req, outs, aux)
        assert isinstance(node, BackwardNode)
        heads, args = node.forward.num_outputs, node.forward.num_outputs + node.forward.num_args
        return operator.prepare_backward(
            op_ctx, ins[:heads], ins[heads:args], ins[args:], call.req, outs, aux
        )

    def _variables(self, started: Collection[Var]) -> tuple[list[Var], list[Var], list[Var]]:
        binding, var = self._binding, self._binding.var
        read: dict[Var, None] = {}
        written: dict[Var, None] = {}
        updated: dict[Var, None] = {}
        own: set[int | None] = set()
        for step in self.steps:
            call = self._program.call(step)
            for entry in call.aux:
                updated[var(entry)] = None
            for entry in call.reads:
                if entry not in own:
                    read[var(entry)] = None
            for target, request in zip(call.outs, call.req, strict=True):
                if target is not None:
                    place = var(target)
                    is_kept = place in started or binding.is_part(target)
                    # A gradient that is added here to a sum of this segment's is not kept from before.
                    is_kept |= request is OpReq.ADD and place not in written
                    (updated if is_kept else written)[place] = None
            own.update(call.outs)
            if (state := binding.state_vars.get(call.operator)) is not None:
                (written if step == call.operator else updated)[state] = None
            if step in self._resources:
                written.update(dict.fromkeys(resource.mutable_vars_of(self._resources[step])))
        return distinct(list(read), updated, written)

    def _label(self) -> str:
        nodes = self._program.graph.nodes
        first, last = nodes[self.steps[0]].name, nodes[self.steps[-1]].name
        return first if len(self.steps) == 1 else f"{first}..{last}"


def _with_one_thread(use_threads: Callable[[bool], None], run: Callable[[Any], object]) -> None:
    use_threads(False)
    try:
        run(None)
    finally:
        use_threads(True)


def _runner(
    calls: list[Callable[[], object]], describe_call: Callable[[int], str]
) -> Callable[[RunContext], None]:
    def run(_: RunContext) -> None:
        pending = iter(calls)
        try:
            _RUN_ALL(map(call, pending))
        except Exception as error:
            # invariant: the iterator has moved past the call that failed
            error.add_note(describe_call(len(calls) - length_hint(pending) - 1))
            raise

    return run


def describe(node: Node) -> str:
    """A node in words for an error: `in backward of Convolution 'conv2' (operad-convolution 0.1.0)`."""
    direction, forward = ("backward", node.forward) if isinstance(node, BackwardNode) else ("forward", node)
    assert isinstance(forward, OpNode)
    provider = registry.provider(forward.op.name)
    return f"in {direction} of {forward.op.name} {forward.name!r}" + (f" ({provider})" if provider else "")
