"""Maxima of 2 x 2 elements in vector code: the bits of the plain way, at edges of memory too."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.operator import OpContext
from operad_pooling import vector_pairs
from operad_pooling.pairs import pool_pairs, spread_pairs
from operator_sdk.sdk.tests.vector.guarded import guarded
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

SHAPES = [(2, 3, 8, 6), (1, 2, 7, 9), (2, 2, 2, 64), (1, 3, 5, 35), (8, 16, 40, 33)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_bits_are_those_of_the_plain_way(shape, threads, dtype, monkeypatch):
    monkeypatch.setattr(OpContext, "num_threads", property(lambda _: threads))
    rng = np.random.default_rng(0)
    data = rng.integers(0, 5, shape).astype(dtype)  # ties
    data[rng.random(shape) < 0.03], data[0, 1, :2, :2] = np.nan, -np.inf
    windows = (*shape[:2], shape[2] // 2, shape[3] // 2)
    head = rng.standard_normal(windows).astype(dtype)
    expected = [np.empty(windows, dtype), np.empty(windows, np.uint8), np.empty(shape, dtype)]
    pool_pairs(np, data, *expected[:2])
    spread_pairs(np, head, expected[1], expected[2])
    for at_end in (True, False):

        def placed(array, at_end=at_end):
            own = guarded(array.shape, array.dtype, at_end=at_end)
            own[...] = array
            return own

        output, places, data_grad = (placed(np.full_like(one, 7)) for one in expected)
        context = OpContext(od.cpu(), True, ())
        vector_pairs.pool_in_vectors(context, placed(data), output, places)
        vector_pairs.spread_in_vectors(context, placed(head), places, data_grad)
        for found, one in zip((output, places, data_grad), expected, strict=True):
            np.testing.assert_array_equal(found, one)


def test_arrays_with_gaps():
    data = np.random.default_rng(0).standard_normal((2, 3, 8, 12))
    wide = [np.zeros((2, 3, 4, 12), dtype) for dtype in (np.float64, np.uint8)]
    output, places = (one[..., ::2] for one in wide)
    data_grad = np.zeros((2, 3, 8, 24))[..., ::2]
    context = OpContext(od.cpu(), True, ())
    vector_pairs.pool_in_vectors(context, data[..., ::-1], output, places)
    vector_pairs.spread_in_vectors(context, output, places, data_grad)
    np.testing.assert_array_equal(output, data[..., ::-1].reshape(2, 3, 4, 2, 6, 2).max((3, 5)))
    np.testing.assert_array_equal(data_grad, data[..., ::-1] * (data_grad != 0))
    assert np.count_nonzero(data_grad) == output.size


def test_which_kernel_is_taken():
    def taken(shape, **params):
        net = od.sym.Pooling(od.sym.var("data"), pool_type="max", **params)
        return {row.part: row.kernel for row in net.simple_bind(data=shape).why().rows}

    pairs = {"kernel": (2, 2), "stride": (2, 2)}
    large = taken((4, 8, 32, 32), **pairs)
    assert "max_in_vectors" in large["forward"]
    assert "max_gradient_in_vectors" in large["data_grad"]
    assert "in_vectors" not in taken((1, 1, 4, 4), **pairs)["forward"]
    assert "in_vectors" not in taken((4, 8, 32, 32), kernel=(3, 3), stride=(2, 2))["forward"]
