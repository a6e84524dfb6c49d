"""Running methods that name what they want, under the `Operator` contract.

All look-ups are done once, when a call is prepared; the prepared call is the author's method with
its arguments, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, final

from operad.context import Context
from operad.dtypes import DType
from operad.operator import Array, OpContext, Operator, OperatorProperty, OpReq, Shape
from operad_sdk.methods import AUX, EXTRA, IN_DATA, IN_GRAD, OUT_DATA, OUT_GRAD, Method
from operad_sdk.outputs import Output

_NOWHERE: Final = Output(None, OpReq.NULL, (), None)

Call = Callable[[], object]
Groups = Mapping[str, Sequence[Any]]


@final
class MethodOperator(Operator):
    """Calls a `forward` and gradients by name.

    Args:
        gradients: None: those of `fallback`, the operator's own kernel.
    """

    def __init__(
        self,
        prop: OperatorProperty,
        ctx: Context,
        in_shapes: Sequence[Shape],
        in_types: Sequence[DType],
        *,
        forward: Method,
        gradients: Sequence[Method] | None,
        fallback: Operator | None = None,
    ) -> None:
        self._prop = prop
        self._xp = ctx.xp
        self._in_shapes = in_shapes
        self._in_types = in_types
        self._forward = forward
        self._gradients = gradients
        self._fallback = fallback

    def forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> None:
        """Call the author's `forward`."""
        self.prepare_forward(op_ctx, in_data, req, out_data, aux_states)()

    def prepare_forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> Call:
        """The author's `forward` with its arguments."""
        groups = {
            IN_DATA: in_data,
            OUT_DATA: self._outputs(req, out_data),
            AUX: aux_states,
            EXTRA: (op_ctx, op_ctx.is_train, None, _NOWHERE),
        }
        return _prepared(self._forward, groups)

    def backward(
        self,
        op_ctx: OpContext,
        out_grad: Sequence[Array | None],
        in_data: Sequence[Array | None],
        out_data: Sequence[Array | None],
        req: Sequence[OpReq],
        in_grad: Sequence[Array | None],
        aux_states: Sequence[Array],
    ) -> None:
        """Call each gradient of which something is wanted."""
        self.prepare_backward(op_ctx, out_grad, in_data, out_data, req, in_grad, aux_states)()

    def prepare_backward(
        self,
        op_ctx: OpContext,
        out_grad: Sequence[Array | None],
        in_data: Sequence[Array | None],
        out_data: Sequence[Array | None],
        req: Sequence[OpReq],
        in_grad: Sequence[Array | None],
        aux_states: Sequence[Array],
    ) -> Call:
        """The one gradient call where there is only one; arguments without a gradient get zeros."""
        if self._gradients is None:
            assert self._fallback is not None
            return self._fallback.prepare_backward(
                op_ctx, out_grad, in_data, out_data, req, in_grad, aux_states
            )
        targets = [
            Output(array, r, shape, dtype, self._xp)
            for array, r, shape, dtype in zip(in_grad, req, self._in_shapes, self._in_types, strict=True)
        ]
        groups = {
            OUT_GRAD: out_grad,
            IN_DATA: in_data,
            OUT_DATA: out_data,
            IN_GRAD: targets,
            AUX: aux_states,
            EXTRA: (op_ctx, op_ctx.is_train, None, _NOWHERE),
        }
        calls: list[Call] = []
        reached: set[int] = set()
        for method in self._gradients:
            reached.update(method.fills)
            if any(targets[i].wanted for i in method.fills):
                calls.append(_prepared(method, groups))
        calls += [
            partial(targets[i].assign, 0)
            for i in range(len(targets))
            if i not in reached and targets[i].wanted
        ]
        return calls[0] if len(calls) == 1 else partial(_call_all, calls)

    def _outputs(self, req: Sequence[OpReq], out_data: Sequence[Array]) -> list[Output]:
        if all(array is not None for array in out_data):
            return [
                Output(out, r, out.shape, out.dtype, self._xp) for out, r in zip(out_data, req, strict=True)
            ]
        shapes: Sequence[Any] = self._prop.infer_shape(self._in_shapes)[1]
        types = self._prop.infer_type(self._in_types)[1]
        described = zip(out_data, req, shapes, types, strict=True)
        return [Output(out, r, shape, dtype, self._xp) for out, r, shape, dtype in described]


def _prepared(method: Method, groups: Groups) -> Call:
    values = [
        groups[group][index] if isinstance(index, int) else tuple(groups[group][i] for i in index)
        for group, index in method.slots
    ]
    return partial(method.function, *values)


def _call_all(calls: Iterable[Call]) -> None:
    for call in calls:
        call()
