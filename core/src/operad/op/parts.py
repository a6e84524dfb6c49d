"""An operator whose parts are computed by different kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

from operad.op.context import OpContext
from operad.op.operator import ForwardArrays, Operator, Requests, TemplateOperator
from operad.op.req import OpReq
from operad.op.template import ArgumentSlot, CallTemplate, moved

_OVERWRITES: Final = (OpReq.WRITE, OpReq.INPLACE)


@final
class KernelOperator(TemplateOperator):
    """An operator of a kernel among the arrays that all kernels of a choice have together.

    Args:
        operator: The kernel's own, which knows of the arguments, and of what the kernel has prepared.
        ins: For each of its inputs, the position among arguments and prepared arrays; None: it is not there.
        requested: Which of the resources for gradients are its own; None: all.
    """

    def __init__(self, operator: Operator, ins: Sequence[int | None], requested: slice | None = None) -> None:
        self._operator = operator
        self._ins = ins
        self._requested = requested

    def forward_templates(
        self, op_ctx: OpContext, req: Requests, num_inputs: int, num_states: int
    ) -> list[CallTemplate]:
        """The kernel's calls, with what they name in other positions."""
        groups = [(self._ins, num_inputs), *[(range(count), count) for count in (len(req), num_states)]]
        found = self._operator.forward_templates(op_ctx, req, len(self._ins), num_states)
        return _moved(found, groups)

    def backward_templates(
        self, op_ctx: OpContext, req: Requests, num_outputs: int, num_states: int
    ) -> list[CallTemplate]:
        """The kernel's calls, with what they name in other positions."""
        if self._requested is not None:
            op_ctx = op_ctx._replace(requested=op_ctx.requested[self._requested])
        own = [OpReq.NULL if position is None else req[position] for position in self._ins]
        args, outs = (self._ins, len(req)), (range(num_outputs), num_outputs)
        groups = [args, outs, outs, args, (range(num_states), num_states)]
        found = self._operator.backward_templates(op_ctx, own, num_outputs, num_states)
        return _moved(found, groups)


def _moved(
    templates: Sequence[CallTemplate], groups: Sequence[tuple[Sequence[int | None], int]]
) -> list[CallTemplate]:
    """Calls whose positions count groups of arrays, where the groups are larger and in another order.

    Args:
        groups: For each group, where each of its arrays stands in the larger group, and how large that is.
    """
    slots: list[ArgumentSlot | None] = []
    first = 0
    for positions, count in groups:
        slots += [None if position is None else ArgumentSlot(first + position) for position in positions]
        first += count
    return moved(templates, slots)


@final
class PartsOperator(TemplateOperator):
    """One operator computes the outputs, others the gradients of some arguments each.

    Each of them is asked for its own gradients alone; arguments to which no gradient flows get zeros.

    Args:
        forward: Computes the outputs.
        gradients: Makes what computes the gradients of the arguments at some positions, of a property with
            other run-time values, or of that which is known for None; asked when they are.
        missing: For positions whose gradient nothing computes, what raises if it is wanted.
        takes_values: Whether the same kernels compute all run-time values. Else there is no
            `direct_with_values`, as conditions of kernels may have looked at values.
    """

    def __init__(
        self,
        forward: Operator,
        gradients: Mapping[frozenset[int], Callable[[Any], Operator]],
        missing: Mapping[int, Callable[[], Exception]],
        *,
        takes_values: bool = False,
    ) -> None:
        self._forward = forward
        self._gradients = gradients
        self._missing = missing
        # Of a copy for other run-time values: the operator that was there first, and the property.
        self._rebound: tuple[PartsOperator, Any] | None = None
        self._takes_values = takes_values
        self.direct_with_values = forward.direct_with_values if takes_values else None
        # Replaced whole, so that threads that make them at once agree on what they see.
        self._made: Sequence[tuple[frozenset[int], Operator]] | None = None
        self.direct = forward.direct
        self.direct_visible = forward.direct_visible
        self.runs_under_lock = forward.runs_under_lock
        self.lock_cost_limit_us = forward.lock_cost_limit_us

    def run_time_values(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """As the operator that computes the outputs."""
        return self._forward.run_time_values(values)

    def rebound(self, prop: Any) -> Operator | None:
        """Its operators for other values, where that of the outputs takes them."""
        if not self._takes_values or (forward := self._forward.rebound(prop)) is None:
            return None
        made = PartsOperator(forward, self._gradients, self._missing, takes_values=True)
        made._rebound = (self if self._rebound is None else self._rebound[0], prop)
        return made

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """As the operator that computes the outputs."""
        self._forward.forward(op_ctx, arrays)

    def forward_templates(
        self, op_ctx: OpContext, req: Requests, num_inputs: int, num_states: int
    ) -> list[CallTemplate]:
        """As the operator that computes the outputs."""
        return self._forward.forward_templates(op_ctx, req, num_inputs, num_states)

    def backward_templates(
        self, op_ctx: OpContext, req: Requests, num_outputs: int, num_states: int
    ) -> list[CallTemplate]:
        """Every gradient that is wanted, by its own kernel."""
        for position, error in self._missing.items():
            if req[position] is not OpReq.NULL:
                raise error()
        found: list[CallTemplate] = []
        computed: set[int] = set()
        for positions, operator in self._operators():
            computed |= positions
            own = [r if position in positions else OpReq.NULL for position, r in enumerate(req)]
            if any(r is not OpReq.NULL for r in own):
                found += operator.backward_templates(op_ctx, own, num_outputs, num_states)
        first = len(req) + 2 * num_outputs
        rest = [p for p, r in enumerate(req) if p not in computed and r in _OVERWRITES]
        return [*found, *[CallTemplate(_write_zeros, (ArgumentSlot(first + position),)) for position in rest]]

    def _operators(self) -> Sequence[tuple[frozenset[int], Operator]]:
        made = self._made
        if made is None and self._rebound is not None:
            every, prop = self._rebound[0]._operators(), self._rebound[1]
            self._made = made = [(p, one.rebound(prop) or self._gradients[p](prop)) for p, one in every]
        elif made is None:
            self._made = made = [(positions, make(None)) for positions, make in self._gradients.items()]
        return made


def _write_zeros(array: object) -> None:
    array[...] = 0  # type: ignore[index]
