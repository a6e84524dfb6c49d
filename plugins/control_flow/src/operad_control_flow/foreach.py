"""`_foreach`: a body for each slice of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

from operad import NDArray
from operad.errors import ParamError, ShapeError
from operad.operator import Cost, Kernel, Shape, param
from operad_control_flow.control_flow import Source
from operad_control_flow.loop import Loop, LoopRunner
from operad_control_flow.rules import SHAPES, Rules


@final
class Foreach(Loop):
    """Run a subgraph for each slice along the first axis of arrays; `sym.contrib.foreach` makes it.

    The arguments are the arrays that are sliced, the states of the first step, and what else the body reads.
    All three are listed by the numbers of the body's inputs. The outputs are those of all steps, stacked
    along a new first axis, and the last states.

    Shapes:
        data0: (N, ...) of each sliced array, N at least 1
        output0: (N, ...)

    Example:
        >>> import operad as od
        >>> def add(x, total):
        ...     return total + x, total + x
        >>> data, zero = od.sym.var("data"), od.sym.var("zero")
        >>> sums, last = od.sym.contrib.foreach(add, data, zero)
        >>> sums.eval(data=od.nd.array([[1], [2], [3]]), zero=od.nd.array([0]))[0].asnumpy().ravel()
        array([1., 3., 6.], dtype=float32)

    Source: _foreach, src/operator/control_flow.cc.
    """

    name = "_foreach"
    num_subgraphs: ClassVar[int] = 1

    in_data_locs = param("shape", doc="The body's inputs that are slices.")
    in_state_locs = param("shape", doc="The body's inputs that are states.")
    remain_locs = param("shape", (), doc="The body's other inputs.")

    def __init__(self, subgraphs: Any = (), **params: Any) -> None:
        super().__init__(subgraphs, **params)
        numbers = [*self.in_data_locs, *self.in_state_locs, *self.remain_locs]
        count = len(self.body.names)
        self.check_numbers("in_data_locs + in_state_locs + remain_locs", numbers, "inputs of the body", count)
        if not self.in_data_locs or {len(numbers), count} != {len(self.list_arguments())}:
            raise ParamError(
                f"_foreach: {len(self.list_arguments())} arguments, {count} inputs of the body and "
                f"{len(numbers)} "
                f"numbers of inputs, {len(self.in_data_locs)} of them data; expected as many of each, and "
                f"data"
            )
        argument_of = {number: argument for argument, number in enumerate(numbers)}
        self.sources = [[Source(argument_of[i], i in self.in_data_locs) for i in range(count)]]
        self.states = list(self.in_state_locs)
        self.check_body()

    def length(self, ins: Sequence[Any], rules: Rules) -> int | None:
        """The length of the sliced arrays."""
        known = map(rules.length_of, ins[: len(self.in_data_locs)])
        found = {length for length in known if length is not None}
        if len(found) > 1 or 0 in found:
            raise ShapeError(f"_foreach: data has lengths {sorted(found)}, expected one of at least 1")
        return found.pop() if found else None

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Cost of all steps."""
        (shapes,) = self.seen(in_shapes, SHAPES)
        return self.body.cost(shapes) * in_shapes[0][0]


@final
class _Runner(LoopRunner):
    def set_up(self, prop: Any, in_shapes: Sequence[Shape]) -> None:
        super().set_up(prop, in_shapes)
        self._length = in_shapes[0][0]

    def goes_on(self, step: int, states: list[NDArray]) -> bool:
        return step < self._length


Foreach.kernels.append(Kernel("python", _Runner))
