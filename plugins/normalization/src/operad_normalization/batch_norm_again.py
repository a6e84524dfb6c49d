"""Operator that computes the output of `BatchNorm` a second time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from operad_normalization.axis_line import MAX_AXES, along
from operad_normalization.groups import Groups
from operad_normalization.standardize import apply_statistics, standardize
from operad_sdk import Array, DType, InferredTypes, OpContext, OperatorProperty, Shape, operator, param


@lru_cache(maxsize=1024)
def groups_of(axis: int, shape: Shape) -> Groups:
    """A group for each channel."""
    channels = axis % len(shape)
    return Groups(shape, tuple(other for other in range(len(shape)) if other != channels), channels)


@operator("_BatchNorm_again")
class BatchNormAgain(OperatorProperty):
    """The output of `BatchNorm` once more, which leaves the moving statistics alone.

    After a training run mean and variance are computed again, since `BatchNorm`'s hidden outputs are rounded
    and would give other bits. After a prediction they are what it was computed with.
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
        return f"data:D({data}), gamma:(C), beta:(C), mean:(C), var:(C) -> output:D({data})"

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The output's type is the data's."""
        return list(in_types), [in_types[0]], []

    def forward(
        self,
        op_ctx: OpContext,
        is_train: bool,
        data: Array,
        gamma: Array,
        beta: Array,
        mean: Array,
        var: Array,
        output: Array,
    ) -> None:
        """Standardize as `BatchNorm` did."""
        groups = self.groups(data.shape)
        gain, offset, m, v = (vector.reshape(groups.vector) for vector in (gamma, beta, mean, var))
        fixed = None if self.fix_gamma else gain
        if not is_train:
            apply_statistics(op_ctx, groups, data, fixed, offset, output, m, v)
        elif data.size:
            found = np.empty_like(m), np.empty_like(v)
            standardize(op_ctx, groups, data, fixed, offset, self.eps, output, *found)

    def groups(self, shape: Shape) -> Groups:
        """A group for each channel."""
        return groups_of(self.axis, shape)
