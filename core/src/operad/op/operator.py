"""Operators: functions of plain arrays, for one set of shapes and types.

Operators are shared between nodes and called from several engine workers, so they keep no state
between calls; what backward needs from forward is an output (hidden if need be) or an auxiliary
state. A property that sets `is_stateful` gets one operator for each node instead.

Source: Operator, include/mxnet/operator.h. Differs: kernels are separate from the property; the arrays of a
call are one record, in MXNet's names and order; an operator gives its calls as templates, which programs fill
with arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, final

from operad.errors import GradientError
from operad.op.context import OpContext
from operad.op.req import OpReq
from operad.op.template import ArgumentSlot, CallTemplate, filled, in_groups

Array = Any
"""A `numpy.ndarray` or `cupy.ndarray`."""
Arrays = Sequence[Array]
SomeArrays = Sequence[Array | None]
Requests = Sequence[OpReq]


@final
class ForwardArrays(NamedTuple):
    """Arrays of a forward call, and what is to become of its outputs.

    Attributes:
        in_data: One array per argument, in `list_arguments` order. Never written to.
        req: One request per output.
        out_data: One array per output; undefined contents unless its request is `ADD`.
        aux_states: One array per auxiliary state; read and written in place.
    """

    in_data: Arrays
    req: Requests
    out_data: Arrays
    aux_states: Arrays = ()


@final
class BackwardArrays(NamedTuple):
    """Arrays of a backward call, and what is to become of its gradients.

    Arrays that `declare_backward_dependency` left out are None, and so are gradients whose request is `NULL`.

    Attributes:
        out_grad: Gradients of the outputs.
        in_data: The arguments.
        out_data: The outputs.
        req: One request per argument.
        in_grad: Gradients of the arguments, which are written.
        aux_states: The auxiliary states.
    """

    out_grad: SomeArrays
    in_data: SomeArrays
    out_data: SomeArrays
    req: Requests
    in_grad: SomeArrays
    aux_states: Arrays = ()


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
    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """Compute the outputs."""

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """Compute the gradients of the arguments."""
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
        """The same for other values of run-time parameters, which `prop` has; None: it must be made again."""
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
    def prepare_forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> Callable[[], object]:
        """`forward` with its arguments fixed, as something to call many times."""
        ins, req, outs, states = arrays
        return filled(self.forward_templates(op_ctx, req, len(ins), len(states)), [*ins, *outs, *states])

    @final
    def prepare_backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> Callable[[], object]:
        """`backward` with its arguments fixed."""
        heads, ins, outs, req, grads, states = arrays
        templates = self.backward_templates(op_ctx, req, len(outs), len(states))
        hidden = [None] * (len(outs) - len(heads))
        return filled(templates, [*ins, *outs, *heads, *hidden, *grads, *states])


def _forward(
    operator: Operator, op_ctx: OpContext, req: Requests, counts: Sequence[int], *arrays: Any
) -> None:
    ins, outs, aux = in_groups(counts, arrays)
    operator.forward(op_ctx, ForwardArrays(ins, req, outs, aux))


def _backward(
    operator: Operator, op_ctx: OpContext, req: Requests, counts: Sequence[int], *arrays: Any
) -> None:
    ins, outs, heads, grads, aux = in_groups(counts, arrays)
    operator.backward(op_ctx, BackwardArrays(heads, ins, outs, req, grads, aux))


class TemplateOperator(Operator):
    """An operator that gives its calls as templates, and computes by these."""

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """Make the calls."""
        self.prepare_forward(op_ctx, arrays)()

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """Make the calls."""
        self.prepare_backward(op_ctx, arrays)()
