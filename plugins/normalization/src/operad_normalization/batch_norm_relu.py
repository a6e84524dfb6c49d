"""`_contrib_BatchNormWithReLU`: `BatchNorm`, and 0 in place of what is below 0."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from operad_normalization.batch_norm import BatchNorm
from operad_normalization.batch_norm_reference import normalized
from operad_normalization.batch_statistics import is_affine, write_gradients
from operad_sdk import Array, OpContext, blocked_sum, gradient, operator


@wraps(normalized)
def _rectified(*arrays: Array, **options: Any) -> tuple[Array, ...]:
    output, *others = normalized(*arrays, **options)
    return np.maximum(output, 0), *others


@operator("_contrib_BatchNormWithReLU")
class BatchNormWithReLU(BatchNorm):
    """`BatchNorm`, and 0 where its output is below 0; where it is, no gradient goes back.

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
        ...     data = od.nd.array([[1], [3]])
        ...     output = od.nd.contrib.BatchNormWithReLU(data, gamma, beta, mean, var, eps=0)
        >>> output.asnumpy().ravel()
        array([0. , 1.5], dtype=float32)

    Source: src/operator/contrib/batch_norm_relu.cc. Differs: as `BatchNorm`.
    """

    def forward(
        self, op_ctx: OpContext, is_train: bool, data: Array, gamma: Array, beta: Array, moving_mean: Array,
        moving_var: Array, output: Array, mean: Array, var: Array,
    ) -> None:  # fmt: skip
        """Standardize, and cut off."""
        BatchNorm.forward(
            self, op_ctx, is_train, data, gamma, beta, moving_mean, moving_var, output, mean, var
        )
        np.maximum(output, 0, out=output)

    def recomputation(self) -> None:
        """Nothing computes the output a second time."""
        return

    @gradient("data", "gamma", "beta", when=lambda prop: not prop.fix_gamma)
    def gradients(  # type: ignore[override]
        self, op_ctx: OpContext, is_train: bool, output_grad: Array, data: Array, gamma: Array, output: Array,
        mean: Array, var: Array, data_grad: Array, gamma_grad: Array, beta_grad: Array,
        wanted: frozenset[str],
    ) -> None:  # fmt: skip
        """Those of `BatchNorm`, where the output is above 0."""
        head = output_grad * (output > 0)
        write_gradients(
            self, op_ctx, is_train, head, data, gamma, mean, var, data_grad, gamma_grad, beta_grad, wanted
        )

    @gradient("data", "beta", when=lambda prop: prop.fix_gamma and not is_affine(prop))
    def gradients_without_gamma(  # type: ignore[override]
        self, op_ctx: OpContext, is_train: bool, output_grad: Array, data: Array, output: Array, mean: Array,
        var: Array, data_grad: Array, beta_grad: Array, wanted: frozenset[str],
    ) -> None:  # fmt: skip
        """The same with a gamma of 1."""
        head = output_grad * (output > 0)
        write_gradients(
            self, op_ctx, is_train, head, data, None, mean, var, data_grad, None, beta_grad, wanted
        )

    @gradient("data", when=is_affine)
    def affine_data_gradient(  # type: ignore[override]
        self, output_grad: Array, output: Array, var: Array
    ) -> Array:
        """`d/dx = r`, where the output is above 0."""
        return output_grad * (output > 0) * self.rate(var).reshape(self.groups(output.shape).vector)

    @gradient("beta", when=is_affine)
    def affine_beta_gradient(  # type: ignore[override]
        self, output_grad: Array, output: Array
    ) -> Array:
        """`d/dbeta = 1`, where the output is above 0."""
        return blocked_sum(output_grad * (output > 0), self.groups(output.shape).axes)

    contract = replace(BatchNorm.contract, reference=_rectified)
