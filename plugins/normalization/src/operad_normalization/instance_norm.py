"""`InstanceNorm`: every channel of every sample standardized."""

from __future__ import annotations

from functools import lru_cache

from operad_normalization.groups import Groups
from operad_normalization.layers import TOLERANCES, LayerProperty, normalized
from operad_normalization.two_walks import IN_TWO_WALKS, write_in_two_walks
from operad_sdk import Contract, Real, Shape, operator, param


@lru_cache(maxsize=1024)
def _groups(shape: Shape) -> Groups:
    return Groups(shape, tuple(range(2, len(shape))), 1)


@operator("InstanceNorm")
class InstanceNorm(LayerProperty):
    """Each channel of each sample less its mean, over its standard deviation, times gamma plus beta.

    Shapes:
        data: (N, C, ...), of a floating type.
        gamma, beta: (C,).
        output: As data.
        mean (hidden): (N, C).
        std (hidden): (N, C): `sqrt(variance + eps)`.
        rest (hidden): (N, C): what rounding took from a quarter of the mean.

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[[1, 3], [5, 1]]])
        >>> od.nd.InstanceNorm(data, od.nd.array([1, 2]), od.nd.array([0, 1]), eps=0).asnumpy()
        array([[[-1.,  1.],
                [ 3., -1.]]], dtype=float32)

    Source: InstanceNormParam, src/operator/instance_norm-inl.h.
    """

    eps = param(float, 1e-3, ge=0, doc="Added to the variance.")
    spec = (
        "data:(N, C, *S), gamma:(C), beta:(C)"
        " -> output:(N, C, *S), hidden mean:(N, C), hidden std:(N, C), hidden rest:(N, C)"
    )
    # Squares beyond the type's range have no mean.
    contract = Contract(
        reference=lambda data, gamma, beta, eps: normalized(_groups(data.shape), data, gamma, beta, eps)[0],
        inputs={"data": Real(above=-16, below=16)},
        undefined="with eps=0, channels whose values are all alike are divided by 0",
        tolerances=TOLERANCES,
    )

    def groups(self, shape: Shape) -> Groups:
        """A group for each sample and channel."""
        return _groups(shape)


InstanceNorm.kernel("forward", **IN_TWO_WALKS)(write_in_two_walks)
