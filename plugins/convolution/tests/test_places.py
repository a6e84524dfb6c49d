"""Gradients by data whose windows are several elements apart."""

from __future__ import annotations

import numpy as np
import pytest

from operad_convolution.direct import layer, places
from operad_convolution.direct.across import AcrossForward
from operad_convolution.direct.direct import Forward
from operad_convolution.direct.layer import DirectCorrelation
from operator_sdk.sdk.tests.vector_code import require_vector_code
from plugins.convolution.tests.correlations import Sizes, assert_close, context, five

require_vector_code()

STRIDES = [(1, 2), (2, 1), (2, 2), (3, 2), (1, 3), (2, 4)]
WIDTHS = [1, 3, 8, 15, 16, 31, 32, 67]
FIXED = {"dilate": (1, 1), "channels": 5, "filters": 3, "groups": 2}


def gradient(sizes, dtype, bias=None):
    """The gradient by data, in memory around which nothing changes."""
    memory = np.full(sizes.data.size + 256, np.nan, dtype)
    memory[:128] = memory[-128:] = 7
    found = memory[128:-128].reshape(sizes.data.shape)
    direct = DirectCorrelation(sizes.geometry, np.dtype(dtype))
    direct.data_gradient(context(), five(sizes.weight), five(sizes.head), bias, five(found))
    assert (memory[:128] == 7).all()
    assert (memory[-128:] == 7).all()
    return found


@pytest.mark.parametrize("stride", STRIDES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_of_places_lie_in_turn(dtype, stride):
    for seed, columns in enumerate(WIDTHS):
        rows = [8, 12, 5, 16][seed % 4]
        window = {"kernel": (3, 4), "pad": (1, 3), "stride": stride}
        sizes = Sizes(seed, dtype, size=(rows, columns), batch=2, **window, **FIXED)
        bias = np.arange(sizes.data.shape[1]).astype(dtype) if seed % 2 else None
        expected = sizes.expected()[1]
        if bias is not None:
            expected += bias[:, None, None]
        assert_close(gradient(sizes, dtype, bias), expected, dtype, f"{sizes.geometry}")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("has_bias", [False, True])
def test_places_that_see_no_taps_are_the_bias_or_zero(dtype, has_bias):
    for seed, columns in enumerate(WIDTHS[::2]):
        for stride in STRIDES[1::2]:
            window = {"kernel": (1, 1), "pad": (0, 0), "stride": stride}
            sizes = Sizes(seed, dtype, size=(9, columns), **window, **FIXED)
            bias = np.arange(1, sizes.data.shape[1] + 1).astype(dtype) if has_bias else None
            expected = sizes.expected()[1]
            if bias is not None:
                expected += bias[:, None, None]
            assert_close(gradient(sizes, dtype, bias), expected, dtype, f"{sizes.geometry}")


def test_no_place_sees_a_tap():
    # The image is in the first row and column of a stride, and the filter's element never falls there.
    sizes = Sizes(0, np.float32, size=(1, 1), kernel=(1, 1), pad=(1, 1), stride=(2, 2), dilate=(1, 1))
    np.testing.assert_array_equal(gradient(sizes, np.float32), np.zeros(sizes.data.shape))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_places_may_have_different_kernels(dtype, monkeypatch):
    made = []

    def forward_program(correlation, dtype, has_bias):
        made.append((Forward, AcrossForward)[len(made) % 2](correlation, dtype, has_bias))
        return made[-1]

    monkeypatch.setattr(layer, "forward_program", forward_program)
    for seed in range(6):
        sizes = Sizes(seed, dtype, kernel=(4, 5), stride=(2, 3), channels=19)
        assert_close(gradient(sizes, dtype), sizes.expected()[1], dtype, f"{sizes.geometry}")
    assert {type(each) for each in made} == {Forward, AcrossForward}


def test_whole_vectors_where_rows_fill_them():
    assert places._runs(16, 2, [8, 8], 16) == 2
    assert places._runs(8, 2, [4, 4], 16) == 4
    assert places._runs(16, 1, [8, 8], 16) == 1
    assert places._runs(8, 2, [4, 3], 16) == 0
    assert places._runs(32, 2, [8, 8], 16) == 0
    assert places._runs(12, 2, [8, 8], 16) == 0
    assert places._runs(12, 3, [8, 8, 8], 16) == 0


def test_gradients_with_gaps_are_written_too():
    sizes = Sizes(5, np.float32, stride=(2, 2))
    memory = np.full((*sizes.data.shape[:-1], 2 * sizes.data.shape[-1]), 7, np.float32)
    direct = DirectCorrelation(sizes.geometry, np.dtype(np.float32))
    direct.data_gradient(context(), five(sizes.weight), five(sizes.head), None, five(memory[..., ::2]))
    assert_close(memory[..., ::2], sizes.expected()[1], np.float32, "gradient")
    assert (memory[..., 1::2] == 7).all()
