"""Correlation: what must hold whatever the maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ParamError, ShapeError
from operad_check.testing import gradient_check
from operad_correlation import Correlation

RNG = np.random.default_rng(6)


def test_the_largest_product_says_how_far_a_map_was_moved() -> None:
    data = RNG.normal(size=(1, 8, 9, 9))
    moved = np.roll(data, (1, -2), axis=(2, 3))
    out = od.nd.Correlation(od.nd.array(data), od.nd.array(moved), kernel_size=3, max_displacement=2)
    steps = range(-2, 3)
    assert [(u, v) for u in steps for v in steps][out.asnumpy()[0, :, 1, 1].argmax()] == (1, -2)


def test_the_difference_of_a_map_and_itself_is_0_where_nothing_is_displaced() -> None:
    data = od.nd.array(RNG.normal(size=(2, 3, 6, 5)))
    out = od.nd.Correlation(data, data, max_displacement=1, is_multiply=False).asnumpy()
    np.testing.assert_array_equal(out[:, 4], 0)
    assert (np.delete(out, 4, axis=1) > 0).all()


def test_displaced_back_the_maps_change_places() -> None:
    first, second = (od.nd.array(RNG.normal(size=(1, 2, 5, 5))) for _ in range(2))
    there = od.nd.Correlation(first, second, pad_size=1).asnumpy()[:, :, 1:-1, 1:-1]
    back = od.nd.Correlation(second, first, pad_size=1).asnumpy()
    for place in range(9):
        u, v = divmod(place, 3)
        part = back[:, 8 - place, u : u + 3, v : v + 3]
        np.testing.assert_allclose(there[:, place], part, rtol=1e-6)


@pytest.mark.parametrize("is_multiply", [True, False])
@pytest.mark.parametrize(
    "params",
    [
        {"kernel_size": 3, "max_displacement": 2, "stride2": 2, "pad_size": 3},
        {"kernel_size": 1, "max_displacement": 1, "stride1": 2, "pad_size": 1},
    ],
)
def test_gradients_are_derivatives(params: dict[str, Any], is_multiply: bool) -> None:
    maps = [RNG.permutation(50).reshape(1, 2, 5, 5) / 7 + shift for shift in (0.3, 0.35)]  # without ties
    gradient_check(Correlation, maps, is_multiply=is_multiply, **params)


def test_of_equal_pixels_the_first_map_counts_as_the_larger() -> None:
    first, second = od.nd.array([[[[2.0]]]]), od.nd.array([[[[2.0]]]])
    for array in (first, second):
        array.attach_grad()
    with od.autograd.record():
        out = od.nd.Correlation(first, second, max_displacement=0, is_multiply=False)
    out.backward()
    assert (first.grad.asscalar(), second.grad.asscalar()) == (1, -1)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kernel_size": 2}, "'kernel_size' is 2, expected an odd number"),
        ({"stride1": 0}, "'stride1' is 0, expected at least 1"),
        ({"stride2": 0}, "'stride2' is 0, expected at least 1"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamError, match=message):
        Correlation(**params)


def test_maps_smaller_than_a_patch_are_refused() -> None:
    with pytest.raises(ShapeError, match="no patch fits into it: expected more than 6 pixels"):
        Correlation(max_displacement=3).infer_shape([(1, 1, 6, 9), None])
