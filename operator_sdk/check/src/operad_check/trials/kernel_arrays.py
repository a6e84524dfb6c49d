"""Runs of a choice of kernels with all arrays it asks for, as in graphs and tapes, and checks of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from operad.operator import (
    BackwardArrays,
    Choice,
    Chosen,
    ForwardArrays,
    Kernel,
    KernelCall,
    OpContext,
    Operator,
    OpReq,
    choose_among,
)
from operad_check.trials.resources import SPACE_FILL, resources_for
from operad_check.trials.trial import Trial
from operad_check.trials.violation import Violation

_PATTERNS: Final = (0x7F, 0x80)
"""Bytes that memory is filled with: no value that a kernel writes has both."""


def asks(kernel: Kernel) -> bool:
    """Return whether a kernel asks for more than its operator declares."""
    return bool(kernel.prepares or kernel.has_demands)


def whole_choice(call: KernelCall, kernel: Kernel, own: Kernel) -> Choice:
    """Choice of one kernel; parts that it lacks go to the operator's own functions."""
    choice = choose_among(call, [kernel, own])
    return choice.with_prepared(choice.preparations(tuple(choice.kernels)))


@final
class WholeOperator(Operator):
    """An operator with all arrays and resources that a choice of kernels asks for.

    Attributes:
        op: What stands for the operator in graphs.
        written: Which arrays were written that may only be read, in words.
    """

    def __init__(self, choice: Choice, seed: int, pattern: int = _PATTERNS[0]) -> None:
        self.op = Chosen(choice)
        self._choice = choice
        self._seed = seed
        self._pattern = pattern
        self._inner = choice.operator()
        self.written: list[str] = []

    def prepared(self, in_data: Sequence[Any]) -> list[Any]:
        """The prepared arrays for these arguments."""
        choice, names = self._choice, self._choice.call.prop.list_arguments()
        found = [self._filled(*array) for array in choice.prepared_arrays()]
        for (kernel, name), array in zip(choice.prepared, found, strict=True):
            rule = kernel.prepares[name]
            rule.maker(choice.call)(*[in_data[names.index(each)] for each in rule.arguments], array)
        return found

    def _filled(self, shape: Any, dtype: Any) -> Any:
        array = np.empty(shape, dtype)
        array.reshape(-1).view(np.uint8)[...] = self._pattern
        return array

    def _context(self, op_ctx: OpContext, requests: Any) -> OpContext:
        return op_ctx._replace(requested=resources_for(requests, self._seed, SPACE_FILL))

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """The outputs."""
        prepared = self.prepared(arrays.in_data)
        before = [array.tobytes() for array in prepared]
        self._inner.forward(
            self._context(op_ctx, self.op.forward_resource([])),
            arrays._replace(in_data=[*arrays.in_data, *prepared]),
        )
        self._expect_unchanged("the outputs", before, prepared)

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """The gradients."""
        prepared = self.prepared(arrays.in_data)
        before = [array.tobytes() for array in prepared]
        self._inner.backward(
            self._context(op_ctx, self.op.backward_resource([])),
            arrays._replace(
                in_data=[*arrays.in_data, *prepared],
                req=[*arrays.req, *[OpReq.NULL] * len(prepared)],
                in_grad=[*arrays.in_grad, *[None] * len(prepared)],
            ),
        )
        self._expect_unchanged("the gradients", before, prepared)

    def _expect_unchanged(self, what: str, before: Sequence[bytes], arrays: Sequence[Any]) -> None:
        names = [name for _, name in self._choice.prepared]
        for name, old, array in zip(names, before, arrays, strict=False):
            if array.tobytes() != old:
                self.written.append(f"{what} writes to {name!r}, which others read")


def expect_untouched(trial: Trial, operator: WholeOperator) -> None:
    """Raise Violation if forward or a gradient writes a prepared array."""
    trial.forward(operator=operator)
    trial.any_gradients(operator=operator)
    if operator.written:
        raise Violation(f"a kernel of {operator.written[0]}")


def expect_filled(trial: Trial, choice: Choice) -> None:
    """Raise Violation if some byte of a prepared array is what the memory held before."""
    some, others = [WholeOperator(choice, trial.case.seed, pattern) for pattern in _PATTERNS]
    made = []
    for operator in (some, others):
        trial.forward(operator=operator)
        made.append(operator.prepared(trial.inputs))
    names = [name for _, name in choice.prepared]
    for name, one, other in zip(names, *made, strict=True):
        if one.tobytes() != other.tobytes():
            raise Violation(
                f"a kernel prepares {name!r}, and leaves some of it as memory was, or as chance is"
            )
