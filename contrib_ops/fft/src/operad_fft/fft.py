"""`_contrib_fft` and `_contrib_ifft`: Fourier transforms along the last axis.

Complex numbers lie as pairs side by side, real part first, so the axis is twice as long on their side.
Neither transform is normalised: one after the other gives `d` times the data, `d` being their length.

Each is the other's gradient. With `t = 2 pi j k / d` the transform of x has the real parts
`sum_k x_k cos t` and the imaginary parts `-sum_k x_k sin t`, and the inverse of a + bi is
`sum_j a_j cos t - b_j sin t`. Transposed they are each other.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sdk import Array, define, param

_SIZE: Final[Any] = param(int, 128, ignored="Rows that cuFFT gets at once in MXNet; here it gets all.")


def _to_pairs(data: Array, output: Array) -> None:
    """The transform of real numbers as pairs."""
    if data.size:
        transformed = np.fft.fft(data).copy()  # with pairs side by side, whatever the strides of the data
        output[...] = transformed.view(data.dtype)


def _from_pairs(data: Array, output: Array) -> None:
    """The real parts of the inverse transform of pairs, not normalised."""
    if data.size:
        pairs = data.reshape(*data.shape[:-1], -1, 2)
        output[...] = np.fft.ifft(pairs[..., 0] + 1j * pairs[..., 1], norm="forward").real


def _angles(length: int) -> Array:
    """`t` of all j and k, less whole turns, which would cost digits."""
    turns = np.outer(np.arange(length), np.arange(length)) % max(length, 1) / max(length, 1)
    return 2 * np.pi * turns


def _fft(data: Array) -> Array:
    """Its definition."""
    angles = _angles(data.shape[-1])
    pairs = np.stack([data @ np.cos(angles), -data @ np.sin(angles)], axis=-1)
    return pairs.reshape(*data.shape[:-1], -1)


def _ifft(data: Array) -> Array:
    """Its definition."""
    angles = _angles(data.shape[-1] // 2)
    return data[..., 0::2] @ np.cos(angles) - data[..., 1::2] @ np.sin(angles)


fft = define(
    "_contrib_fft", "data:(*N, D) -> output:(*N, 2 * D)", lambda data, output: _to_pairs(data, output),
    lambda output_grad, data_grad: _from_pairs(output_grad, data_grad),
    summary="""The Fourier transform along the last axis: real and imaginary parts side by side.

`X_j = sum_k x_k exp(-2 pi i j k / d)`; its gradient is the real part of the inverse, not normalised.""",
    example=("[1, 0]", "[1., 0., 1., 0.]"), reference=_fft,
    source="FFTOp, src/operator/contrib/fft-inl.h. Differs: MXNet has it on GPUs alone.",
    params={"compute_size": _SIZE}, accepts="floating", compute_dtype="float32", element_cost=20,
    linear_in=("data",),
)  # fmt: skip

ifft = define(
    "_contrib_ifft", "data:(*N, 2 * D) -> output:(*N, D)", lambda data, output: _from_pairs(data, output),
    lambda output_grad, data_grad: _to_pairs(output_grad, data_grad),
    summary="""The real part of the inverse Fourier transform along the last axis, not normalised.

The data have real and imaginary parts side by side: `x_k = Re sum_j X_j exp(2 pi i j k / d)`, which is `d`
times the inverse of `_contrib_fft`, `d` being the output's length. Its gradient is the transform.""",
    example=("[1, 0, 1, 0]", "[2., 0.]"), reference=_ifft,
    source="IFFTOp, src/operator/contrib/ifft-inl.h. Differs: MXNet has it on GPUs alone.",
    params={"compute_size": _SIZE}, accepts="floating", compute_dtype="float32", element_cost=20,
    linear_in=("data",),
)  # fmt: skip
