"""Fourier transforms: their theorems."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.errors import ShapeError
from operad_check.testing import gradient_check
from operad_fft import fft, ifft

RNG = np.random.default_rng(7)


def transformed(values: np.ndarray) -> np.ndarray:
    """Complex numbers from the operator's pairs."""
    pairs = od.nd._contrib_fft(od.nd.array(values, dtype="float64")).asnumpy()
    return pairs[..., 0::2] + 1j * pairs[..., 1::2]


@pytest.mark.parametrize("shape", [(7,), (3, 8), (2, 1, 3, 5)])
def test_there_and_back_multiplies_with_the_length(shape: tuple[int, ...]) -> None:
    data = od.nd.array(RNG.normal(size=shape))
    back = od.nd._contrib_ifft(od.nd._contrib_fft(data))
    np.testing.assert_allclose(back.asnumpy(), shape[-1] * data.asnumpy(), rtol=1e-4, atol=1e-5)


def test_energy_is_kept() -> None:
    data = RNG.normal(size=(3, 9))
    np.testing.assert_allclose((abs(transformed(data)) ** 2).sum(-1), 9 * (data**2).sum(-1))


def test_a_convolution_becomes_a_product() -> None:
    one, other = RNG.normal(size=(2, 6))
    around = [sum(one[k] * other[(j - k) % 6] for k in range(6)) for j in range(6)]
    np.testing.assert_allclose(transformed(np.array(around)), transformed(one) * transformed(other))


@pytest.mark.parametrize(("operator", "shape"), [(fft, (2, 5)), (ifft, (2, 6))])
def test_gradients_are_derivatives(
    operator: type[od.operator.OperatorProperty], shape: tuple[int, ...]
) -> None:
    gradient_check(operator, [RNG.normal(size=shape)])


def test_pairs_of_odd_length_are_refused() -> None:
    with pytest.raises(ShapeError, match="data has shape"):
        ifft().infer_shape([(2, 5)])
