"""Maxima of windows in vector code: the bits of the plain way, at edges of memory too."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.operator import KernelCall, OpContext
from operad_pooling.pooling import Pooling
from operad_pooling.vector_places import _refusal, pool_in_vectors, spread_in_vectors
from operator_sdk.sdk.tests.vector.guarded import guarded
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

FIXED = [
    ((2, 3, 8, 6), {"kernel": (2, 2), "stride": (2, 2)}),
    ((1, 2, 7, 9), {"kernel": (2, 2), "stride": (2, 2)}),
    ((1, 3, 5, 75), {"kernel": (2, 2), "stride": (2, 2)}),
    ((2, 3, 14, 112), {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}),
    ((2, 2, 7, 70), {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "full"}),
    ((1, 2, 9, 50), {"kernel": (3, 3), "pad": (1, 1)}),
    ((2, 2, 99), {"kernel": (5,), "stride": (3,), "pad": (2,)}),
    ((1, 2, 20, 90), {"kernel": (2, 3), "stride": (3, 4)}),
    ((1, 1, 9, 140), {"kernel": (7, 7), "stride": (2, 8), "pad": (3, 3)}),
    ((1, 2, 11, 61), {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "same"}),
]


def drawn(seed):
    """Random sizes of which there is a kernel."""
    rng = np.random.default_rng(seed)
    while True:
        axes = int(rng.choice([1, 2, 2, 2]))
        sizes = {
            name: tuple(int(n) for n in rng.integers(low, high, axes))
            for name, low, high in (("kernel", 1, 8), ("stride", 1, 9), ("pad", 0, 4))
        }
        shape = tuple(int(n) for n in (*rng.integers(1, 4, 2), *rng.integers(1, (20, 90)[2 - axes :], axes)))
        convention = str(rng.choice(["valid", "full", "same"]))
        if convention == "same":
            del sizes["pad"]
        params = {**sizes, "pooling_convention": convention}
        try:
            if refusal(shape, params) is None:
                return shape, params
        except od.OperadError:
            continue


def refusal(shape, params, dtype=np.float32):
    return _refusal(KernelCall(Pooling(**params), od.cpu(), [shape], [np.dtype(dtype)]), is_large=True)


def agree(shape, params, dtype, threads, monkeypatch):
    """Compare a kernel with the plain way, both results and what lies behind and before the arrays."""
    monkeypatch.setattr(OpContext, "num_threads", property(lambda _: threads))
    prop, rng = Pooling(pool_type="max", **params), np.random.default_rng(0)
    data = rng.integers(0, 5, shape).astype(dtype)  # ties
    data[rng.random(shape) < 0.02] = np.nan
    data[rng.random(shape) < 0.02] = np.inf
    data[0, 0], data[-1, -1] = -np.inf, np.finfo(dtype).min
    windows = prop.infer_shape([shape])[1][0]
    head = rng.standard_normal(windows).astype(dtype)
    expected = [np.empty(windows, dtype), np.empty(windows, np.uint8), np.empty(shape, dtype)]
    context = OpContext(od.cpu(), True, ())
    prop.forward(context, data, *expected[:2])
    prop.places_gradient(context, head, *expected[1:])
    for at_end in (True, False):

        def placed(array, at_end=at_end):
            own = guarded(array.shape, array.dtype, at_end=at_end)
            own[...] = array
            return own

        output, places, data_grad = (placed(np.full_like(one, 7)) for one in expected)
        pool_in_vectors(prop, context, placed(data), output, places)
        spread_in_vectors(prop, context, placed(head), places, data_grad)
        for found, one in zip((output, places, data_grad), expected, strict=True):
            np.testing.assert_array_equal(found, one, str((shape, params)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("shape", "params"), FIXED)
def test_bits_are_those_of_the_plain_way(shape, params, threads, dtype, monkeypatch):
    assert refusal(shape, params, dtype) is None
    agree(shape, params, dtype, threads, monkeypatch)


@pytest.mark.parametrize("group", [pytest.param(i, marks=pytest.mark.more) for i in range(3)])
def test_random_sizes(group, monkeypatch):
    for seed in range(6 * group, 6 * group + 6):
        agree(*drawn(seed), (np.float32, np.float64)[seed % 2], 1 + seed % 2, monkeypatch)


def test_arrays_with_gaps():
    data = np.random.default_rng(0).standard_normal((2, 3, 8, 12))
    wide = [np.zeros((2, 3, 4, 12), dtype) for dtype in (np.float64, np.uint8)]
    output, places = (one[..., ::2] for one in wide)
    data_grad = np.zeros((2, 3, 8, 24))[..., ::2]
    context, prop = OpContext(od.cpu(), True, ()), Pooling(kernel=(2, 2), stride=(2, 2))
    pool_in_vectors(prop, context, data[..., ::-1], output, places)
    spread_in_vectors(prop, context, output, places, data_grad)
    np.testing.assert_array_equal(output, data[..., ::-1].reshape(2, 3, 4, 2, 6, 2).max((3, 5)))
    np.testing.assert_array_equal(data_grad, data[..., ::-1] * (data_grad != 0))
    assert np.count_nonzero(data_grad) == output.size


def test_which_kernel_is_taken():
    def taken(shape, **params):
        net = od.sym.Pooling(od.sym.var("data"), pool_type="max", **params)
        return {row.part: row.kernel for row in net.simple_bind(data=shape).why().rows}

    pairs = {"kernel": (2, 2), "stride": (2, 2)}
    for params in (pairs, {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}):
        large = taken((4, 8, 32, 32), **params)
        assert "max_in_vectors" in large["forward"]
        assert "max_gradient_in_vectors" in large["data_grad"]
    assert "in_vectors" not in taken((1, 1, 4, 4), **pairs)["forward"]
    assert "in_vectors" not in taken((4, 8, 32, 32), kernel=(8, 8), stride=(2, 2))["forward"]
    wide = {"kernel": (3, 3), "stride": (1, 9)}
    assert "9 elements apart" in refusal((4, 8, 32, 32), wide)
    assert "outside the data" in refusal((1, 1, 8, 64), {"kernel": (1, 1), "pad": (0, 2)})
    assert "float16" in refusal((4, 8, 32, 32), pairs, np.float16)
