"""Running the functions of a simple operator, and making its property."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from operad.context import Context
from operad.dtypes import DType
from operad.operator.context import OpContext
from operad.operator.kernel import Kernel
from operad.operator.property import Array, Operator, Shape
from operad.operator.req import OpReq, assign
from operad.operator.simple import OGRAD, OUT, SimpleOp, SimpleOpProperty

_WITHOUT_POSITIONAL_OUT: Final = (np.maximum, np.minimum)
"""Ufuncs for which NumPy deprecates an output given by position."""


class SimpleOperator(Operator):
    """Runs the functions of a `SimpleOp`."""

    def __init__(
        self, prop: SimpleOpProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        self._simple = prop.simple
        self._params = prop.call_params(in_types[0])
        if self._simple.takes_out and not self._simple.takes_context:
            self.direct = self._direct()

    def _direct(self) -> Callable[..., object]:
        function, params = self._simple.function, self._params
        if isinstance(function, np.ufunc) and not params and function not in _WITHOUT_POSITIONAL_OUT:
            return function
        if len(self._simple.arguments) == 1:
            return lambda data, out: function(data, *params, out=out)
        return lambda lhs, rhs, out: function(lhs, rhs, *params, out=out)

    def forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> None:
        """Apply the function."""
        simple = self._simple
        self._run(op_ctx, simple.function, simple.takes_out, in_data, req[0], out_data[0])

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
        """Apply each requested gradient."""
        for call in self._gradient_calls(op_ctx, out_grad, in_data, out_data, req, in_grad):
            call()

    def prepare_backward(
        self,
        op_ctx: OpContext,
        out_grad: Sequence[Array | None],
        in_data: Sequence[Array | None],
        out_data: Sequence[Array | None],
        req: Sequence[OpReq],
        in_grad: Sequence[Array | None],
        aux_states: Sequence[Array],
    ) -> Callable[[], object]:
        """The one gradient call where there is only one."""
        calls = self._gradient_calls(op_ctx, out_grad, in_data, out_data, req, in_grad)
        if len(calls) == 1:
            return calls[0]
        return partial(_call_all, calls)

    def _gradient_calls(
        self,
        op_ctx: OpContext,
        out_grad: Sequence[Array | None],
        in_data: Sequence[Array | None],
        out_data: Sequence[Array | None],
        req: Sequence[OpReq],
        in_grad: Sequence[Array | None],
    ) -> list[Callable[[], object]]:
        simple = self._simple
        arrays = {OGRAD: out_grad[0], OUT: out_data[0], **dict(zip(simple.arguments, in_data, strict=True))}
        requested = [
            (gradient, r, target)
            for gradient, r, target in zip(simple.gradients, req, in_grad, strict=True)
            if r is not OpReq.NULL
        ]
        calls: list[Callable[[], object]] = []
        for gradient, r, target in requested:
            if gradient is None:
                calls.append(partial(assign, target, r, 0))
                continue
            reads = [arrays[name] for name in gradient.reads]
            calls.append(self._prepared(op_ctx, gradient.function, gradient.takes_out, reads, r, target))
        return calls

    def _prepared(
        self,
        op_ctx: OpContext,
        function: Callable[..., Any],
        takes_out: bool,
        reads: list[Array],
        r: OpReq,
        out: Array,
    ) -> Callable[[], object]:
        if takes_out and r is not OpReq.ADD and not self._simple.takes_context:
            return partial(function, *reads, *self._params, out=out)
        return partial(self._run, op_ctx, function, takes_out, reads, r, out)

    def _run(
        self,
        op_ctx: OpContext,
        function: Callable[..., Any],
        takes_out: bool,
        reads: Sequence[Array],
        req: OpReq,
        out: Array,
    ) -> None:
        if req is OpReq.NULL:
            return
        context = (op_ctx,) if self._simple.takes_context else ()
        if not takes_out:
            assign(out, req, function(*context, *reads, *self._params))
        elif req is OpReq.ADD:
            value = op_ctx.xp.empty_like(out)
            function(*context, *reads, *self._params, out=value)
            out += value
        else:
            function(*context, *reads, *self._params, out=out)


def _call_all(calls: Sequence[Callable[[], object]]) -> None:
    for call in calls:
        call()


def simple_property(simple: SimpleOp) -> type[SimpleOpProperty]:
    """The property class of `simple`, with one kernel that runs its functions on any device."""
    kernel = Kernel(name=f"{simple.name}.array", factory=SimpleOperator)
    return type(
        simple.name,
        (SimpleOpProperty,),
        {
            "__doc__": simple.doc,
            "name": simple.name,
            "simple": simple,
            "kernels": [kernel],
            "has_gradient": any(gradient is not None for gradient in simple.gradients),
            **simple.params,
        },
    )
