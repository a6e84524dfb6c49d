"""Casts of automatic mixed precision: which arrays are cast, and to what."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od

TYPES = ("float16", "float32", "float64", "int32", "uint8", "int64")


@pytest.mark.walk
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("target", ["float16", "float32", "float64", "int32"])
def test_half_and_single_precision_are_cast_and_nothing_else(dtype, target):
    x = od.nd.array([1, 2], dtype=dtype)
    expected = target if dtype in ("float16", "float32") else dtype
    assert od.nd.amp_cast(x, dtype=target).dtype == expected
    _, (found,), _ = od.sym.amp_cast(od.sym.var("x"), dtype=target).infer_type(x=dtype)
    assert found == expected


@pytest.mark.parametrize(
    ("types", "wide", "narrow"),
    [
        (["float16", "float32"], ["float32", "float32"], ["float16", "float16"]),
        (["float32", "float16", "float32"], ["float32"] * 3, ["float16"] * 3),
        (["float16", "float16"], ["float16"] * 2, ["float16"] * 2),
        (["float32", "float64"], ["float32", "float64"], ["float32", "float64"]),
        (["float16", "int32"], ["float16", "int32"], ["float16", "int32"]),
        (["uint8", "int64"], ["uint8", "int64"], ["uint8", "int64"]),
    ],
)
def test_several_arrays_get_one_type(types, wide, narrow):
    arrays = [od.nd.array([1.5, 2], dtype=dtype) for dtype in types]
    for is_narrow, expected in ((False, wide), (True, narrow)):
        found = od.nd.amp_multicast(*arrays, num_outputs=len(arrays), cast_narrow=is_narrow)
        assert [out.dtype.name for out in found] == expected


def test_gradients_are_cast_back():
    half, single = od.nd.array([1.5], dtype="float16"), od.nd.array([[2.5, 3]])
    for x in (half, single):
        x.attach_grad()
    with od.autograd.record():
        first, second = od.nd.amp_multicast(half, single, num_outputs=2)
        (first * 3).backward(retain_graph=True)
        (second * 5).backward()
    assert half.grad.dtype == "float16"
    np.testing.assert_array_equal(single.grad.asnumpy(), [[5, 5]])


def test_too_large_for_half_precision_is_infinite():
    assert od.nd.amp_cast(od.nd.array([1e6]), dtype="float16").asscalar() == np.inf
