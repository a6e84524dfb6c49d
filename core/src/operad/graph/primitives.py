"""The operators that the graph itself inserts; every other operator is a plugin's.

They are written like any operator and have the names of no MXNet operator. Passes recognise them
by `GraphPrimitive`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, final

import numpy as np

from operad.context import Context
from operad.dtypes import DType
from operad.operator import (
    Array,
    InferredShapes,
    Kernel,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    PartialShape,
    Shape,
    assign,
    param,
    unify_shapes,
)


class GraphPrimitive(OperatorProperty):
    """An operator of the graph's own, with one shape and one type throughout.

    Attributes:
        reads_values: False: it looks at its inputs' shapes only, so their memory may already serve
            others when it runs.
    """

    reads_values: ClassVar[bool] = True

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

    def forward_inplace_option(
        self, in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """The first argument may become the sum."""
        return [(in_data[0], out_data[0])]


@final
class ZerosLike(GraphPrimitive):
    """Zeros of its argument's shape and type."""

    name = "_zeros_like_entry"
    has_gradient = False
    reads_values = False


@final
class CrossDeviceCopy(GraphPrimitive):
    """A copy of an array of another context."""

    name = "_cross_device_copy"
    device_type: str = param(str, default="", doc="Where the copy is; empty: where the array is.")
    device_id: int = param(int, default=0, ge=0, doc="Which of them.")


class _PrimitiveOperator(Operator):
    def __init__(
        self, prop: OperatorProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        self._ctx = ctx


@final
class _GradAddOperator(_PrimitiveOperator):
    def __init__(
        self, prop: GradAdd, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        super().__init__(prop, ctx, in_shapes, in_types)
        self.direct: Callable[..., object] = ctx.xp.add if prop.num_args == 2 else partial(_sum, ctx.xp.add)

    def forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> None:
        """Sum from left to right, so that every request rounds alike."""
        if req[0] is OpReq.NULL:
            return
        if req[0] is not OpReq.ADD:
            self.direct(*in_data, out_data[0])
        elif len(in_data) == 1:
            out_data[0][...] += in_data[0]
        else:
            total = op_ctx.xp.empty_like(out_data[0])
            self.direct(*in_data, total)
            out_data[0][...] += total


def _sum(add: Callable[..., object], *arrays: Array) -> None:
    first, *rest, out = arrays
    if not rest:
        if first is not out:
            out[...] = first
        return
    add(first, rest[0], out)
    for array in rest[1:]:
        add(out, array, out)


@final
class _ZerosLikeOperator(_PrimitiveOperator):
    def forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> None:
        """Write zeros; adding them is nothing to do."""
        if req[0] in {OpReq.WRITE, OpReq.INPLACE}:
            out_data[0][...] = 0


@final
class _CrossDeviceCopyOperator(_PrimitiveOperator):
    def forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> None:
        """Copy, across the bus if need be."""
        source, target = in_data[0], out_data[0]
        if isinstance(source, np.ndarray) == isinstance(target, np.ndarray):
            assign(target, req[0], source)
        elif isinstance(target, np.ndarray):
            assign(target, req[0], source.get())
        elif req[0] in {OpReq.WRITE, OpReq.INPLACE}:
            target.set(source)
        else:
            assign(target, req[0], op_ctx.xp.asarray(source))


GradAdd.kernels = [Kernel("_grad_add.array", _GradAddOperator)]
ZerosLike.kernels = [Kernel("_zeros_like_entry.array", _ZerosLikeOperator)]
CrossDeviceCopy.kernels = [Kernel("_cross_device_copy.array", _CrossDeviceCopyOperator)]
