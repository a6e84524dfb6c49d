"""Gradients of operators that are linear in arguments: each is the operator, or a gradient of it, once more.

What `linear_in` names has gradients whose own gradients need neither a formula nor tracing. `sum(g * f(x,
w))` is linear in `g`, `x` and `w`, so its slopes by them, the output and the two gradients, are slopes of
each other. The operator's own kernels compute them, to any order: those of a convolution are convolutions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

from operad.context import Context
from operad.dtypes import DType
from operad.operator import Array, BackwardArrays, BackwardEntry, ForwardArrays, OpReq, Shape
from operad_sdk.declare.names import IN_DATA, OUT_GRAD
from operad_sdk.declare.trace_resources import TraceResources
from operad_sdk.differentiate import multilinear
from operad_sdk.errors import DeclarationError

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

Slope = Callable[..., Any]
"""Takes an `op_ctx` by name, the gradient of the output, and the other linear arguments."""


def linear_slopes(
    prop: OperatorProperty, ctx: Context, ins: Sequence[tuple[Shape, DType]]
) -> Mapping[int, tuple[Slope, Sequence[int]]]:
    """By the position of each linear argument its gradient as a step of a trace, and what that reads.

    Raises:
        DeclarationError: A gradient reads more than linear arguments and the gradient of the one output.
    """
    names = prop.list_arguments()
    positions = [names.index(name) for name in prop.linear_in if name in names]
    allowed = {BackwardEntry(OUT_GRAD, 0), *(BackwardEntry(IN_DATA, position) for position in positions)}
    if not allowed.issuperset(prop.backward_dependency([i in positions for i in range(len(names))])):
        raise DeclarationError(
            f"{prop.name}: linear_in is {tuple(prop.linear_in)}, and a gradient of these reads something else"
        )
    slopes = multilinear(_Slopes(prop, ctx, ins, positions), 1 + len(positions))[1:]
    others = [[other for other in positions if other != position] for position in positions]
    return dict(zip(positions, zip(slopes, others, strict=True), strict=True))


@final
class _Slopes:
    """Slopes of `sum(g * output)`, by `g` and by each linear argument, where the other arguments are 0."""

    def __init__(
        self,
        prop: OperatorProperty,
        ctx: Context,
        ins: Sequence[tuple[Shape, DType]],
        positions: Sequence[int],
    ) -> None:
        shapes, types = zip(*ins, strict=True)
        self._operator = prop.create_operator(ctx, shapes, types)
        self._ins = ins
        (self._out,) = zip(prop.infer_shape(shapes)[1], prop.infer_type(types)[1], strict=True)
        self._positions = positions

    def __call__(self, target: int, *others: Array, op_ctx: Any) -> Array:
        """The slope by one of them, from plain arrays."""
        xp = op_ctx.xp
        run = op_ctx._replace(requested=TraceResources(xp))
        arrays = list(map(xp.ascontiguousarray, others))
        head, position = (arrays.pop(0), self._positions[target - 1]) if target else (None, None)
        given = [other for other in self._positions if other != position]
        ins = [None if i in self._positions else xp.zeros(*like) for i, like in enumerate(self._ins)]
        for other, array in zip(given, arrays, strict=True):
            ins[other] = array
        if position is None:
            made = xp.empty(*self._out)
            self._operator.forward(run, ForwardArrays(ins, [OpReq.WRITE], [made]))
            return made
        made = xp.empty(*self._ins[position])
        requests = [OpReq.WRITE if i == position else OpReq.NULL for i in range(len(ins))]
        grads = [made if i == position else None for i in range(len(ins))]
        self._operator.backward(run, BackwardArrays([head], ins, [None], requests, grads))
        return made
