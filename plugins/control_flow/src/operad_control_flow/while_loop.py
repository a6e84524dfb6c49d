"""`_while_loop`: a body while a condition holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

from operad import NDArray
from operad.errors import ParamError
from operad.operator import Cost, Kernel, Shape, param
from operad_control_flow.loop import Loop, LoopRunner
from operad_control_flow.rules import SHAPES, Rules
from operad_control_flow.runner import Target
from operad_control_flow.runs import truth
from operad_control_flow.subgraph import Subgraph


@final
class WhileLoop(Loop):
    """Run a subgraph while another one gives true; `sym.contrib.while_loop` makes it.

    The subgraphs are the condition and the body. The outputs are those of all steps, stacked along a new
    first axis of length `max_iterations`, with 0 where no step wrote, and the last loop variables.

    Shapes:
        output0: (max_iterations, ...)

    Example:
        >>> import operad as od
        >>> i = od.sym.var("i")
        >>> squares, last = od.sym.contrib.while_loop(
        ...     lambda i: i < 3, lambda i: (i * i, i + 1), i, max_iterations=5
        ... )
        >>> found = od.sym.Group([squares, last]).eval(i=od.nd.array([1]))
        >>> found[0].asnumpy().ravel(), found[1].asnumpy()
        (array([1., 4., 0., 0., 0.], dtype=float32), array([3.], dtype=float32))

    Source: _while_loop, src/operator/control_flow.cc. Differs: rows that no step wrote are 0.
    """

    name = "_while_loop"
    num_subgraphs: ClassVar[int] = 2

    max_iterations = param(int, ge=1, doc="The most steps there may be.")
    cond_input_locs = param("shape", doc="The argument that each input of the condition is.")
    func_input_locs = param("shape", doc="The argument that each input of the body is, in the first step.")
    func_var_locs = param("shape", doc="The body's inputs that are loop variables.")

    def __init__(self, subgraphs: Any = (), **params: Any) -> None:
        super().__init__(subgraphs, **params)
        pairs = zip(("cond_input_locs", "func_input_locs"), self.parts, strict=True)
        self.sources = [self.sources_from(name, part) for name, part in pairs]
        self.check_numbers("func_var_locs", self.func_var_locs, "inputs of the body", len(self.body.names))
        if self.parts[0].num_outputs != 1:
            raise ParamError(
                f"_while_loop: the condition has {self.parts[0].num_outputs} outputs, expected 1"
            )
        self.states = list(self.func_var_locs)
        self.check_body()

    def length(self, ins: Sequence[Any], rules: Rules) -> int | None:
        """The most steps there may be."""
        most: int = self.max_iterations
        return most

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Cost of all steps there may be."""
        condition, body = map(Subgraph.cost, self.parts, self.seen(in_shapes, SHAPES))
        total: Cost = condition.plus(body) * self.max_iterations
        return total


@final
class _Runner(LoopRunner):
    def set_up(self, prop: Any, in_shapes: Sequence[Shape]) -> None:
        super().set_up(prop, in_shapes)
        # Whatever is no loop variable has the same value in all steps.
        state_of = {argument: state for state, argument in enumerate(prop.state_arguments)}
        arguments = {number: source.argument for number, source in enumerate(prop.sources[0])}
        self._read_states = {number: state_of[a] for number, a in arguments.items() if a in state_of}
        self._others = {number: a for number, a in arguments.items() if a not in state_of}
        self._condition = self.runs(0, list(self._others))
        self._most = prop.max_iterations

    def begin(self, ins: list[NDArray]) -> None:
        self._condition.set_shared({number: ins[argument] for number, argument in self._others.items()})

    def goes_on(self, step: int, states: list[NDArray]) -> bool:
        values = {number: states[state] for number, state in self._read_states.items()}
        return step < self._most and truth("_while_loop", self._condition.forward(0, False, values))

    def end(self, num_steps: int, stacked: list[Target]) -> None:
        for target in stacked:
            for row in range(num_steps, self._most):
                target.write_row(row, 0)


WhileLoop.kernels.append(Kernel("python", _Runner))
