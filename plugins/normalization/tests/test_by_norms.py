"""L2Normalization and LRN: data over a norm of what is near."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_normalization.l2_normalization import L2Normalization
from operad_normalization.lrn import LRN

RNG = np.random.default_rng(13)


@pytest.mark.parametrize(("mode", "axes"), [("instance", (1, 2, 3)), ("channel", (1,)), ("spatial", (2, 3))])
def test_what_a_mode_spans_has_norm_one(mode: str, axes: tuple[int, ...]) -> None:
    data = RNG.normal(size=(2, 3, 4, 2))
    output, *_ = check_forward(L2Normalization, [data], mode=mode)
    np.testing.assert_allclose((output**2).sum(axes), 1, rtol=1e-6)
    np.testing.assert_allclose(output * np.sqrt((data**2).sum(axes, keepdims=True)), data, rtol=1e-6)
    gradient_check(L2Normalization, [data], mode=mode, eps=0.5)


def test_of_zeros_the_slope_is_that_of_eps() -> None:
    check_forward(L2Normalization, [np.zeros((2, 3))], np.zeros((2, 3)))
    gradient_check(L2Normalization, [np.zeros((2, 3))], eps=0.25, epsilon=1e-4)


@pytest.mark.parametrize(("dtype", "large"), [("float32", 1e30), ("float64", 1e200), ("float16", 6e4)])
def test_squares_that_the_type_cannot_hold_do_no_harm(dtype: str, large: float) -> None:
    data = np.array([[3, 4], [0.75, 1]]).astype(dtype)
    data[0] *= data.dtype.type(large / 4)
    output = od.nd.L2Normalization(od.nd.array(data, dtype=dtype)).asnumpy()
    np.testing.assert_allclose(output, [[0.6, 0.8]] * 2, rtol=1e-3 if dtype == "float16" else 1e-6)


def test_the_spatial_mode_needs_places() -> None:
    with pytest.raises(ShapeError, match="expected at least 3"):
        L2Normalization(mode="spatial").infer_shape([(3, 4)])


def responses(data: Any, reach: int, alpha: float, beta: float, knorm: float, nsize: int) -> Any:
    """The definition, one channel at a time."""
    output = np.empty_like(data)
    for channel in range(data.shape[1]):
        near = data[:, max(0, channel - reach) : channel + reach + 1]
        output[:, channel] = data[:, channel] / (knorm + alpha / nsize * (near**2).sum(1)) ** beta
    return output


@pytest.mark.parametrize(("nsize", "reach"), [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (99, 49)])
def test_lrn_sums_over_a_window_of_channels(nsize: int, reach: int) -> None:
    data = RNG.normal(size=(2, 6, 2, 1))
    params = {"nsize": nsize, "alpha": 0.5, "beta": 0.75, "knorm": 2.0}
    check_forward(LRN, [data], responses(data, reach, **params), **params)
    gradient_check(LRN, [data], **params)


@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 2), (2, 3, 0)])
def test_lrn_of_nothing_is_nothing(shape: tuple[int, ...]) -> None:
    check_forward(LRN, [np.zeros(shape)], np.zeros(shape), nsize=3)
    gradient_check(LRN, [np.zeros(shape)], nsize=3)
