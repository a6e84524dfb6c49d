"""A factor of 0 of a product of matrices: as in BLAS, what it multiplies is not read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from operad import autograd, nd

FULL = np.full((2, 2), 1e30, np.float32)
LOWER = np.tril(FULL)


@pytest.mark.parametrize(
    ("name", "inputs", "expected"),
    [
        ("gemm2", (FULL, FULL), 0),
        ("gemm", (FULL, FULL, np.ones((2, 2), np.float32)), 1),
        ("syrk", (FULL,), 0),
        ("trmm", (LOWER, FULL), 0),
        ("trsm", (LOWER / np.float32(1e32), FULL), 0),
    ],
)
def test_a_factor_of_zero_gives_zero_where_the_product_overflows(
    name: str, inputs: Any, expected: int
) -> None:
    arrays = [nd.array(value) for value in inputs]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        output = getattr(nd, f"linalg_{name}")(*arrays, alpha=0.0)
    output.backward(nd.array(FULL))
    np.testing.assert_array_equal(output.asnumpy(), np.full((2, 2), expected, np.float32))
    for array in arrays[:2]:
        np.testing.assert_array_equal(array.grad.asnumpy(), np.zeros((2, 2)))


def test_a_matrix_with_a_factor_of_zero_is_not_read() -> None:
    ones, bad = nd.array(np.ones((2, 2))), nd.array(np.full((2, 2), np.nan))
    bad.attach_grad()
    with autograd.record():
        output = nd.linalg_gemm(ones, ones, bad, beta=0.0)
    output.backward(nd.array(np.full((2, 2), np.inf)))
    np.testing.assert_array_equal(output.asnumpy(), np.full((2, 2), 2.0))
    np.testing.assert_array_equal(bad.grad.asnumpy(), np.zeros((2, 2)))


def test_the_gradient_of_factors_of_a_matrix_of_smaller_rank_is_no_error() -> None:
    x = nd.zeros((2, 2))
    x.attach_grad()
    with autograd.record():
        q, factor = nd.linalg_gelqf(x)
        total = q.sum() + factor.sum()
    total.backward()
    assert not np.isfinite(x.grad.asnumpy()).all()
