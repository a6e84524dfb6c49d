"""Count sketch: what makes it a sketch."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.errors import IndexOutOfRangeError

RNG = np.random.default_rng(8)


def sketch(data: np.ndarray, h: np.ndarray, s: np.ndarray, out_dim: int, **params: int) -> np.ndarray:
    arrays = map(od.nd.array, (data, h[None], s[None]))
    return od.nd._contrib_count_sketch(*arrays, out_dim=out_dim, **params).asnumpy()


def test_different_places_keep_inner_products() -> None:
    one, other = RNG.normal(size=(2, 6))
    found = sketch(np.stack([one, other]), RNG.permutation(9)[:6], RNG.choice([-1.0, 1.0], 6), 9)
    np.testing.assert_allclose(found[0] @ found[1], one @ other, rtol=1e-5)


def test_inner_products_are_kept_on_average() -> None:
    one, other = RNG.normal(size=(2, 20))
    products = []
    for _ in range(400):
        first, second = sketch(
            np.stack([one, other]), RNG.integers(0, 16, 20), RNG.choice([-1.0, 1.0], 20), 16
        )
        products.append(first @ second)
    error = np.std(products) / np.sqrt(len(products))
    assert abs(np.mean(products) - one @ other) < 5 * error


def test_rows_at_a_time_change_nothing() -> None:
    data, h, s = RNG.normal(size=(5, 3, 8)), RNG.integers(0, 4, 8), RNG.choice([-1.0, 1.0], 8)
    once, by_two = sketch(data, h, s, 4), sketch(data, h, s, 4, processing_batch_size=2)
    np.testing.assert_array_equal(once, by_two)
    assert once.shape == (5, 3, 4)


@pytest.mark.parametrize("place", [-1.0, 4.0, float("nan")])
def test_a_place_outside_the_sketch_is_refused(place: float) -> None:
    with pytest.raises(IndexOutOfRangeError, match=r"h has elements .* expected 0 to 3, below out_dim"):
        sketch(np.ones((1, 2)), np.array([0.0, place]), np.ones(2), 4)


def test_both_gradients_are_those_of_a_bilinear_form() -> None:
    data, h, s = (od.nd.array(x) for x in (RNG.normal(size=(2, 3)), [[0, 2, 0]], RNG.normal(size=(1, 3))))
    head = od.nd.array(RNG.normal(size=(2, 3)))
    for array in (data, s):
        array.attach_grad()
    with od.autograd.record():
        out = od.nd._contrib_count_sketch(data, h, s, out_dim=3)
    out.backward(head)
    value = (out * head).asnumpy().sum()  # linear in each of the two, so the value is slope times argument
    for array in (data, s):
        np.testing.assert_allclose((array * array.grad).asnumpy().sum(), value, rtol=1e-5)
    np.testing.assert_array_equal(data.grad.asnumpy(), head.asnumpy()[:, [0, 2, 0]] * s.asnumpy())
