"""Base of LayerNorm, GroupNorm and InstanceNorm: groups within a sample, and no moving statistics."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from operad_normalization.gradients import BY_BLOCKS, Way, standardize_gradients
from operad_normalization.groups import Groups
from operad_normalization.segments import BY_VECTORS, forward_cost, gradients_cost, pay
from operad_sdk import (
    Array,
    Contract,
    DType,
    InferredTypes,
    OpContext,
    OperatorProperty,
    Real,
    Shape,
    as_dtype,
)
from operad_sdk import gradient as gradient_of


def normalized(groups: Groups, data: Array, gamma: Array, beta: Array, eps: float) -> tuple[Array, ...]:
    """The definition: output, mean and deviation, one group after another, for the contract checks."""
    kept = [axis for axis in range(data.ndim) if axis not in groups.axes]
    rows = np.moveaxis(data, kept, range(len(kept))).reshape(*[data.shape[axis] for axis in kept], -1)
    count = max(1, rows.shape[-1])
    first = rows[..., :1].sum(-1)  # the mean of equal values is their value, without rounding
    mean = first + (rows - first[..., None]).sum(-1) / count
    deviation = np.sqrt(((rows - mean[..., None]) ** 2).sum(-1) / count + eps)
    mean, deviation = mean.reshape(groups.statistics), deviation.reshape(groups.statistics)
    output = (data - mean) / deviation * gamma.reshape(groups.vector) + beta.reshape(groups.vector)
    return output, mean, deviation


def contract(reference: Any, **params: Any) -> Contract:
    """The contract of a layer that computes `reference`, with values of parameters to try."""
    return Contract(
        reference=reference,
        params=params,
        inputs={"data": Real(above=-16, below=16)},  # squares beyond the type's range have no mean
        no_numeric_gradient=lambda prop: (
            "gradients of mean and std are ignored, as in MXNet" if prop.output_mean_var else ""
        ),
        undefined="with eps=0, groups whose values are all alike are divided by 0",
    )


class LayerProperty(OperatorProperty):
    """An operator that standardizes groups of elements; a subclass says which.

    The statistics that are kept for the gradient are of float32 where data is of float16, unless they are
    outputs that callers see.
    """

    output_mean_var: bool = False
    eps: Any

    accepts = "floating"
    compute_dtype = "float32"
    inplace = "data -> output"
    element_cost = 12

    @abstractmethod
    def groups(self, shape: Shape) -> Groups:
        """Groups of data of this shape."""

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Infer types from `spec`, and the statistics' type."""
        arguments, outputs, states = super().infer_type(in_types)
        dtype = outputs[0]
        if dtype == "float16" and not self.output_mean_var:
            dtype = as_dtype("float32")
        return arguments, [outputs[0], dtype, dtype], states

    def forward(
        self,
        op_ctx: OpContext,
        data: Array,
        gamma: Array,
        beta: Array,
        output: Array,
        mean: Array,
        std: Array,
    ) -> None:
        """Standardize, and keep mean and deviation."""
        self._standardize(op_ctx, data, gamma, beta, output, mean, std, BY_BLOCKS)

    def _standardize(
        self,
        op_ctx: OpContext,
        data: Array,
        gamma: Array,
        beta: Array,
        output: Array,
        mean: Array,
        std: Array,
        way: Way,
    ) -> None:
        groups = self.groups(data.shape)
        x, y = data.reshape(groups.shape), output.reshape(groups.shape)
        gain, offset = gamma.reshape(groups.vector), beta.reshape(groups.vector)
        m, s = mean.reshape(groups.statistics), std.reshape(groups.statistics)
        way.standardize(op_ctx, groups, x, gain, offset, self.eps, y, m, s)

    @gradient_of(inplace="output_grad -> data_grad")
    def backward(
        self,
        op_ctx: OpContext,
        output_grad: Array,
        data: Array,
        gamma: Array,
        mean: Array,
        std: Array,
        data_grad: Array,
        gamma_grad: Array,
        beta_grad: Array,
        wanted: frozenset[str],
    ) -> None:
        """`d/dx = r (k - mean(k) - h mean(k h))` with `k = g gamma`."""
        self._gradients(
            op_ctx, output_grad, data, gamma, mean, std, data_grad, gamma_grad, beta_grad, wanted, BY_BLOCKS
        )

    def _gradients(
        self,
        op_ctx: OpContext,
        output_grad: Array,
        data: Array,
        gamma: Array,
        mean: Array,
        std: Array,
        data_grad: Array,
        gamma_grad: Array,
        beta_grad: Array,
        wanted: frozenset[str],
        way: Way,
    ) -> None:
        groups = self.groups(data.shape)
        m, r = mean.reshape(groups.statistics), 1 / std.reshape(groups.statistics)
        standardize_gradients(
            way.sums_of_gradients,
            op_ctx,
            groups,
            output_grad.reshape(groups.shape),
            data.reshape(groups.shape),
            gamma.reshape(groups.vector),
            m,
            r,
            data_grad.reshape(groups.shape) if "data_grad" in wanted else None,
            gamma_grad,
            beta_grad,
        )


def with_vectors(cls: type[LayerProperty]) -> type[LayerProperty]:
    """Give a layer the kernels that compute it by vector code."""
    forward = partial(cls._standardize, way=BY_VECTORS)
    cls.kernel("forward", name="in_vectors", priority=1, when=pay(), cost=forward_cost)(forward)
    return with_vector_gradients(cls)


def with_vector_gradients(cls: type[LayerProperty]) -> type[LayerProperty]:
    """Give a layer the kernel of all gradients; its outputs are computed by their form."""
    gradients = partial(cls._gradients, way=BY_VECTORS)
    grads = [f"{name}_grad" for name in ("data", "gamma", "beta")]
    cls.kernel(*grads, name="vector_gradients", priority=1, when=pay(), cost=gradients_cost)(gradients)
    return cls
