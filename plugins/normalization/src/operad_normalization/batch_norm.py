"""`BatchNorm`: every channel standardized over the batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from operad.operator import BackwardEntry
from operad_normalization.axis_line import MAX_AXES, along
from operad_normalization.batch_norm_again import BatchNormAgain, groups_of
from operad_normalization.batch_norm_kernels import is_affine, with_vectors
from operad_normalization.batch_norm_reference import normalized
from operad_normalization.groups import Groups
from operad_normalization.standardize import BY_BLOCKS, Way, standardize_gradients
from operad_sdk import (
    Array,
    Contract,
    DType,
    DTypeError,
    InferredTypes,
    OpContext,
    OperatorProperty,
    Shape,
    as_dtype,
    gradient,
    operator,
    param,
)


@with_vectors
@operator("BatchNorm")
class BatchNorm(OperatorProperty):
    """Each channel less its mean, over its standard deviation, times gamma plus beta.

    In training mean and variance are those of the batch, and the moving ones become `momentum` times
    themselves plus `1 - momentum` times these; the variance divides by the number of elements. In
    prediction, with `use_global_stats`, and for an empty batch they are the moving ones. The gradients of
    the outputs `mean` and `var` are ignored.

    Shapes:
        data: (N, C, ...), with C on `axis`, of a floating type.
        gamma, beta, moving_mean, moving_var: (C,); of float32 where data is of float16.
        output: As data.
        mean (hidden unless output_mean_var): (C,), what was subtracted.
        var (hidden unless output_mean_var): (C,), what was multiplied with: `1 / sqrt(variance + eps)`.

    Example:
        >>> import operad as od
        >>> gamma, beta, mean, var = (od.nd.array([value]) for value in (1, 0.5, 0, 1))
        >>> with od.autograd.train_mode():
        ...     output = od.nd.BatchNorm(od.nd.array([[1], [3]]), gamma, beta, mean, var, eps=0)
        >>> output.asnumpy().ravel(), mean.asnumpy(), var.asnumpy()
        (array([-0.5,  1.5], dtype=float32), array([0.2], dtype=float32), array([1.], dtype=float32))

    Source: BatchNormParam, src/operator/nn/batch_norm-inl.h. Differs: moving statistics are updated in
    forward, not in backward; `fix_gamma` reads gamma as 1, and writes it in executors alone.
    """

    eps = param(float, 1e-3, ge=0, doc="Added to the variance.")
    momentum = param(float, 0.9, doc="Share of the moving statistics that one training step leaves.")
    fix_gamma = param(bool, True, doc="Take 1 for gamma, and give it no gradient.")
    use_global_stats = param(bool, False, doc="Take the moving statistics in training too.")
    output_mean_var = param(bool, False, doc="Show the outputs mean and var.")
    axis = param(int, 1, ge=-MAX_AXES, lt=MAX_AXES, doc="The axis of the channels.")
    cudnn_off = param(bool, False, ignored="Accepted for MXNet's files; there is no cuDNN here.")
    min_calib_range = param(float, None, ignored="Accepted for MXNet's files; nothing is quantized here.")
    max_calib_range = param(float, None, ignored="Accepted for MXNet's files; nothing is quantized here.")

    accepts = "floating"
    compute_dtype = "float32"
    inplace = "data -> output"
    element_cost = 4
    initializers = {"moving_mean": '["zero", {}]', "moving_var": '["one", {}]'}
    contract = Contract(
        reference=normalized,
        # What is ignored only makes variants, which would have to be told apart.
        params={
            "axis": (1, -1, 0, 2, -2),
            "cudnn_off": (False,),
            "min_calib_range": (None,),
            "max_calib_range": (None,),
        },
        no_numeric_gradient=lambda prop: (
            "gradients of mean and var are ignored, as in MXNet" if prop.output_mean_var else ""
        ),
    )

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
                raise DTypeError(f"BatchNorm: {name} is {vector}, expected {own} for data of {data}; cast it")
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
        self._standardize(
            op_ctx, is_train, data, gamma, beta, moving_mean, moving_var, output, mean, var, BY_BLOCKS
        )

    def _standardize(
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
        way: Way,
    ) -> None:
        groups = self.groups(data.shape)
        gain, offset, m, v = (vector.reshape(groups.vector) for vector in (gamma, beta, mean, var))
        fixed = None if self.fix_gamma else gain
        if is_train and not self.use_global_stats and data.size:
            way.standardize(op_ctx, groups, data, fixed, offset, self.eps, output, m, v)
            for moving, new in ((moving_mean, mean), (moving_var, var)):
                moving *= self.momentum
                moving += (1 - self.momentum) * new
            np.divide(1, np.sqrt(var + self.eps), out=var)
        else:
            mean[...] = moving_mean
            np.divide(1, np.sqrt(moving_var + self.eps), out=var)
            way.apply_statistics(op_ctx, groups, data, fixed, offset, output, m, v)

    def recomputation(self) -> tuple[OperatorProperty, list[BackwardEntry]] | None:
        """The output from the data, and from the hidden outputs after a prediction."""
        if self.use_global_stats or self.output_mean_var:
            return None
        again = BatchNormAgain(eps=self.eps, fix_gamma=self.fix_gamma, axis=self.axis)
        read = [("in_data", 0), ("in_data", 1), ("in_data", 2), ("out_data", 1), ("out_data", 2)]
        return again, [BackwardEntry(*entry) for entry in read]

    @gradient(
        "data", "gamma", "beta", inplace="output_grad -> data_grad", when=lambda prop: not prop.fix_gamma
    )
    def gradients(
        self,
        op_ctx: OpContext,
        is_train: bool,
        output_grad: Array,
        data: Array,
        gamma: Array,
        mean: Array,
        var: Array,
        data_grad: Array,
        gamma_grad: Array,
        beta_grad: Array,
        wanted: frozenset[str],
    ) -> None:
        """`d/dx = r (k - mean(k) - h mean(k h))` with `k = g gamma`; `r k` for moving statistics."""
        self._gradients(
            op_ctx, is_train, output_grad, data, gamma, mean, var, data_grad, gamma_grad, beta_grad, wanted,
            BY_BLOCKS,
        )  # fmt: skip

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
        self._gradients_without_gamma(
            op_ctx, is_train, output_grad, data, mean, var, data_grad, beta_grad, wanted, BY_BLOCKS
        )

    def _gradients_without_gamma(
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
        way: Way,
    ) -> None:
        self._gradients(
            op_ctx, is_train, output_grad, data, None, mean, var, data_grad, None, beta_grad, wanted, way
        )

    def _gradients(
        self,
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
        way: Way,
    ) -> None:
        groups = self.groups(data.shape)
        gain = None if gamma is None else gamma.reshape(groups.vector)
        m, r = mean.reshape(groups.vector), var.reshape(groups.vector)
        target = data_grad if "data_grad" in wanted else None
        is_given = self.use_global_stats or not is_train
        standardize_gradients(
            way,
            op_ctx,
            groups,
            output_grad,
            data,
            gain,
            m,
            r,
            target,
            gamma_grad,
            beta_grad,
            is_given=is_given,
        )

    @gradient("data", inplace="output_grad", when=is_affine)
    def affine_data_gradient(self, output_grad: Array, var: Array, data_grad: Array) -> None:
        """`d/dx = r`; nothing is kept of the data."""
        np.multiply(output_grad, var.reshape(self.groups(data_grad.shape).vector), out=data_grad)

    @gradient("beta", when=is_affine)
    def affine_beta_gradient(self, output_grad: Array) -> Array:
        """`d/dbeta = 1`."""
        return output_grad.sum(self.groups(output_grad.shape).axes)
