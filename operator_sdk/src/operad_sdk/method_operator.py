"""Running methods that name what they want, under the `Operator` contract.

All look-ups are done once, when a call is prepared; the prepared call is the author's method with
its arguments, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Final, final

from operad.context import Context
from operad.dtypes import DType
from operad.operator import Array, OpContext, Operator, OperatorProperty, OpReq, Shape
from operad_sdk.methods import AUX, EXTRA, IN_DATA, IN_GRAD, OUT_DATA, OUT_GRAD, Method
from operad_sdk.outputs import Absent, Output

_NOWHERE: Final = Output(None, OpReq.NULL)

Call = Callable[[], object]
Values = list[Any]
"""Everything a method can ask for, in one list."""

Picker = Callable[[Values], Iterable[Any]]
"""Takes a method's arguments out of the values."""


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
        self._fallback = fallback
        ins, outs, states = len(in_shapes), len(prop.list_outputs()), len(prop.list_auxiliary_states())
        # invariant: forward's values are [*in_data, *outputs, *aux_states, *extras]
        firsts = {IN_DATA: 0, OUT_DATA: ins, AUX: ins + outs, EXTRA: ins + outs + states}
        self._forward = forward.function
        self._pick = _picker(forward, firsts)
        self._gradients = gradients
        if gradients is not None:
            # invariant: a gradient's are [*in_data, *out_data, *in_grads, *aux_states, *extras, *out_grad]
            extras = 2 * ins + outs + states
            firsts = {IN_DATA: 0, OUT_DATA: ins, IN_GRAD: ins + outs, AUX: 2 * ins + outs}
            firsts |= {EXTRA: extras, OUT_GRAD: extras + len(_extras(None, False))}
            self._gradient_picks = [(method.function, _picker(method, firsts)) for method in gradients]
            filled = {index for method in gradients for index in method.fills}
            self._unfilled = [index for index in range(ins) if index not in filled]

    def forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> None:
        """Call the author's `forward`."""
        self._forward(*self._pick(self._forward_values(op_ctx, in_data, req, out_data, aux_states)))

    def prepare_forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> Call:
        """The author's `forward` with its arguments."""
        values = self._forward_values(op_ctx, in_data, req, out_data, aux_states)
        return partial(self._forward, *self._pick(values))

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
        """Call each gradient of which something is wanted; arguments without one get zeros."""
        if self._gradients is None:
            assert self._fallback is not None
            self._fallback.backward(op_ctx, out_grad, in_data, out_data, req, in_grad, aux_states)
            return
        targets = self._targets(req, in_grad)
        extras = _extras(op_ctx, op_ctx.is_train)
        values = [*in_data, *out_data, *targets, *aux_states, *extras, *out_grad]
        for function, pick in self._wanted_gradients(req):
            function(*pick(values))
        for index in self._unfilled:
            targets[index].assign(0)

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
        """The calls of `backward`; the one call where there is only one."""
        if self._gradients is None:
            assert self._fallback is not None
            return self._fallback.prepare_backward(
                op_ctx, out_grad, in_data, out_data, req, in_grad, aux_states
            )
        targets = self._targets(req, in_grad)
        extras = _extras(op_ctx, op_ctx.is_train)
        values = [*in_data, *out_data, *targets, *aux_states, *extras, *out_grad]
        calls: list[Call] = [
            partial(function, *pick(values)) for function, pick in self._wanted_gradients(req)
        ]
        calls += [partial(targets[index].assign, 0) for index in self._unfilled if targets[index].wanted]
        return calls[0] if len(calls) == 1 else partial(_call_all, calls)

    def _forward_values(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> Values:
        outputs = list(map(Output, out_data, req))
        if OpReq.NULL in req:
            outputs = self._outputs(req, out_data)
        return [*in_data, *outputs, *aux_states, *_extras(op_ctx, op_ctx.is_train)]

    def _outputs(self, req: Sequence[OpReq], out_data: Sequence[Array | None]) -> list[Output]:
        """The outputs where some are not wanted, and their arrays perhaps not there."""
        shapes: Sequence[Any] = self._prop.infer_shape(self._in_shapes)[1]
        types = self._prop.infer_type(self._in_types)[1]
        described = zip(out_data, req, shapes, types, strict=True)
        return [Output(out, r, Absent(shape, dtype, self._xp)) for out, r, shape, dtype in described]

    def _wanted_gradients(self, req: Sequence[OpReq]) -> Iterable[tuple[Callable[..., object], Picker]]:
        if OpReq.NULL not in req:
            return self._gradient_picks
        pairs = zip(self._gradients or (), self._gradient_picks, strict=True)
        return [pick for method, pick in pairs if any(req[index] is not OpReq.NULL for index in method.fills)]

    def _targets(self, req: Sequence[OpReq], in_grad: Sequence[Array | None]) -> list[Output]:
        if OpReq.NULL not in req:
            return list(map(Output, in_grad, req))
        described = zip(in_grad, req, self._in_shapes, self._in_types, strict=True)
        return [Output(grad, r, Absent(shape, dtype, self._xp)) for grad, r, shape, dtype in described]


def _extras(op_ctx: OpContext | None, is_train: bool) -> tuple[Any, ...]:
    """The values of group `EXTRA`, in the order of its slots."""
    return (op_ctx, is_train, None, _NOWHERE)


def _picker(method: Method, firsts: Mapping[str, int]) -> Picker:
    """The picker of a method, where `firsts` says at which value each group begins."""
    places = [
        firsts[group] + index if isinstance(index, int) else tuple(firsts[group] + i for i in index)
        for group, index in method.slots
    ]
    if len(places) > 1 and all(isinstance(place, int) for place in places):
        return itemgetter(*places)
    return lambda values: [
        values[place] if isinstance(place, int) else tuple(values[i] for i in place) for place in places
    ]


def _call_all(calls: Iterable[Call]) -> None:
    for call in calls:
        call()
