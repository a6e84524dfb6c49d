"""`GroupNorm`: every group of a sample's channels standardized."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from operad.operator import Kernel
from operad_normalization.as_instances import kernels_as_instances
from operad_normalization.groups import Groups
from operad_normalization.layers import LayerProperty, contract, normalized
from operad_normalization.two_walks import IN_TWO_WALKS, write_in_two_walks
from operad_sdk import Array, Shape, operator, param


@lru_cache(maxsize=1024)
def _groups(shape: Shape, num_groups: int) -> Groups:
    split = (shape[0], num_groups, shape[1] // num_groups, *shape[2:])
    return Groups(split, tuple(range(2, len(split))), 1)


def _normalized(data: Array, gamma: Array, beta: Array, num_groups: int, eps: float) -> tuple[Array, ...]:
    groups = _groups(data.shape, num_groups)
    output, mean, deviation = normalized(groups, data.reshape(groups.shape), gamma, beta, eps)
    shape = (len(data), num_groups)
    return output.reshape(data.shape), mean.reshape(shape), deviation.reshape(shape)


@operator("GroupNorm")
class GroupNorm(LayerProperty):
    """Each group of channels less its mean, over its standard deviation, times gamma plus beta.

    Gamma and beta have an element for each group. The gradients of the outputs `mean` and `std` are ignored.

    Shapes:
        data: (N, C, ...), of a floating type; num_groups divides C.
        gamma, beta: (num_groups,).
        output: As data.
        mean (hidden unless output_mean_var): (N, num_groups).
        std (hidden unless output_mean_var): (N, num_groups): `sqrt(variance + eps)`.
        rest (hidden): (N, num_groups): what rounding took from a quarter of the mean.

    Example:
        >>> import operad as od
        >>> one, zero = od.nd.ones((2,)), od.nd.zeros((2,))
        >>> od.nd.GroupNorm(od.nd.array([[1, 3, 5, 1]]), one, zero, num_groups=2, eps=0).asnumpy()
        array([[-1.,  1.,  1., -1.]], dtype=float32)

    Source: GroupNormParam, src/operator/nn/group_norm-inl.h.
    """

    num_groups = param(int, 1, ge=1, doc="Number of groups of channels.")
    eps = param(float, 1e-5, ge=0, doc="Added to the variance.")
    output_mean_var = param(bool, False, doc="Show the outputs mean and std.")
    contract = contract(_normalized)

    def spec(self) -> str:
        """One line of the shape language, which depends on the outputs that are shown."""
        shown = "" if self.output_mean_var else "hidden "
        return (
            "data:(N, num_groups*c, *S), gamma:(num_groups), beta:(num_groups)"
            f" -> output:(N, num_groups*c, *S), {shown}mean:(N, num_groups), {shown}std:(N, num_groups),"
            " hidden rest:(N, num_groups)"
        )

    def groups(self, shape: Shape) -> Groups:
        """Groups as the parameter says; the axis of channels becomes two."""
        return _groups(shape, self.num_groups)

    def derived_kernels(self) -> Sequence[Kernel]:
        """Those of `InstanceNorm`."""
        return kernels_as_instances()


GroupNorm.kernel("forward", **IN_TWO_WALKS)(write_in_two_walks)
