"""Reductions along leading axes, by panels of rows."""

from __future__ import annotations

import numpy as np
import pytest

from operad_sdk.mapper.builder import Builder
from operad_sdk.vector import CompiledForm
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

SINGLE = np.dtype(np.float32)
BLOCK = 32
"""Numbers that a lane adds in single precision where four vectors of rows are side by side."""


def mean_and_largest():
    """The mean of `x * first`, and the largest of `x`, over the first axis."""
    builder = Builder("leading", ["x", "first"])
    total = builder.over_axes("sum", builder.apply("multiply", 0, 1), [-2])
    mean = builder.apply("divide", total, builder.length(-2))
    return CompiledForm(builder.finish(mean, builder.over_axes("max", 0, [-2])), SINGLE)


def in_blocks(x):
    """Sums by blocks: in single precision within one, in double precision of all."""
    total = np.zeros(x.shape[1])
    for begin in range(0, len(x), BLOCK):
        block = np.zeros(x.shape[1], SINGLE)
        for row in x[begin : begin + BLOCK]:
            block += row
        total += block
    return total.astype(SINGLE)


@pytest.mark.parametrize("columns", [BLOCK - 1, BLOCK, 3 * BLOCK + 1])
def test_a_panel_adds_in_the_order_of_single_rows(columns):
    rng = np.random.default_rng(columns)
    x, first = (
        rng.standard_normal((columns, 5000)).astype(SINGLE),
        rng.uniform(1, 2, (1, 5000)).astype(SINGLE),
    )
    mean, largest = np.empty((2, 1, 5000), SINGLE)
    mean_and_largest()([x, first], [mean, largest])
    np.testing.assert_array_equal(mean[0], in_blocks(x * first) / SINGLE.type(columns))
    np.testing.assert_array_equal(largest[0], x.max(0))


def test_bits_do_not_depend_on_how_rows_are_divided():
    x = np.random.default_rng(0).standard_normal((100, 7001)).astype(SINGLE)
    first, results = np.ones((1, 7001), SINGLE), np.empty((2, 2, 1, 7001), SINGLE)
    for parts, found in zip((1, 9), results, strict=True):
        bound = mean_and_largest().bind([x, first], list(found))
        for part in range(parts):
            bound.run(bound.units * part // parts, bound.units * (part + 1) // parts)
    np.testing.assert_array_equal(*results)
