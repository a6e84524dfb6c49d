"""`_cond`: one of two subgraphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

from operad import NDArray
from operad.errors import ParamError
from operad.operator import Cost, Kernel, Shape, param
from operad_control_flow.control_flow import ControlFlow
from operad_control_flow.rules import SHAPES, Rules
from operad_control_flow.runner import Runner, Target
from operad_control_flow.runs import truth
from operad_control_flow.subgraph import Subgraph


@final
class Cond(ControlFlow):
    """Run one of two subgraphs, as a third one says; `sym.contrib.cond` makes it.

    The subgraphs are the predicate, and what is run where it is true, and where it is not. Gradients flow
    through the one that ran.

    Shapes:
        output: that of both subgraphs

    Example:
        >>> import operad as od
        >>> x = od.sym.var("x")
        >>> root = od.sym.contrib.cond(x > 0, lambda: od.sym.sqrt(x), lambda: x * 0)
        >>> root.eval(x=od.nd.array([4]))[0].asnumpy(), root.eval(x=od.nd.array([-4]))[0].asnumpy()
        (array([2.], dtype=float32), array([-0.], dtype=float32))

    Source: _cond, src/operator/control_flow.cc.
    """

    name = "_cond"
    num_subgraphs: ClassVar[int] = 3

    cond_input_locs = param("shape", doc="The argument that each input of the predicate is.")
    then_input_locs = param("shape", doc="The argument that each input of the first branch is.")
    else_input_locs = param("shape", doc="The argument that each input of the second branch is.")

    def __init__(self, subgraphs: Any = (), **params: Any) -> None:
        super().__init__(subgraphs, **params)
        pairs = zip(("cond_input_locs", "then_input_locs", "else_input_locs"), self.parts, strict=True)
        self.sources = [self.sources_from(name, part) for name, part in pairs]
        counts = [part.num_outputs for part in self.parts]
        if counts != [1, self.num_outputs, self.num_outputs]:
            raise ParamError(
                f"_cond: the subgraphs have {counts} outputs, expected 1, and "
                f"num_outputs={self.num_outputs} twice"
            )

    def outputs_of(
        self, ins: list[Any], outs: Sequence[Sequence[Any]], length: int | None, rules: Rules
    ) -> list[Any]:
        """Both branches give alike outputs."""
        _, first, second = outs
        return [
            rules.same(other, one, f"output {number} of the second branch")
            for number, (one, other) in enumerate(zip(first, second, strict=True))
        ]

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Cost of the predicate and of the dearer branch."""
        predicate, *branches = map(Subgraph.cost, self.parts, self.seen(in_shapes, SHAPES))
        return predicate.plus(max(branches, key=lambda cost: cost.us))


@final
class _Runner(Runner):
    def set_up(self, prop: Any, in_shapes: Sequence[Shape]) -> None:
        self._parts = [self.runs(number) for number in range(len(prop.parts))]
        self._arguments = [[source.argument for source in sources] for sources in prop.sources]
        self._taken = 1

    def run(self, is_train: bool, keep: bool, ins: list[NDArray], outs: list[Target]) -> None:
        self._taken = 1 if truth("_cond", self._forward(0, False, False, ins)) else 2
        for out, value in zip(outs, self._forward(self._taken, is_train, keep, ins), strict=True):
            out.write(value)

    def _forward(self, number: int, is_train: bool, keep: bool, ins: list[NDArray]) -> list[NDArray]:
        values = {i: ins[argument] for i, argument in enumerate(self._arguments[number])}
        return self._parts[number].forward(0, is_train, values, keep)

    def run_back(self, is_train: bool, heads: list[NDArray], grads: list[Target]) -> None:
        grad_of = self._parts[self._taken].backward(0, heads, is_train)
        for number, argument in enumerate(self._arguments[self._taken]):
            if (grad := grad_of(number)) is not None:
                grads[argument].write(grad)


Cond.kernels.append(Kernel("python", _Runner))
