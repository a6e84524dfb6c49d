"""`BatchNorm_v1` and `_contrib_SyncBatchNorm`: `BatchNorm` whose output `var` is the variance."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from operad_normalization.batch_norm_reference import normalized
from operad_normalization.batch_statistics import BatchStatistics, why_no_numeric_gradient
from operad_sdk import Array, Contract, ParamError, operator, param

_REFERENCE: Final = partial(normalized, axis=1, shows_variance=True)
_EPS = {"eps": (1e-3, 0.5)}
_WHY_EPS = {"eps": "without it a gradient that is 0 is made of roundings, which kernels do in other orders"}


class _Older(BatchStatistics):
    """The variance as output, and the channels along axis 1."""

    axis = 1

    def keep(self, variance: Array, deviation: Array, var: Array) -> None:
        """Write the variance."""
        np.copyto(var, variance)

    def rate(self, var: Array) -> Array:
        """Factor of the data."""
        return 1 / np.sqrt(var + self.eps)


@operator("BatchNorm_v1")
class BatchNormV1(_Older):
    """The `BatchNorm` of MXNet before 1.0.

    As `BatchNorm` along the axis 1, but for the output `var`.

    Shapes:
        data: (N, C, ...), of a floating type.
        gamma, beta, moving_mean, moving_var: (C,); of float32 where data is of float16.
        output: As data.
        mean (hidden unless output_mean_var): (C,), what was subtracted.
        var (hidden unless output_mean_var): (C,), the variance that was divided by.

    Example:
        >>> import operad as od
        >>> gamma, beta, mean, var = (od.nd.array([value]) for value in (1, 0.5, 0, 1))
        >>> with od.autograd.train_mode():
        ...     output = od.nd.BatchNorm_v1(od.nd.array([[1], [3]]), gamma, beta, mean, var, eps=0)
        >>> output.asnumpy().ravel()
        array([-0.5,  1.5], dtype=float32)

    Source: BatchNormV1Param, src/operator/batch_norm_v1-inl.h. Differs: moving statistics are updated in
    forward, not in backward; `fix_gamma` reads gamma as 1, and writes it in executors alone.
    """

    contract = Contract(
        reference=_REFERENCE,
        params=_EPS,
        narrowed=_WHY_EPS,
        no_numeric_gradient=why_no_numeric_gradient,
    )


@operator("_contrib_SyncBatchNorm")
class SyncBatchNorm(_Older):
    """A `BatchNorm` over the whole batch, which is that of one device.

    As `BatchNorm` along the axis 1, but for the output `var`.

    Shapes:
        data: (N, C, ...), of a floating type.
        gamma, beta, moving_mean, moving_var: (C,); of float32 where data is of float16.
        output: As data.
        mean (hidden unless output_mean_var): (C,), what was subtracted.
        var (hidden unless output_mean_var): (C,), the variance that was divided by.

    Example:
        >>> import operad as od
        >>> gamma, beta, mean, var = (od.nd.array([value]) for value in (1, 0.5, 0, 1))
        >>> with od.autograd.train_mode():
        ...     data, options = od.nd.array([[1], [3]]), {"eps": 0, "key": "bn"}
        ...     output = od.nd.contrib.SyncBatchNorm(data, gamma, beta, mean, var, **options)
        >>> output.asnumpy().ravel()
        array([-0.5,  1.5], dtype=float32)

    Source: SyncBatchNormParam, src/operator/contrib/sync_batch_norm-inl.h. Differs: moving statistics are
    updated in forward, not in backward; `fix_gamma` reads gamma as 1, and writes it in executors alone;
    an `ndev` above 1 is refused.
    """

    ndev = param(int, 1, ge=1, doc="Devices that share a batch; 1 alone.")
    key = param(str, ignored="One device has nobody to agree with.")
    contract = Contract(
        reference=_REFERENCE,
        params={"ndev": (1,), "key": ("bn",), **_EPS},
        narrowed={
            **_WHY_EPS,
            "ndev": "more devices than one are refused, as the parameter says",
            "key": "a name that nothing depends on where there is one device",
        },
        no_numeric_gradient=why_no_numeric_gradient,
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.ndev != 1:
            raise ParamError(
                f"{self.name}: ndev is {self.ndev}, but statistics of several devices are not put together "
                "here: bind the network to one context, with the whole batch, or use BatchNorm, which takes "
                "the statistics of each device's part"
            )
