"""Base of LayerNorm, GroupNorm and InstanceNorm: groups within a sample, and no moving statistics.

Gradients of gain and offset are sums over other axes than the gradient of the data. So that each is a formula
of elements and of what groups have one of, forward keeps what rounding took from the mean, too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad_normalization.groups import Groups
from operad_normalization.layer_gradients import (
    Kept,
    write_all_gradients,
    write_data_gradient,
    write_vector_gradients,
)
from operad_normalization.standardize import standardize
from operad_sdk import (
    Array,
    Contract,
    DType,
    InferredTypes,
    OpContext,
    OperatorProperty,
    Real,
    Shape,
    Tolerance,
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


_WHY = "rest is what rounding takes, which exact numbers have nothing of"
TOLERANCES: Final = {
    "float32": Tolerance(2**-17, 2**-17, _WHY),
    "float64": Tolerance(2**-46, 2**-46, _WHY),
}
"""The usual ones, but for what is 0 in exact numbers."""


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
        tolerances=TOLERANCES,
    )


def _has_element_gains(prop: Any) -> bool:
    return bool(prop.has_element_gains)


class LayerProperty(OperatorProperty):
    """An operator that standardizes groups of elements; a subclass says which.

    Attributes:
        has_element_gains: Whether gains are for the elements of a group, and else for groups.

    The statistics that are kept for the gradient are of float32 where data is of float16, unless they are
    outputs that callers see.
    """

    output_mean_var: bool = False
    has_element_gains = False
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
        output = outputs[0]
        wide = as_dtype("float32") if output == "float16" else output
        shown = output if self.output_mean_var else wide
        return arguments, [output, shown, shown, wide], states

    def forward(
        self,
        op_ctx: OpContext,
        data: Array,
        gamma: Array,
        beta: Array,
        output: Array,
        mean: Array,
        std: Array,
        rest: Array,
    ) -> None:
        """Standardize, and keep mean, deviation, and what rounding took from a quarter of the mean."""
        groups = self.groups(data.shape)
        x, y = data.reshape(groups.shape), output.reshape(groups.shape)
        gain, offset = gamma.reshape(groups.vector), beta.reshape(groups.vector)
        m, s, lost = (each.reshape(groups.statistics) for each in (mean, std, rest))
        standardize(op_ctx, groups, x, gain, offset, self.eps, y, m, s, rest=lost)

    @gradient_of("gamma", "beta", when=_has_element_gains)
    def vector_gradients(
        self,
        op_ctx: OpContext,
        output_grad: Array,
        data: Array,
        mean: Array,
        std: Array,
        rest: Array,
        gamma_grad: Array,
        beta_grad: Array,
    ) -> None:
        """`d/dgamma = sum(g h)`, `d/dbeta = sum(g)`; first, as the gradient of the data may replace `g`."""
        write_vector_gradients(op_ctx, self._kept(data, mean, std, rest), output_grad, gamma_grad, beta_grad)

    @gradient_of("data", inplace="output_grad -> data_grad", when=_has_element_gains)
    def data_gradient(
        self,
        op_ctx: OpContext,
        output_grad: Array,
        data: Array,
        gamma: Array,
        mean: Array,
        std: Array,
        rest: Array,
        data_grad: Array,
    ) -> None:
        """`d/dx = r (k - mean(k) - h mean(k h))` with `k = g gamma`."""
        write_data_gradient(op_ctx, self._kept(data, mean, std, rest), output_grad, gamma, data_grad)

    @gradient_of(inplace="output_grad -> data_grad", when=lambda prop: not prop.has_element_gains)
    def gradients(
        self,
        op_ctx: OpContext,
        output_grad: Array,
        data: Array,
        gamma: Array,
        mean: Array,
        std: Array,
        rest: Array,
        data_grad: Array,
        gamma_grad: Array,
        beta_grad: Array,
        wanted: frozenset[str],
    ) -> None:
        """`d/dx = r gamma (g - mean(g) - h mean(g h))`, `d/dgamma = sum(g h)`, `d/dbeta = sum(g)`."""
        kept, target = self._kept(data, mean, std, rest), data_grad if "data_grad" in wanted else None
        write_all_gradients(op_ctx, kept, output_grad, gamma, target, gamma_grad, beta_grad)

    def _kept(self, data: Array, mean: Array, std: Array, rest: Array) -> Kept:
        return Kept(self.groups(data.shape), data, mean, std, rest, self.output_mean_var)
