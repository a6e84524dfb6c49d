from __future__ import annotations

import numpy as np
import pytest

import operad as od

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("layout", ["halves", "pairs"])
def test_products_of_turned_rows_depend_on_distances_alone(layout: str) -> None:
    query, key = (np.broadcast_to(RNG.normal(size=8), (6, 8)) for _ in range(2))
    turned = [
        od.nd.rotary_embedding(od.nd.array(rows, dtype="float64"), layout=layout).asnumpy()
        for rows in (query, key)
    ]
    products = turned[0] @ turned[1].T
    for distance in range(-5, 6):
        diagonal = np.diag(products, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], rtol=1e-12)
    assert len(np.unique(products.round(6))) == 11


def test_layouts_differ_by_the_order_of_elements() -> None:
    rows = RNG.normal(size=(5, 6))
    order = np.arange(6).reshape(2, 3).T.ravel()  # 0, 3, 1, 4, 2, 5
    halves = od.nd.rotary_embedding(od.nd.array(rows, dtype="float64")).asnumpy()
    pairs = od.nd.rotary_embedding(od.nd.array(rows[:, order], dtype="float64"), layout="pairs").asnumpy()
    np.testing.assert_array_equal(pairs, halves[:, order])


def test_an_offset_continues_a_sequence() -> None:
    rows = od.nd.array(RNG.normal(size=(2, 5, 4)), dtype="float64")
    whole = od.nd.rotary_embedding(rows).asnumpy()
    rest = od.nd.slice_axis(rows, axis=1, begin=3, end=5)
    found = od.nd.rotary_embedding(rest, od.nd.array([3]), use_offset=True).asnumpy()
    np.testing.assert_allclose(found, whole[:, 3:], rtol=1e-12)
