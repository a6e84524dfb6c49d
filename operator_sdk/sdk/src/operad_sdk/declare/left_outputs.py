"""Slopes of what forward leaves for gradients: means, norms, gates, which have no gradient of their own.

A gradient that reads such an output has its value, but where that gradient is differentiated, how the output
depends on the arguments counts too. So forward runs once more, on the traced arrays: values stay those that
it left the first time, derivatives are those of the trace. What it drew stands in hidden outputs of slope 0;
its generator is None then, so that it draws nothing. Arguments that the gradient does not read are not
there, nor are auxiliary states of the first time; an output that depends on one of these is refused.
(Arguments that the others are only compared with leave no trace. B312 sees that.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from operad.errors import GradientError, OperadError
from operad.operator import BackwardEntry, ForwardArrays, Operator, OpReq
from operad_sdk.declare.names import OUT_DATA, OUT_GRAD
from operad_sdk.differentiate import Node, Primitive, Traced, behind

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

_with_slope: Final = Primitive(lambda again, left: left, lambda g, y, again, left: g)
"""Value that forward left, with the slope of what it computes again."""


def left_outputs(
    prop: OperatorProperty, entries: Sequence[BackwardEntry], out_types: Sequence[Any]
) -> list[int]:
    """Outputs among entries whose slopes no gradient tells: hidden, or with a gradient that is ignored."""
    names, every = prop.list_outputs(), prop.backward_dependency(prop.differentiable_inputs())
    return [
        index
        for kind, index in entries
        if kind == OUT_DATA and out_types[index].kind == "f" and names[index] not in prop.constant_outputs
        if index >= prop.num_visible_outputs or BackwardEntry(OUT_GRAD, index) not in every
    ]


def with_slopes(
    prop: OperatorProperty,
    operator: Operator,
    context: Any,
    level: int,
    given: Sequence[Any],
    like: Sequence[Any],
    left: Mapping[int, Any],
    drawn: Mapping[int, Any],
) -> dict[int, Any]:
    """Outputs that forward left, with their slopes.

    Args:
        operator: Runs forward in a trace.
        context: Its `op_ctx`.
        level: The trace.
        given: The arguments; None for those that are not there.
        like: Shapes and types of all arguments.
        left: Values of the outputs by position.
        drawn: The same of outputs that hold what forward drew the first time.
    Raises:
        GradientError: Forward cannot be traced, or an output depends on what is not there.
    """
    shapes, types = zip(*like, strict=True)
    made = [
        [_unknown(context.ctx.xp, level, *each) for each in zip(*both, strict=True)]
        for both in zip(prop.infer_shape(shapes), prop.infer_type(types), strict=True)
    ]
    for index, value in drawn.items():
        made[1][index] = value
    ins = [unknown if own is None else own for own, unknown in zip(given, made[0], strict=True)]
    missing = {
        unknown.node: name
        for own, unknown, name in zip(given, made[0], prop.list_arguments(), strict=True)
        if own is None
    }
    try:
        if any(node.value.dtype.kind != "f" for node in missing):
            raise GradientError("they are no real numbers")
        operator.forward(context, ForwardArrays(ins, [OpReq.WRITE] * len(made[1]), made[1], made[2]))
    except Exception as error:
        why = str(error) if isinstance(error, OperadError) else f"{type(error).__name__}: {error}"
        raise _refusal(prop, left, _unread(missing.values()) if missing else why) from error
    states = dict(zip([cell.node for cell in made[2]], prop.list_auxiliary_states(), strict=True))
    arguments = {cell.node for cell in ins if isinstance(cell, Traced)}
    for index in left:
        sources = behind([made[1][index].node])
        # An output of states alone is a constant, whatever they were.
        unknown = missing | states if sources & arguments else missing
        if sources & unknown.keys():
            raise _refusal(prop, [index], _unread(unknown[node] for node in sources & unknown.keys()))
    return {index: _with_slope(made[1][index], value) for index, value in left.items()}


def _unknown(xp: Any, level: int, shape: Any, dtype: Any) -> Traced:
    """An array that any computation can be told to have used."""
    return Traced(Node(level, xp.full(shape, np.nan if dtype.kind == "f" else 0, dtype), is_input=True))


def _unread(names: Any) -> str:
    return f"it computes them from {', '.join(sorted(names))} too, which the gradient does not read"


def _refusal(prop: OperatorProperty, outputs: Any, why: str) -> GradientError:
    if prop.unknown_slopes:
        return GradientError(prop.unknown_slopes)
    names = prop.list_outputs()
    hidden = [names[index] for index in outputs if index >= prop.num_visible_outputs]
    shown = [names[index] for index in outputs if index < prop.num_visible_outputs]
    reads = [f"the hidden output{'s' * (len(hidden) > 1)} {', '.join(hidden)}"] if hidden else []
    reads += [f"the output {name}, whose own gradient it ignores" for name in shown]
    return GradientError(
        f"it reads {' and '.join(reads)}, and forward does not show how that depends on arguments ({why}); "
        "if the slope is 0, name it in constant_outputs"
    )
