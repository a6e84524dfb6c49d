"""Operators: functions of plain arrays, for one set of shapes and types.

Operators are shared between nodes and called from several engine workers, so they keep no state
between calls; what backward needs from forward is an output (hidden if need be) or an auxiliary
state. A property that sets `is_stateful` gets one operator for each node instead.

Source: Operator, include/mxnet/operator.h. Differs: kernels are separate from the property; an operator gives
its calls as templates, which programs fill with arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, final

from operad.errors import GradientError
from operad.op.context import OpContext
from operad.op.req import OpReq
from operad.op.template import ArgumentSlot, CallTemplate, filled, in_groups

Array = Any
"""A `numpy.ndarray` or `cupy.ndarray`."""
Arrays = Sequence[Array]
SomeArrays = Sequence[Array | None]
Requests = Sequence[OpReq]


class Operator(ABC):
    """Computes an operator on plain arrays.

    Attributes:
        direct: A callable that equals `forward` for requests that are all `WRITE` or `INPLACE`,
            takes the input arrays, the output arrays and then the auxiliary states, and needs no context;
            None if there is no such callable. Hot loops call it without a Python frame of ours in between.
        direct_visible: `direct` without the outputs that callers do not see, which a gradient may read.
        direct_with_values: `direct` for any values of the run-time parameters: it takes what
            `run_time_values` gives behind the arrays.
        runs_under_lock: Whether these do nothing but call ufuncs of the array module, so that on few elements
            they may run while the engine's lock is held.
        lock_cost_limit_us: The same for other functions of the array module, such as a product: for calls of
            at most this estimate.
    """

    direct: Callable[..., object] | None = None
    direct_visible: Callable[..., object] | None = None
    direct_with_values: Callable[..., object] | None = None
    runs_under_lock: bool = False
    lock_cost_limit_us: float = 0.0

    @abstractmethod
    def forward(
        self, op_ctx: OpContext, in_data: Arrays, req: Requests, out_data: Arrays, aux_states: Arrays
    ) -> None:
        """Compute the outputs.

        Args:
            in_data: One array per argument, in `list_arguments` order. Never written to.
            req: One request per output.
            out_data: One array per output; undefined contents unless its request is `ADD`.
            aux_states: One array per auxiliary state; read and written in place.
        """

    def backward(
        self,
        op_ctx: OpContext,
        out_grad: SomeArrays,
        in_data: SomeArrays,
        out_data: SomeArrays,
        req: Requests,
        in_grad: SomeArrays,
        aux_states: Arrays,
    ) -> None:
        """Compute the gradients of the arguments.

        Arrays that `declare_backward_dependency` left out are None, and so are gradients whose
        request is `NULL`.
        """
        raise GradientError(
            f"{type(self).__name__} computes no gradient; its property must set has_gradient = False"
        )

    def run_time_values(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Values of all run-time parameters, valid and in declared order, as `direct_with_values` takes them.

        Raises:
            ParamError: A value does not fit the arrays' types.
        """
        return values

    def rebound(self, prop: Any) -> Operator | None:
        """The same for other values of run-time parameters, which `prop` has; None: it must be made anew."""
        return None

    def forward_templates(
        self, op_ctx: OpContext, req: Requests, num_inputs: int, num_states: int
    ) -> list[CallTemplate]:
        """`forward` as calls that lack nothing but arrays.

        Slots count the inputs, then the outputs, then the states; an array that is absent is None.

        Args:
            req: One request per output.
            num_inputs: How many inputs there will be.
            num_states: How many auxiliary states there will be.
        """
        if self.direct is not None and all(r is OpReq.WRITE or r is OpReq.INPLACE for r in req):
            return [
                CallTemplate(self.direct, tuple(map(ArgumentSlot, range(num_inputs + len(req) + num_states))))
            ]
        counts = (num_inputs, len(req), num_states)
        return [CallTemplate(_forward, (self, op_ctx, req, counts, *map(ArgumentSlot, range(sum(counts)))))]

    def backward_templates(
        self, op_ctx: OpContext, req: Requests, num_outputs: int, num_states: int
    ) -> list[CallTemplate]:
        """`backward` as calls that lack nothing but arrays.

        Places count the arguments, the outputs, their gradients, the arguments' gradients, and the states; an
        array that is absent is None.

        Args:
            req: One request per argument.
            num_outputs: How many outputs there will be.
            num_states: How many auxiliary states there will be.
        """
        counts = (len(req), num_outputs, num_outputs, len(req), num_states)
        return [CallTemplate(_backward, (self, op_ctx, req, counts, *map(ArgumentSlot, range(sum(counts)))))]

    def is_alike(self, other: Operator) -> bool:
        """Return whether another operator's templates are this one's but for the operator in them."""
        kind = type(self)
        return (
            kind is type(other)
            and kind.forward_templates is Operator.forward_templates
            and kind.backward_templates is Operator.backward_templates
            and self.direct is other.direct is None
        )

    @final
    def prepare_forward(
        self, op_ctx: OpContext, in_data: Arrays, req: Requests, out_data: Arrays, aux_states: Arrays
    ) -> Callable[[], object]:
        """`forward` with its arguments fixed, as something to call many times."""
        templates = self.forward_templates(op_ctx, req, len(in_data), len(aux_states))
        return filled(templates, [*in_data, *out_data, *aux_states])

    @final
    def prepare_backward(
        self,
        op_ctx: OpContext,
        out_grad: SomeArrays,
        in_data: SomeArrays,
        out_data: SomeArrays,
        req: Requests,
        in_grad: SomeArrays,
        aux_states: Arrays,
    ) -> Callable[[], object]:
        """`backward` with its arguments fixed."""
        templates = self.backward_templates(op_ctx, req, len(out_data), len(aux_states))
        hidden = [None] * (len(out_data) - len(out_grad))
        return filled(templates, [*in_data, *out_data, *out_grad, *hidden, *in_grad, *aux_states])


def _forward(
    operator: Operator, op_ctx: OpContext, req: Requests, counts: Sequence[int], *arrays: Any
) -> None:
    ins, outs, aux = in_groups(counts, arrays)
    operator.forward(op_ctx, ins, req, outs, aux)


def _backward(
    operator: Operator, op_ctx: OpContext, req: Requests, counts: Sequence[int], *arrays: Any
) -> None:
    ins, outs, heads, grads, aux = in_groups(counts, arrays)
    operator.backward(op_ctx, heads, ins, outs, req, grads, aux)


class TemplateOperator(Operator):
    """An operator that gives its calls as templates, and computes by these."""

    def forward(
        self, op_ctx: OpContext, in_data: Arrays, req: Requests, out_data: Arrays, aux_states: Arrays
    ) -> None:
        """Make the calls."""
        self.prepare_forward(op_ctx, in_data, req, out_data, aux_states)()

    def backward(
        self,
        op_ctx: OpContext,
        out_grad: SomeArrays,
        in_data: SomeArrays,
        out_data: SomeArrays,
        req: Requests,
        in_grad: SomeArrays,
        aux_states: Arrays,
    ) -> None:
        """Make the calls."""
        self.prepare_backward(op_ctx, out_grad, in_data, out_data, req, in_grad, aux_states)()
