"""A graph as a function of arrays: one compiled program for each signature."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final, final

from operad.compiled.backward import BackwardAlone
from operad.compiled.operator import CompiledProperty
from operad.graph import Graph, OpNode, Variable
from operad.imperative import RECORDING, TRACING, TRAINING, Array, Invoker, Plan, apply, local
from operad.ndarray import NDArray

MAX_PROGRAMS: Final = 64


@final
class GraphFunction:
    """A graph, called with an array for each of its variables.

    Args:
        graph: What is computed.
        variables: The variables in the order of a call; those that the graph does not have are not read.
        title: What errors call it.
        log: Takes a line for each program that is compiled.
        keeps_arguments: See `CompiledProperty`.
    """

    def __init__(
        self, graph: Graph, variables: Sequence[Variable], ctx: Any, title: str, log: list[str], keeps_arguments: bool = False
    ) -> None:
        self._graph, self._title, self._log, self._ctx = graph, title, log, ctx
        self._keeps_arguments = keeps_arguments
        states = set(graph.auxiliary_states)
        self._variables = variables
        there = {*graph.arguments, *states}
        picks = [i for i, node in enumerate(variables) if node in there]
        self._args = [i for i in picks if variables[i] not in states]
        self._picks = [*self._args, *[i for i in picks if variables[i] in states]]
        self._plans: dict[Any, Plan] = {}

    def __call__(self, arrays: Sequence[Array], mode: int, kind: tuple[Any, ...] = ()) -> list[NDArray]:
        """The outputs.

        Args:
            mode: The thread's.
            kind: What differs between calls of other programs, beside mode and gradients.
        """
        inputs = [arrays[i] for i in self._picks]
        wanted: tuple[bool, ...] = ()
        if mode & RECORDING:
            wanted = tuple([x._autograd is not None for x in inputs[: len(self._args)]])
            if True not in wanted:
                wanted = ()
        key = (mode & TRAINING, wanted, kind)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._compile(key, inputs)
        made = apply(plan, inputs, None, (), mode, NDArray)
        return made if isinstance(made, list) else [made]

    def _compile(self, key: Any, inputs: Sequence[Array]) -> Plan:
        begun_s = time.perf_counter()
        is_train, wanted, _ = key
        specs = [x._spec for x in inputs]
        names = [self._variables[i].name for i in self._picks]
        ctx = self._ctx
        asked = [name for name, flag in zip(names, wanted, strict=False) if flag]
        prop = CompiledProperty(
            self._title, self._graph, ctx, dict(zip(names, specs, strict=True)), asked, self._keeps_arguments
        )
        plan = Plan(prop, specs, ctx, bool(is_train))
        if not prop.is_stateful:  # else each call has an operator of its own
            run = plan.run
            (template,) = plan.operator.forward_templates(run.op_ctx, run.req, plan.signature.num_args, len(prop.states))
            plan.direct = template.function
        if asked and not prop.is_stateful:
            plan.backward_alone = BackwardAlone(plan, prop)
        layout = prop.layout
        self._log.append(
            f"compiled {prop.name} in {(time.perf_counter() - begun_s) * 1e3:.1f} ms: "
            f"{len(layout.program.forward)} and {len(layout.program.backward)} nodes, gradients of "
            f"{', '.join(asked) or 'nothing'}, {layout.arena_bytes} bytes kept"
        )
        if len(self._plans) >= MAX_PROGRAMS:
            del self._plans[next(iter(self._plans))]
        self._plans[key] = plan
        return plan
