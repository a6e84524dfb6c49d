"""Channels standardized over the batch: what `BatchNorm` and its older forms have in common.

They differ in parameters, and in what the output `var` holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad_normalization.axis_line import along
from operad_normalization.batch_norm_again import groups_of
from operad_normalization.gradients import standardize_gradients
from operad_normalization.groups import Groups
from operad_normalization.standardize import apply_statistics, standardize
from operad_sdk import (
    Array,
    DType,
    DTypeError,
    InferredTypes,
    OpContext,
    OperatorProperty,
    Shape,
    as_dtype,
    blocked_sum,
    gradient,
    param,
)


def why_no_numeric_gradient(prop: Any) -> str:
    """Reason why gradients are not those of all outputs; "" where they are."""
    return "gradients of mean and var are ignored, as in MXNet" if prop.output_mean_var else ""


def is_affine(prop: Any) -> bool:
    """Return whether the output is the data times known numbers, plus beta."""
    return bool(prop.fix_gamma and prop.use_global_stats)


def write_gradients(
    self: Any,
    op_ctx: OpContext,
    is_train: bool,
    output_grad: Array,
    data: Array,
    gamma: Array | None,
    mean: Array,
    var: Array,
    data_grad: Array,
    gamma_grad: Array | None,
    beta_grad: Array,
    wanted: frozenset[str],
) -> None:
    """`d/dx = r (k - mean(k) - h mean(k h))` with `k = g gamma`; `r k` for moving statistics."""
    groups = self.groups(data.shape)
    standardize_gradients(
        op_ctx,
        groups,
        output_grad,
        data,
        None if gamma is None else gamma.reshape(groups.vector),
        mean.reshape(groups.vector),
        self.rate(var).reshape(groups.vector),
        data_grad if "data_grad" in wanted else None,
        gamma_grad,
        beta_grad,
        is_given=self.use_global_stats or not is_train,
    )


class BatchStatistics(OperatorProperty):
    """Each channel less its mean, over its standard deviation, times gamma plus beta.

    A subclass adds `axis`, as a parameter or as a number.
    """

    eps = param(float, 1e-3, ge=0, doc="Added to the variance.")
    momentum = param(float, 0.9, doc="Share of the moving statistics that one training step leaves.")
    fix_gamma = param(bool, True, doc="Use 1 for gamma, without a gradient.")
    use_global_stats = param(bool, False, doc="Use the moving statistics in training too.")
    output_mean_var = param(bool, False, doc="Show the outputs mean and var.")
    axis: int

    accepts = "floating"
    compute_dtype = "float32"
    inplace = "data -> output"
    element_cost = 4
    states_move = "training"
    initializers = {"moving_mean": '["zero", {}]', "moving_var": '["one", {}]'}

    def keep(self, variance: Array, deviation: Array, var: Array) -> None:
        """Write what the output `var` holds of a variance; `deviation` is `sqrt(variance + eps)`."""
        np.divide(1, deviation, out=var)

    def rate(self, var: Array) -> Array:
        """Factor of the data, `1 / sqrt(variance + eps)`, of the output `var`."""
        return var

    def spec(self) -> str:
        """One line of the shape language, which depends on the axis."""
        data, shown = along(self.axis, "C"), "" if self.output_mean_var else "hidden "
        return (
            f"data:D({data}), gamma:(C), beta:(C), state moving_mean:(C), state moving_var:(C)"
            f" -> output:D({data}), {shown}mean:(C), {shown}var:(C)"
        )

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The vectors' type is the data's, but float32 for data of float16."""
        data, *vectors = in_types
        if data is None:
            return super().infer_type(in_types)
        own = as_dtype("float32") if data == "float16" else data
        for name, vector in zip(("gamma", "beta"), vectors, strict=True):
            if vector not in (None, own):
                raise DTypeError(
                    f"{self.name}: {name} is {vector}, expected {own} for data of {data}; cast it"
                )
        return super().infer_type([data, own, own])

    def fixed_arguments(self) -> dict[str, float]:
        """Gamma is 1 with `fix_gamma`, whatever weight decay made of it."""
        return {"gamma": 1.0} if self.fix_gamma else {}

    def groups(self, shape: Shape) -> Groups:
        """A group for each channel."""
        return groups_of(self.axis, shape)

    def forward(
        self,
        op_ctx: OpContext,
        is_train: bool,
        data: Array,
        gamma: Array,
        beta: Array,
        moving_mean: Array,
        moving_var: Array,
        output: Array,
        mean: Array,
        var: Array,
    ) -> None:
        """Standardize with the batch's statistics, and move the moving ones; or apply those."""
        groups = self.groups(data.shape)
        gain, offset, m, v = (vector.reshape(groups.vector) for vector in (gamma, beta, mean, var))
        fixed = None if self.fix_gamma else gain
        if is_train and not self.use_global_stats and data.size:
            deviation = np.empty_like(v)
            standardize(op_ctx, groups, data, fixed, offset, self.eps, output, m, deviation, v)
            for moving, new in ((moving_mean, mean), (moving_var, var)):
                moving *= self.momentum
                moving += (1 - self.momentum) * new
            self.keep(var, deviation.reshape(var.shape), var)
        else:
            mean[...] = moving_mean
            self.keep(moving_var, np.sqrt(moving_var + self.eps), var)
            rate = self.rate(var).reshape(groups.vector)
            apply_statistics(op_ctx, groups, data, fixed, offset, output, m, rate)

    gradients = gradient(
        "data", "gamma", "beta", inplace="output_grad -> data_grad", when=lambda prop: not prop.fix_gamma
    )(write_gradients)

    @gradient(
        "data",
        "beta",
        inplace="output_grad -> data_grad",
        when=lambda prop: prop.fix_gamma and not prop.use_global_stats,
    )
    def gradients_without_gamma(
        self,
        op_ctx: OpContext,
        is_train: bool,
        output_grad: Array,
        data: Array,
        mean: Array,
        var: Array,
        data_grad: Array,
        beta_grad: Array,
        wanted: frozenset[str],
    ) -> None:
        """The same with a gamma of 1."""
        write_gradients(
            self, op_ctx, is_train, output_grad, data, None, mean, var, data_grad, None, beta_grad, wanted
        )

    @gradient("data", inplace="output_grad", when=is_affine)
    def affine_data_gradient(self, output_grad: Array, var: Array, data_grad: Array) -> None:
        """`d/dx = r`; nothing is kept of the data."""
        rate = self.rate(var).reshape(self.groups(data_grad.shape).vector)
        np.multiply(output_grad, rate, out=data_grad)

    @gradient("beta", when=is_affine)
    def affine_beta_gradient(self, output_grad: Array) -> Array:
        """`d/dbeta = 1`."""
        return blocked_sum(output_grad, self.groups(output_grad.shape).axes)
