"""The operators that the graph itself inserts; every other operator is a plugin's.

They are written like any operator and have the names of no MXNet operator. Passes recognise them
by `GraphPrimitive`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from operad.context import Context
from operad.dtypes import DType
from operad.operator import (
    Array,
    Arrays,
    InferredShapes,
    Kernel,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    PartialShape,
    Requests,
    Shape,
    SomeArrays,
    assign,
    param,
    unify_shapes,
)


class GraphPrimitive(OperatorProperty):
    """An operator of the graph's own, with one shape and one type throughout."""

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """All shapes are alike."""
        shape = self._common(in_shapes)
        return [shape] * len(in_shapes), [shape], []

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """The output's shape is the arguments'."""
        return [self._common([*in_shapes, *out_shapes])] * len(in_shapes)

    def _common(self, shapes: Sequence[PartialShape]) -> PartialShape:
        common: PartialShape = None
        for shape in shapes:
            common = unify_shapes(shape, common, f"{self.name}: an array")
        return common


@final
class GradAdd(GraphPrimitive):
    """The sum of gradients that meet; of one gradient, a copy."""

    name = "_grad_add"
    num_args: int = param(int, ge=1, doc="How many arrays are summed.")
    key_var_num_args = "num_args"

    def list_arguments(self) -> list[str]:
        """`arg0`, `arg1`, and so on."""
        return [f"arg{i}" for i in range(self.num_args)]

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """The gradient of the sum, which is that of every argument."""
        return list(out_grad)

    def forward_inplace_option(
        self, in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """The first argument may become the sum."""
        return [(in_data[0], out_data[0])]


@final
class ZerosLike(GraphPrimitive):
    """Zeros of its argument's shape and type, whose memory may already serve others when it runs."""

    name = "_zeros_like_entry"
    has_gradient = False


@final
class CrossDeviceCopy(GraphPrimitive):
    """A copy of an array of another context."""

    name = "_cross_device_copy"
    device_type: str = param(str, default="", doc="Where the copy is; empty: where the array is.")
    device_id: int = param(int, default=0, ge=0, doc="Which of them.")


class _Primitive(Operator):
    """Computes one output; a request to add computes beside it first, so that every request rounds alike."""

    def __init__(
        self, prop: OperatorProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        self._xp = ctx.xp

    @abstractmethod
    def write(self, *arrays: Array) -> None:
        """Compute the last array from the others."""

    def forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> None:
        """Obey the request."""
        if req[0] is OpReq.ADD:
            added = self._xp.empty_like(out_data[0])
            self.write(*in_data, added)
            out_data[0][...] += added
        elif req[0] is not OpReq.NULL:
            self.write(*in_data, out_data[0])


@final
class _GradAdd(_Primitive):
    def __init__(
        self, prop: GradAdd, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        super().__init__(prop, ctx, in_shapes, in_types)
        self.direct: Callable[..., object] = ctx.xp.add if prop.num_args == 2 else self.write

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
        """The gradient of the sum, for every argument."""
        for request, target in zip(req, in_grad, strict=True):
            assign(target, request, out_grad[0])

    def write(self, *arrays: Array) -> None:
        """Sum from left to right."""
        first, *rest, out = arrays
        if not rest and first is not out:
            out[...] = first
        for array in rest:
            self._xp.add(first, array, out)
            first = out


@final
class _ZerosLike(_Primitive):
    def write(self, *arrays: Array) -> None:
        """Write zeros."""
        arrays[-1][...] = 0


@final
class _CrossDeviceCopy(_Primitive):
    def write(self, *arrays: Array) -> None:
        """Copy, across the bus if need be."""
        source, target = arrays
        if isinstance(source, np.ndarray) == isinstance(target, np.ndarray):
            target[...] = source
        elif isinstance(target, np.ndarray):
            target[...] = source.get()
        else:
            target.set(source)


GradAdd.kernels = [Kernel("_grad_add.array", _GradAdd)]
ZerosLike.kernels = [Kernel("_zeros_like_entry.array", _ZerosLike)]
CrossDeviceCopy.kernels = [Kernel("_cross_device_copy.array", _CrossDeviceCopy)]
