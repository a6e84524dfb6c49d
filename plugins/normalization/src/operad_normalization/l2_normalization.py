"""`L2Normalization`: data over its norm."""

from __future__ import annotations

from typing import Final

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, blocked_sum, gradient, operator, param

_LINES: Final = {
    "instance": "data:(N, *S) -> output:(N, *S), hidden norm:(N)",
    "channel": "data:(N, C, *S) -> output:(N, C, *S), hidden norm:(N, *S)",
    "spatial": "data:(N, C, X, *S) -> output:(N, C, X, *S), hidden norm:(N, C)",
}


def _axes(mode: str, ndim: int) -> tuple[int, ...]:
    """The axes that a norm is taken over."""
    return {"instance": tuple(range(1, ndim)), "channel": (1,), "spatial": tuple(range(2, ndim))}[mode]


def _normalized(data: Array, eps: float, mode: str) -> Array:
    """By sides of right triangles, none of which overflows before the norm does, for the contract checks."""
    norm = np.abs(data)
    for axis in _axes(mode, data.ndim):
        norm = np.hypot.reduce(norm, axis, keepdims=True)
    return data / np.hypot(norm, np.sqrt(eps))


@operator("L2Normalization")
class L2Normalization(OperatorProperty):
    """The data over the root of its sum of squares plus `eps`.

    The sum runs over a sample (`instance`), over the channels at each position (`channel`), or over the
    positions of each channel (`spatial`).

    Shapes:
        data: (N, ...), for `channel` (N, C, ...), for `spatial` (N, C, X, ...); of a floating type.
        output: As data.
        norm (hidden): Data's without the axes that are summed over.

    Example:
        >>> import operad as od
        >>> od.nd.L2Normalization(od.nd.array([[3, 4], [0, 2]])).asnumpy()
        array([[0.6, 0.8],
               [0. , 1. ]], dtype=float32)

    Source: L2NormalizationParam, src/operator/l2_normalization-inl.h.
    """

    eps = param(float, 1e-10, ge=0, doc="Added to the sum of squares.")
    mode = param(str, "instance", choices=tuple(_LINES), doc="Elements that are normalized together.")
    accepts = "floating"
    compute_dtype = "float32"
    inplace = "data -> output"
    element_cost = 3
    contract = Contract(reference=_normalized, params={"eps": (0.5, 0.125)})

    def spec(self) -> str:
        """One line of the shape language, which depends on the mode."""
        return _LINES[self.mode]

    def forward(data: Array, eps: float, mode: str, output: Array, norm: Array) -> None:
        """`y = x / n` with `n = sqrt(sum(x^2) + eps)`; squares that the type cannot hold do no harm."""
        axes = _axes(mode, data.ndim)
        with np.errstate(all="ignore"):  # what overflows is computed otherwise; zeros may be divided by 0
            total = np.sqrt(blocked_sum(np.square(data), axes, keepdims=True) + eps)
            if data.size and not np.isfinite(total).all():
                total, scale = _scaled_norm(data, axes, eps)
                data = np.divide(data, scale, out=output)
                norm[...] = (total * scale).reshape(norm.shape)  # which may be beyond the range
            else:
                norm[...] = total.reshape(norm.shape)
            np.divide(data, total, out=output)

    @gradient(inplace="output_grad")
    def data_grad(output_grad: Array, data: Array, norm: Array, mode: str, data_grad: Array) -> None:
        """`d/dx = (g - y sum(g y)) / n` with `y = x / n`."""
        axes = _axes(mode, data.ndim)
        norm = np.expand_dims(norm, axes)
        with np.errstate(divide="ignore", invalid="ignore"):
            y = data / norm
            product = output_grad * y
            y *= blocked_sum(product, axes, keepdims=True)
            np.subtract(output_grad, y, out=data_grad)
            np.divide(data_grad, norm, out=data_grad)


def _scaled_norm(data: Array, axes: tuple[int, ...], eps: float) -> tuple[Array, Array]:
    """The norm of the data over their largest, and that."""
    largest = np.max(np.abs(data), axis=axes, keepdims=True)
    # mutant: 1 becomes 2: equivalent, because zeros and infinities may be divided by any number
    scale = np.where((largest > 0) & (largest < np.inf), largest, 1)
    return np.sqrt(blocked_sum(np.square(data / scale), axes, keepdims=True) + eps / scale / scale), scale
