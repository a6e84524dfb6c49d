"""Segments: runs of nodes that the engine sees as one operation.

Pushing each node to the engine would cost more than many nodes compute. A segment is a list of
calls whose arrays, requests and contexts are fixed, so that running it is a loop in C over functions
and their arguments; the engine orders whole segments by the variables of all their arrays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
from functools import partial
from itertools import starmap
from operator import call, length_hint
from time import perf_counter
from typing import Any, Final, final

from operad import engine, registry, resource
from operad.engine import Opr, RunContext, Var
from operad.engine.thread import NESTED, local
from operad.graph import Node, OpNode, cut
from operad.imperative import distinct
from operad.program.binding import Binding
from operad.program.code import KeptCalls, SegmentCode
from operad.program.profile import Timeline, node_profiling
from operad.program.program import Program

_Form = tuple[bool, bool]
"""Kind of a run: one of training or not, and with its nodes timed or not."""

_RUN_ALL: Final[Callable[[Iterable[object]], None]] = deque[object](maxlen=0).extend


def codes(program: Program, node_ids: Iterable[int], by_node: bool = False) -> list[SegmentCode]:
    """The nodes as segments without arrays, in the order to push them.

    Args:
        by_node: Whether every node is a segment of its own.
    """
    parts = cut(program.plan.schedule, node_ids)
    if by_node:
        parts = [[node_id] for node_id in sorted(node_id for part in parts for node_id in part)]
    return [SegmentCode(program, part) for part in parts]


def segments(binding: Binding, parts: Iterable[SegmentCode], started: Collection[Var] = ()) -> list[Segment]:
    """The segments that are pushed one after another in one run.

    Args:
        started: Variables of planned blocks that have been written before in the same run.
    """
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
            those left there counts. Any other block starts over here, whatever an earlier run left.

    Attributes:
        node_ids: What it runs, in order.
        ctx: Where.
        code: Its calls, without arrays.
        started: With those that this segment writes.
    """

    def __init__(self, binding: Binding, code: SegmentCode, started: Collection[Var]) -> None:
        self.node_ids = code.node_ids
        self.ctx = code.ctx
        self._binding = binding
        self.code = code
        self._runners: dict[_Form, Callable[[RunContext | None], None]] = {}
        self._oprs: dict[tuple[engine.Engine, Callable[..., None]], Opr] = {}
        self._modes = {is_train: self._variables(started, is_train) for is_train in (False, True)}
        self.started = frozenset([*started, *self._modes[True][1]])

    def push(
        self,
        is_train: bool,
        alone: bool = False,
        size_bytes: int = 0,
        before: Callable[[], object] | None = None,
    ) -> None:
        """Schedule one run, or run here and now what is light and has nothing beside it.

        Args:
            is_train: The mode.
            alone: Whether no other segment could run at the same time. A light segment then runs in
                this thread if its variables are idle: handing it to a worker and taking the
                interpreter's lock alternately would cost more than it computes.
            size_bytes: Memory that is in use for this run only, until it is done.
            before: Called inside the operation, before its nodes run.
        """
        current = engine.get()
        form = (is_train, node_profiling.observer is not None)
        run = self._runners.get(form)
        if run is None:
            run = self._runners[form] = self._runner(*form)
        if before is not None:
            run = partial(_run_behind, before, run)
        if local.state.inside == NESTED:
            self._run_inline(current, run, is_train)
        elif not (alone and self.code.is_light and self._run_inline(current, run, is_train)):
            opr = self._oprs.get((current, run)) or self._made(current, run, is_train)
            if before is None:
                self._oprs[current, run] = opr
            current.push(opr, self.ctx, size_bytes=size_bytes)

    def _run_inline(self, current: engine.Engine, run: Callable[[Any], object], is_train: bool) -> bool:
        fn, args = (engine.run_single, (run, None)) if self.code.uses_blas else (run, (None,))
        call = (fn, args, self.ctx, *self._modes[is_train][:2], self.code.label)
        return current.run_inline(*call) or current.run_inline_soon(*call)

    def _made(self, current: engine.Engine, run: Callable[[Any], None], is_train: bool) -> Opr:
        const, mutable, updated = self._modes[is_train]
        label, is_parallel = self.code.label, self.code.is_parallel
        return current.new_operator(
            run, const, mutable, name=label, reads_mutable=updated, is_parallel=is_parallel
        )

    def _runner(self, is_train: bool, is_timed: bool) -> Callable[[RunContext | None], None]:
        """The loop over the calls."""
        kept = KeptCalls(
            self.code, self._binding.operators, is_train, self._binding.data_of(self.code.entries)
        )
        return partial(run_calls, self.code, kept, self.code.timeline(is_train) if is_timed else None)

    def _variables(self, started: Collection[Var], is_train: bool) -> tuple[list[Var], list[Var], list[Var]]:
        binding, code = self._binding, self.code
        updated: dict[Var, None] = dict.fromkeys(binding.vars_of(code.states[is_train]))
        written: dict[Var, None] = {}
        read = binding.vars_of(code.reads)
        before = frozenset(read)
        for target, adds in code.writes:
            place = binding.var(target)
            is_kept = place in started or place in before or binding.is_part(target)
            # A gradient that is added here to a sum of this segment's is not kept from before.
            is_kept |= adds and place not in written
            (updated if is_kept else written)[place] = None
        for node_id, is_anew in code.kept.items():
            if (state := binding.state_vars.get(node_id)) is not None:
                (written if is_anew else updated)[state] = None
        for resources in code.resources.values():
            written.update(dict.fromkeys(resource.mutable_vars_of(resources)))
        return distinct(read, updated, written)


def run_calls(code: SegmentCode, kept: KeptCalls, timeline: Timeline | None, *_: Any) -> None:
    """Make the calls of a segment, one after another.

    Args:
        timeline: What is told when each call ended; None: no clock is read.
    """
    pending = iter(kept.calls)
    try:
        if timeline is None:
            _RUN_ALL(starmap(call, pending))
            return
        times_s = [perf_counter()]
        try:
            for _ in starmap(call, pending):
                times_s.append(perf_counter())  # noqa: PERF401 - a generator is a frame more in tracebacks
        finally:
            timeline.report(times_s)
    except Exception as error:
        # invariant: the iterator has moved past the call that failed
        failed = kept.node_ids[len(kept.calls) - length_hint(pending) - 1]
        error.add_note(describe(code.program.graph.nodes[failed]))
        raise


def run_kept(code: SegmentCode, kept: KeptCalls, is_train: bool) -> None:
    """Make the calls, as `run_calls`, and tell a profiler that looks at nodes."""
    run_calls(code, kept, node_profiling.observer and code.timeline(is_train))


def _run_behind(before: Callable[[], object], run: Callable[[Any], None], ctx: RunContext | None) -> None:
    before()
    run(ctx)


def describe(node: Node) -> str:
    """A node in words for an error: `in backward of Convolution 'conv2' (operad-convolution 0.1.0)`."""
    assert isinstance(node, OpNode)
    applied = node.companion or node
    direction = "forward" if applied is node else "backward"
    provider = registry.provider(applied.op.name)
    return f"in {direction} of {applied.op.name} {applied.name!r}" + (f" ({provider})" if provider else "")
