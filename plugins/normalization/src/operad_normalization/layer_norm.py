"""`LayerNorm`: every sample standardized along one axis."""

from __future__ import annotations

from functools import lru_cache

from operad_normalization.axis_line import MAX_AXES, along
from operad_normalization.by_rows import BY_ROWS, write_by_rows
from operad_normalization.groups import Groups
from operad_normalization.layers import LayerProperty, contract, normalized
from operad_sdk import Array, Shape, operator, param


@lru_cache(maxsize=1024)
def _groups(shape: Shape, axis: int) -> Groups:
    return Groups(shape, (axis % len(shape),), axis % len(shape))


def _normalized(data: Array, gamma: Array, beta: Array, axis: int, eps: float) -> tuple[Array, ...]:
    return normalized(_groups(data.shape, axis), data, gamma, beta, eps)


@operator("LayerNorm")
class LayerNorm(LayerProperty):
    """Data less its mean along an axis, over its standard deviation, times gamma plus beta.

    The gradients of the outputs `mean` and `std` are ignored.

    Shapes:
        data: (..., C, ...), with C on `axis`, of a floating type.
        gamma, beta: (C,).
        output: As data.
        mean (hidden unless output_mean_var): As data, with length 1 on `axis`.
        std (hidden unless output_mean_var): As mean: `sqrt(variance + eps)`.
        rest (hidden): As mean: what rounding took from a quarter of the mean.

    Example:
        >>> import operad as od
        >>> one, zero = od.nd.ones((2,)), od.nd.zeros((2,))
        >>> od.nd.LayerNorm(od.nd.array([[1, 3], [5, 1]]), one, zero, eps=0).asnumpy()
        array([[-1.,  1.],
               [ 1., -1.]], dtype=float32)

    Source: LayerNormParam, src/operator/nn/layer_norm-inl.h.
    """

    axis = param(int, -1, ge=-MAX_AXES, lt=MAX_AXES, doc="The axis along which data is normalized.")
    eps = param(float, 1e-5, ge=0, doc="Added to the variance.")
    has_element_gains = True
    output_mean_var = param(bool, False, doc="Show the outputs mean and std.")
    contract = contract(_normalized, axis=(-1, 0, 1, -2))

    def spec(self) -> str:
        """One line of the shape language, which depends on the axis."""
        data, statistics = along(self.axis, "C"), along(self.axis, "1")
        shown = "" if self.output_mean_var else "hidden "
        return (
            f"data:({data}), gamma:(C), beta:(C)"
            f" -> output:({data}), {shown}mean:({statistics}), {shown}std:({statistics}),"
            f" hidden rest:({statistics})"
        )

    def groups(self, shape: Shape) -> Groups:
        """A group for each line along the axis."""
        return _groups(shape, self.axis)


LayerNorm.kernel("data_grad", "gamma_grad", "beta_grad", **BY_ROWS)(write_by_rows)
