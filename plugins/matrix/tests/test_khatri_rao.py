from __future__ import annotations

from functools import reduce
from math import prod
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_matrix.khatri_rao import KhatriRao

RNG = np.random.default_rng(59)


@pytest.mark.parametrize("rows", [(2,), (2, 3), (2, 1, 3), (2, 0), (3, 2, 2)])
def test_values_and_gradients(rows: tuple[int, ...]) -> None:
    inputs = [RNG.normal(size=(length, 4)) for length in rows]
    columns = [reduce(np.kron, [matrix[:, column] for matrix in inputs]) for column in range(4)]
    check_forward(KhatriRao, inputs, np.stack(columns, axis=1), num_args=len(rows))
    gradient_check(KhatriRao, inputs, num_args=len(rows))


def test_all_have_as_many_columns() -> None:
    with pytest.raises(ShapeError, match="arg1 has shape"):
        KhatriRao(num_args=2).infer_shape([(2, 3), (2, 4)])


def test_runs_imperatively_and_symbolically() -> None:
    arrays: dict[str, Any] = {name: od.nd.array(RNG.normal(size=(2, 3))) for name in "ab"}
    eager = od.nd.khatri_rao(*arrays.values()).asnumpy()
    symbol = od.sym.khatri_rao(*map(od.sym.var, arrays))
    np.testing.assert_array_equal(symbol.bind(od.cpu(), arrays).forward()[0].asnumpy(), eager)


@pytest.mark.parametrize("rows", [(4, 5000), (5000, 4), (3, 2000, 2)])
def test_gradients_of_many_rows_keep_their_digits(rows: tuple[int, ...]) -> None:
    inputs = [od.nd.full((length, 1), 1.1) for length in rows]
    for one in inputs:
        one.attach_grad()
    with od.autograd.record():
        product = od.nd.khatri_rao(*inputs)
    product.backward(od.nd.full(product.shape, 1.1))
    total, value = float(np.float32(1.1)) ** len(rows), prod(rows)
    for one, length in zip(inputs, rows, strict=True):
        np.testing.assert_allclose(one.grad.asnumpy(), total * value / length, rtol=1e-6)
