"""The gradient of an operator as an operator, whose gradient is found by running it.

What an author declares as a gradient is a function of plain arrays. Called with traced arrays (see
`operad_sdk.differentiate`), the same function tells how its result changes with what it read: that is the
gradient of the gradient, without code by an author. It is a function of plain arrays again, so the same
holds for its gradient, and so on.

First-order gradients are computed by the operator's own kernel, traced or not: to record them changes no
bit of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad.context import Context
from operad.dtypes import DType
from operad.errors import GradientError, OperadError
from operad.operator import (
    Array,
    BackwardArrays,
    ForwardArrays,
    InferredShapes,
    InferredTypes,
    OpContext,
    Operator,
    OpReq,
    PartialShape,
    Shape,
    assign,
)
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk.differentiate import vector_jacobian

ArrayFunction = Callable[[Any, Sequence[Any]], Sequence[Any]]
"""Function of an `OpContext` and arrays that returns arrays."""

_GOLDEN: Final = (5**0.5 - 1) / 2
_COST: Final = 4.0  # times that of reading and writing everything once


class TensorSpec(NamedTuple):
    """Name, shape and type of an array before the array exists.

    Attributes:
        is_constant: Whether no gradient flows to it, as to indices.
    """

    name: str
    shape: Shape
    dtype: DType
    is_constant: bool = False


class GradientOperator(CoreProperty):
    """Operator that computes gradients from the arrays that a backward pass reads.

    Args:
        of: Name of the operator whose gradients are computed.
        reads: Arguments.
        computes: Outputs.
        function: Computes the outputs, from traced arrays too.
        kernel: Makes an operator that computes the outputs, for a context; None: the function does.
    """

    name = "_backward"

    def __init__(
        self,
        of: str,
        reads: Sequence[TensorSpec],
        computes: Sequence[TensorSpec],
        function: ArrayFunction,
        kernel: Callable[[Context], Operator] | None = None,
    ) -> None:
        super().__init__()
        self.name = f"_backward_{of}"  # type: ignore[misc]  # each instance has its own
        self._reads = reads
        self._computes = computes
        self._function = function
        self._kernel = kernel

    def list_arguments(self) -> list[str]:
        """Names of the arrays that the gradients read."""
        return [spec.name for spec in self._reads]

    def list_outputs(self) -> list[str]:
        """The gradients."""
        return [spec.name for spec in self._computes]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Shapes, all known from the beginning."""
        return [spec.shape for spec in self._reads], [spec.shape for spec in self._computes], []

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Types, all known from the beginning."""
        return [spec.dtype for spec in self._reads], [spec.dtype for spec in self._computes], []

    def differentiable_inputs(self) -> list[bool]:
        """Flags of the floating arguments that are not constant."""
        return [spec.dtype.kind == "f" and not spec.is_constant for spec in self._reads]

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """All entries but the gradients' own values, which are computed once more."""
        return [*out_grad, *in_data]

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float:
        """Cost of a few passes over all arrays."""
        return _COST * float(sum(map(prod, in_shapes)) + sum(map(prod, out_shapes)))

    def create_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        """Operator for the context: the kernel for first-order gradients, else the function."""
        kernel = None if self._kernel is None else self._kernel(ctx)
        return _Gradient(self._function, self.differentiable_inputs(), kernel)

    def gradient_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType], wanted: Sequence[bool]
    ) -> CoreProperty:
        """Operator of the gradients of these gradients."""
        count, inner = len(self._computes), self._function
        heads = [spec._replace(name=f"{spec.name}_grad") for spec in self._computes]
        computes = [
            spec._replace(name=f"{spec.name}_grad")
            for spec, flag in zip(self._reads, wanted, strict=True)
            if flag
        ]

        def function(op_ctx: Any, arrays: Sequence[Any]) -> Sequence[Any]:
            return vector_jacobian(lambda xs: inner(op_ctx, xs), arrays[count:], arrays[:count], wanted)

        made = GradientOperator(self.name, [*heads, *self._reads], computes, function)
        made.try_out(ctx)
        return made

    def try_out(self, ctx: Context) -> None:
        """Find out whether the function can be differentiated, on made-up numbers.

        Raises:
            GradientError: It cannot.
        """
        reads, heads = ([_made_up(ctx.xp, spec) for spec in specs] for specs in (self._reads, self._computes))
        op_ctx = OpContext(ctx, True)
        try:
            with np.errstate(all="ignore"):
                vector_jacobian(
                    lambda xs: self._function(op_ctx, xs), reads, heads, self.differentiable_inputs()
                )
        except OperadError:
            raise
        except Exception as error:
            raise GradientError(
                f"the function that computes it cannot be traced ({type(error).__name__}: {error})"
            ) from error


def _made_up(xp: Any, spec: TensorSpec) -> Array:
    """Numbers between 1/2 and 3/2, all different and in no order, so that few matrices are singular.

    Of what may be indices, zeros.
    """
    if spec.dtype.kind != "f" or spec.is_constant:
        return xp.zeros(spec.shape, spec.dtype)
    numbers = xp.arange(prod(spec.shape), dtype=np.float64) * _GOLDEN
    return (numbers % 1 + 0.5).reshape(spec.shape).astype(spec.dtype)


@final
class _Gradient(Operator):
    def __init__(self, function: ArrayFunction, is_traced: Sequence[bool], kernel: Operator | None) -> None:
        self._function = function
        self._is_traced = is_traced
        self._kernel = kernel

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """The gradients."""
        if self._kernel is not None:
            self._kernel.forward(op_ctx, arrays)
            return
        with np.errstate(all="ignore"):
            found = self._function(op_ctx, arrays.in_data)
        for target, request, value in zip(arrays.out_data, arrays.req, found, strict=True):
            assign(target, request, value)

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """The gradients of the gradients, by tracing the function."""
        heads, ins, _, req, grads, _ = arrays
        wanted = [
            request is not OpReq.NULL and flag for request, flag in zip(req, self._is_traced, strict=True)
        ]
        with np.errstate(all="ignore"):
            found = iter(vector_jacobian(lambda xs: self._function(op_ctx, xs), ins, heads, wanted))
        for target, request, flag in zip(grads, req, wanted, strict=True):
            assign(target, request, next(found) if flag else 0)
