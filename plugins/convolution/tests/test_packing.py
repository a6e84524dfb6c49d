"""Weights in the order in which tiles read them."""

from __future__ import annotations

import numpy as np
import pytest

from operad_convolution.direct.packing import Block, Order, Packing, Weights
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()


def expected(order, weight):
    """The order by its definition, from weights (groups, filters, channels, taps)."""
    found = np.full(order.elements, np.nan)
    row_taps = order.taps // order.tap_rows
    for block in order.blocks:
        size = order.tap_rows * order.channels * row_taps * block.width
        shape = order.tap_rows, order.channels, row_taps, block.width
        target = found[block.begin : block.begin + size].reshape(shape)
        own = weight[block.group, block.first : block.first + block.width]
        rows = own.reshape(len(own), order.channels, order.tap_rows, row_taps)
        target[...] = 0
        target[..., : len(own)] = rows.transpose(2, 1, 3, 0)
    return found


def order_of(groups, filters, channels, taps, width, tap_rows, is_padded):
    blocks, begin = [], 0
    for group in range(groups):
        for first in range(0, filters, width):
            own = width if is_padded else min(width, filters - first)
            blocks.append(Block(group, first, own, begin))
            begin += own * channels * taps
    return Order(blocks, channels, taps, tap_rows)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(12))
def test_each_copy_is_in_its_order_and_nothing_else_is_written(dtype, seed):
    rng = np.random.default_rng(seed)
    groups, channels = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    filters = int(rng.choice([1, 2, 7, 16, 20, 33, 50]))
    high, wide = (int(n) for n in rng.integers(1, 6, 2))
    weight = rng.standard_normal((groups, filters, channels, high * wide)).astype(dtype)
    columns = rng.permutation(high * wide)
    cut = int(rng.integers(0, high * wide))  # no copy has the columns before it
    some = [each.tolist() for each in np.array_split(columns[cut:], int(rng.integers(1, 4))) if len(each)]
    copies = [
        (
            order_of(groups, filters, channels, len(own), int(rng.integers(1, 49)), 1, bool(rng.integers(2))),
            own,
        )
        for own in some
    ]
    row = channels * high * wide
    weights = Weights(groups, filters, high * wide, channels, filters * row, row, high * wide)
    packing = Packing(weights, np.dtype(dtype), copies)
    memory = np.full(packing.elements + 64, np.nan, dtype)
    memory[:32] = memory[-32:] = 7
    kernel = packing.bind(weight, memory[32:-32])
    for unit in reversed(range(kernel.units)):
        kernel.run(unit, unit + 1)
    wanted = [expected(order, weight[..., own]) for order, own in copies]
    np.testing.assert_array_equal(memory[32:-32], np.concatenate(wanted))
    assert (memory[:32] == 7).all()
    assert (memory[-32:] == 7).all()


@pytest.mark.parametrize("is_padded", [False, True])
def test_rows_of_taps_lie_apart(is_padded):
    weight = np.random.default_rng(0).standard_normal((2, 21, 3, 20)).astype(np.float32)
    order = order_of(2, 21, 3, 20, 8, 5, is_padded)
    packing = Packing(Weights(2, 21, 20, 3, 21 * 60, 60, 20), np.dtype(np.float32), [(order, range(20))])
    found = np.full(packing.elements, np.nan, np.float32)
    packing.bind(weight, found).run()
    np.testing.assert_array_equal(found, expected(order, weight))
