"""Mutants: an operator with a faulty computation in place of its own, for mutation testing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from operad.context import Context
from operad.dtypes import DType
from operad.operator import BackwardArrays, ForwardArrays, OpContext, Operator, OperatorProperty, Shape
from operad_check.trials.subject import Subject


class Wrapped(Operator):
    """An operator that calls another; subclasses do something wrong on the way."""

    def __init__(self, inner: Operator, prop: OperatorProperty) -> None:
        self.inner = inner
        self.prop = prop

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """Pass the call on."""
        self.inner.forward(op_ctx, arrays)

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """Pass the call on."""
        self.inner.backward(op_ctx, arrays)


Wrapper = Callable[[Operator, OperatorProperty], Operator]


def mutant(subject: Subject, wrapper: Wrapper, **declared: Any) -> Subject:
    """Subject with a wrapped computation and changed declarations.

    Args:
        wrapper: Put around what computes.
        declared: Members of the property class in place of its own.
    """
    base = subject.cls

    def create_operator(
        self: OperatorProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        return wrapper(base.create_operator(self, ctx, in_shapes, in_types), self)

    members: dict[str, Any] = {
        "__doc__": base.__doc__,
        "__module__": base.__module__,
        "name": base.name,
        "kernels": base.kernels,
        "has_gradient": base.has_gradient,
        "create_operator": create_operator,
        **declared,
    }
    return replace(subject, cls=type(base.__name__, (base,), members))
