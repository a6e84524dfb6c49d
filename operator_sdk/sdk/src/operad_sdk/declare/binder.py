"""Running an operator's functions under the `Operator` contract.

Authors never see a request. A function that fills a target gets the array itself where it is to be
written, and scratch memory where the values are to be added, are of no use, or are computed in another
type; what it returns is written or added for it. A function none of whose targets is asked for is not
called. All look-ups are done once, when a call is prepared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, final

import numpy as np

from operad.context import Context
from operad.dtypes import DType
from operad.first_use import cached_property
from operad.operator import (
    ArgumentSlot,
    BackwardArrays,
    CallTemplate,
    ForwardArrays,
    OpContext,
    Operator,
    OpReq,
    Shape,
)
from operad_sdk.declare.adapter import direct_call
from operad_sdk.declare.function import Bound
from operad_sdk.declare.function_runner import OVERWRITES, FunctionRunner, ValuePositions, widened_types
from operad_sdk.declare.marks import lock_cost_limit_us
from operad_sdk.declare.names import AUX, EXTRA, IN_DATA, IN_GRAD, OUT_DATA, OUT_GRAD
from operad_sdk.declare.targets import store

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty


@final
class BoundOperator(Operator):
    """Calls an operator's forward function and its gradients.

    A forward function whose attribute `only_ufuncs` is true does nothing but call ufuncs of the array module,
    so that on few elements it may run while the engine's lock is held, as a ufunc itself may;
    `@lock_cost_limit` says it of other functions. One that has a method `fitted(in_shapes, in_types)` gives
    by that what is called instead for arrays of those, with the same arguments.

    Attributes:
        xp: The array module of its arrays.

    Args:
        forward: None: it computes gradients alone.
        gradients: Those that it brings, and arguments without one get zeros; None: it computes outputs alone.
        num_prepared: Arrays that a kernel has behind the arguments; functions get them as they are, or None.
    """

    def __init__(
        self,
        prop: OperatorProperty,
        ctx: Context,
        in_shapes: Sequence[Shape],
        in_types: Sequence[DType],
        *,
        forward: Bound | None,
        gradients: Sequence[Bound] | None,
        num_prepared: int = 0,
    ) -> None:
        self.xp = ctx.xp
        self._prop = prop
        self._in = list(zip(in_shapes, in_types, strict=True))
        self._params = prop.function_params(in_types)
        self._num_prepared = num_prepared
        out_names = prop.list_outputs()
        num_args = len(in_shapes)
        self._counts = (num_args + num_prepared, len(out_names), len(prop.list_auxiliary_states()))
        ins, outs, states = self._counts
        wide = widened_types(prop.compute_dtype, prop.integers_as)
        for dtype in in_types[:1]:
            if prop.promote(dtype) != dtype:
                wide.setdefault(dtype, prop.promote(dtype))
        typed = prop.typed_arguments
        # invariant: forward's values are [*in_data, *outputs, *aux_states, *extras]
        firsts = {IN_DATA: 0, OUT_DATA: ins, AUX: ins + outs, EXTRA: ins + outs + states}
        layout = ValuePositions(firsts, OUT_DATA, typed, frozenset(), out_names, prop.train_only_outputs)
        self._forward: FunctionRunner | None = None
        if forward is not None:
            self.lock_cost_limit_us = lock_cost_limit_us(forward.function)
            self.runs_under_lock = getattr(forward.function, "only_ufuncs", False)
            forward = forward.fitted(in_shapes, in_types)
            self._forward = FunctionRunner(self, forward, layout, wide)
        self._gradients: list[FunctionRunner] | None = None
        if gradients is not None:
            is_flat = prop.is_flat_for_integers and prop.promote(in_types[0]).kind in "iu"
            gradients = [] if is_flat else gradients
            # invariant: a gradient's are [*in_data, *out_data, *out_grad, *in_grad, *aux_states, *extras]
            firsts = {IN_DATA: 0, OUT_DATA: ins, OUT_GRAD: ins + outs, IN_GRAD: ins + 2 * outs}
            firsts |= {AUX: 2 * (ins + outs), EXTRA: 2 * (ins + outs) + states}
            names = [f"{name}_grad" for name in prop.list_arguments()]
            is_pointwise = prop.is_elementwise or bool(prop.broadcast_arguments)
            layout = ValuePositions(
                firsts, IN_GRAD, typed, prop.broadcast_arguments, names, is_pointwise=is_pointwise
            )
            self._gradients = [FunctionRunner(self, bound, layout, wide) for bound in gradients]
            self._computed = {position for bound in gradients for position in bound.targets}
        if forward is not None:
            self._allow_direct(forward, gradients or (), wide)

    def _allow_direct(self, forward: Bound, gradients: Sequence[Bound], wide: Mapping[DType, DType]) -> None:
        """Find out whether the forward function may be called with arrays alone, and under which lock."""
        prop, in_types = self._prop, [dtype for _, dtype in self._in]
        is_direct = forward.is_direct and not self._num_prepared
        if is_direct and wide:
            is_direct = not any(dtype in wide for dtype in (*in_types, *self._types[1]))
        self._direct_of = forward if is_direct else None
        # A kernel that is a class may have looked at parameters.
        self._is_free = not any(hasattr(bound.function, "__self__") for bound in (forward, *gradients))
        is_ufunc = isinstance(forward.function, np.ufunc) and not forward.returned
        self.runs_under_lock = is_ufunc or self.runs_under_lock
        is_float = is_ufunc and in_types[0].kind == "f" and type(prop).params.run_time == ("scalar",)
        self._scalar_type = in_types[0].type if is_float else None
        run_time = [i + 1 for i, declared in enumerate(type(prop).params.values()) if declared.run_time]
        if is_direct and self._is_free and run_time:
            self.direct_with_values = direct_call(forward, self._counts, (None, *self._params), run_time)
        self._make_direct()

    def run_time_values(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run-time values as the function gets them: a ufunc gets its one scalar in the arrays' type."""
        scalar_type = self._scalar_type
        if scalar_type is not None:
            scalar = scalar_type(values[0])
            # NumPy's ufuncs take 0.15 us less for an array than for a scalar.
            return (np.array(scalar) if self.xp is np else scalar,)
        return self._prop.typed_run_time(values, [dtype for _, dtype in self._in])

    def rebound(self, prop: Any) -> Operator | None:
        """A copy with the run-time parameters of `prop`."""
        if not self._is_free:
            return None
        made = self.with_params(prop.function_params([dtype for _, dtype in self._in]), prop)
        made._make_direct()
        return made

    def with_params(self, params: tuple[Any, ...], prop: Any) -> BoundOperator:
        """A copy whose functions get these parameters, and this property."""
        made = copy(self)
        made._params, made._prop = params, prop
        return made

    def _make_direct(self) -> None:
        if self._direct_of is not None:
            self.direct = direct_call(self._direct_of, self._counts, (None, *self._params))

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """Call the forward function."""
        self.prepare_forward(op_ctx, arrays)()

    def forward_templates(
        self, op_ctx: OpContext, req: Sequence[OpReq], num_inputs: int, num_states: int
    ) -> list[CallTemplate]:
        """Template of the forward call, at best without anything around the function."""
        assert self._forward is not None
        ins, outs, states = self._types
        return [self._forward.template(req, [*ins, *outs, *states], self._extras(op_ctx, req, self._forward))]

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """Call each gradient that is wanted; arguments without a gradient get zeros."""
        self.prepare_backward(op_ctx, arrays)()

    def backward_templates(
        self, op_ctx: OpContext, req: Sequence[OpReq], num_outputs: int, num_states: int
    ) -> list[CallTemplate]:
        """Templates that call the wanted gradients, and that write zeros into the others."""
        assert self._gradients is not None
        rest = [OpReq.NULL if position in self._computed else wanted for position, wanted in enumerate(req)]
        ins, outs, states = self._types
        types = [*ins, *outs, *outs, *ins, *states]
        templates = [
            runner.template(req, types, self._extras(op_ctx, req, runner))
            for runner in self._gradients
            if any(req[position] is not OpReq.NULL for position in runner.targets)
        ]
        first = len(ins) + 2 * len(outs)
        zero = [
            ArgumentSlot(first + position) for position, wanted in enumerate(rest) if wanted in OVERWRITES
        ]
        return [*templates, *[CallTemplate(store, (position, 0)) for position in zero]]

    def like(self, group: str, position: int) -> tuple[Shape, DType]:
        """Shape and type of a target, even if there is no array for it."""
        if group == IN_GRAD:
            return self._in[position]
        shapes: Any = self._prop.infer_shape([shape for shape, _ in self._in])[1]
        return shapes[position], self._types[1][position]

    @cached_property
    def _types(self) -> Any:
        """The types of arguments, outputs and states."""
        ins, outs, states = self._prop.infer_type([dtype for _, dtype in self._in])
        return [*ins, *[None] * self._num_prepared], outs, states

    def _extras(self, op_ctx: OpContext, req: Sequence[OpReq], runner: FunctionRunner) -> tuple[Any, ...]:
        """The values of the group `EXTRA`, in the order of its slots."""
        return (op_ctx, op_ctx.is_train, runner.wanted(req), self._prop, None, *self._params)
