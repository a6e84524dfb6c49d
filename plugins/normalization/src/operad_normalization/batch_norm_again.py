"""Operator that computes the output of `BatchNorm` a second time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np

from operad_normalization.axis_line import MAX_AXES, along
from operad_normalization.groups import Groups
from operad_normalization.segments import BY_VECTORS, forward_cost, pay
from operad_normalization.standardize import BY_BLOCKS, Way
from operad_sdk import Array, DType, InferredTypes, OpContext, OperatorProperty, Shape, operator, param


@lru_cache(maxsize=1024)
def groups_of(axis: int, shape: Shape) -> Groups:
    """A group for each channel."""
    channels = axis % len(shape)
    return Groups(shape, tuple(other for other in range(len(shape)) if other != channels), channels)


@operator("_BatchNorm_again")
class BatchNormAgain(OperatorProperty):
    """The output of a training run of `BatchNorm` once more, which leaves the moving statistics alone.

    Mean and variance are found anew: the hidden outputs of `BatchNorm` are rounded and would give other bits.
    """

    eps = param(float, 1e-3, ge=0, doc="Added to the variance.")
    fix_gamma = param(bool, True, doc="Take 1 for gamma.")
    axis = param(int, 1, ge=-MAX_AXES, lt=MAX_AXES, doc="The axis of the channels.")

    accepts = "floating"
    compute_dtype = "float32"
    element_cost = 4

    def spec(self) -> str:
        """One line of the shape language, which depends on the axis."""
        data = along(self.axis, "C")
        return f"data:D({data}), gamma:(C), beta:(C), mean:(C) -> output:D({data})"

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The output's type is the data's."""
        return list(in_types), [in_types[0]], []

    def forward(
        self, op_ctx: OpContext, data: Array, gamma: Array, beta: Array, mean: Array, output: Array
    ) -> None:
        """Standardize with the batch's statistics, as `BatchNorm` does."""
        self._standardize(op_ctx, data, gamma, beta, mean, output, BY_BLOCKS)

    def groups(self, shape: Shape) -> Groups:
        """A group for each channel."""
        return groups_of(self.axis, shape)

    def _standardize(
        self, op_ctx: OpContext, data: Array, gamma: Array, beta: Array, mean: Array, output: Array, way: Way
    ) -> None:
        if data.size:
            groups = self.groups(data.shape)
            gain, offset, m = (vector.reshape(groups.vector) for vector in (gamma, beta, np.empty_like(mean)))
            fixed = None if self.fix_gamma else gain
            way.standardize(op_ctx, groups, data, fixed, offset, self.eps, output, m, np.empty_like(m))


BatchNormAgain.kernel("forward", name="in_vectors", priority=1, when=pay(), cost=forward_cost)(
    partial(BatchNormAgain._standardize, way=BY_VECTORS)
)
