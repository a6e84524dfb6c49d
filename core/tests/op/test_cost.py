"""Loops and products are counted apart and added up as time."""

from __future__ import annotations

import pytest

from operad.op import Cost, as_cost


def test_a_number_counts_loops():
    assert as_cost(12.0) == Cost(loops=12.0)
    assert as_cost(Cost(1, 2)) == Cost(1, 2)


def test_an_operation_of_a_product_takes_less_time_than_one_of_a_loop():
    assert Cost(flops=1e6).us < Cost(loops=1e6).us / 10
    assert Cost(3e6, 5e7).us == pytest.approx(Cost(loops=3e6).us + Cost(flops=5e7).us)


def test_products_are_worth_threads_by_their_operations_and_the_rest_by_its_time():
    assert not Cost(flops=4e7).is_parallel  # threads of BLAS turn where they wait
    assert Cost(flops=2e8).is_parallel
    assert not Cost(loops=1e5).is_parallel
    assert Cost(loops=1e6).is_parallel
    assert Cost(size_bytes=1e8).is_parallel
    assert not Cost(loops=1e6, flops=1e6).is_parallel  # beside a product BLAS would get the threads


def test_a_multiple_of_a_cost_multiplies_both():
    assert Cost(2, 3) * 4 == Cost(8, 12)
    assert (Cost(2, 3) * 4).operations == 20
