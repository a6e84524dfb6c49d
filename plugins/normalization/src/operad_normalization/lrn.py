"""`LRN`: local response normalization across channels."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, Real, operator, param


def _window(nsize: int, channels: int) -> list[tuple[slice, slice]]:
    """For each offset of the window: the channels that it is inside the data for, and what stands there."""
    reach = min((nsize - 1) // 2, channels - 1)
    offsets = range(-reach, reach + 1)
    return [
        (slice(max(0, -offset), channels - max(0, offset)), slice(max(0, offset), channels + min(0, offset)))
        for offset in offsets
    ]


def _normalized(data: Array, alpha: float, beta: float, knorm: float, nsize: int) -> Array:
    """One channel after another."""
    output = np.empty_like(data)
    for channel in range(data.shape[1]):
        reach = (nsize - 1) // 2
        near = data[:, max(0, channel - reach) : channel + reach + 1]
        output[:, channel] = data[:, channel] * (knorm + alpha / nsize * (near**2).sum(1)) ** -beta
    return output


@operator("LRN")
class LRN(OperatorProperty):
    """The data over a power of the sum of squares of neighbouring channels.

    `output = data * (knorm + alpha / nsize * sum of squares) ** -beta`; the sum runs over the `nsize`
    channels around each one, as far as they are there. Of an even `nsize` the window has one channel less,
    and is divided by `nsize` all the same.

    Shapes:
        data: (N, C, ...), of a floating type.
        output: As data.
        tmp_norm (hidden): As data, the number that is raised to -beta.

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[[[1]], [[2]], [[2]]]])
        >>> od.nd.LRN(data, nsize=3, alpha=3, beta=1, knorm=1).asnumpy().ravel()
        array([0.16666667, 0.2       , 0.22222222], dtype=float32)

    Source: LRNParam, src/operator/nn/lrn-inl.h.
    """

    alpha = param(float, 1e-4, doc="Factor of the mean square, which divides by nsize.")
    beta = param(float, 0.75, doc="The exponent.")
    knorm = param(float, 2.0, doc="The number to add.")
    nsize = param(int, ge=1, doc="Number of channels in the sum.")
    spec = "data:(N, C, *S) -> output:(N, C, *S), hidden tmp_norm:(N, C, *S)"
    accepts = "floating"
    compute_dtype = "float32"
    element_cost = 20
    # Squares beyond the type's range, and powers of norms below 0, are not numbers.
    contract = Contract(
        reference=_normalized,
        inputs={"data": Real(above=-16, below=16)},
        params={
            "alpha": (1e-4, 0.5, 1.0),
            "beta": (0.75, 0.5, 2.0),
            "knorm": (2.0, 0.25),
            "nsize": (3, 1, 2, 5),
        },
    )

    def forward(
        data: Array, alpha: float, beta: float, knorm: float, nsize: int, output: Array, tmp_norm: Array
    ) -> None:
        """`y = x n^-beta` with `n = knorm + alpha / nsize * sum(x^2)`."""
        squares = np.multiply(np.square(data), alpha / nsize)
        tmp_norm[...] = knorm
        for target, source in _window(nsize, data.shape[1]):
            tmp_norm[:, target] += squares[:, source]
        with np.errstate(all="ignore"):  # a negative norm has no power
            np.multiply(data, tmp_norm**-beta, out=output)

    def data_grad(
        output_grad: Array,
        data: Array,
        tmp_norm: Array,
        alpha: float,
        beta: float,
        nsize: int,
        data_grad: Array,
    ) -> None:
        """`d/dx = g n^-beta - 2 alpha beta / nsize x sum(g x n^(-beta - 1))`, over the windows x is in."""
        with np.errstate(all="ignore"):
            power = tmp_norm**-beta
            share = output_grad * (data * power / tmp_norm)
            total = np.zeros_like(share)
            for source, target in _window(nsize, data.shape[1]):
                total[:, target] += share[:, source]
            total *= data
            total *= -2 * alpha * beta / nsize
            np.multiply(output_grad, power, out=data_grad)
            data_grad += total
