"""Classes, orders, and different numbers."""

from __future__ import annotations

from itertools import permutations
from math import log

import numpy as np
import pytest
from scipy import stats

import operad as od
from operad.errors import OperadError, ParamError, ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_sampling.multinomial import SampleMultinomial

LEAST_P = 1e-6
ROWS = np.array([[0.2, 0.5, 0.3, 0.0], [0.0, 0.1, 0.0, 0.9]])


@pytest.fixture(autouse=True)
def _seeded() -> None:
    od.random.seed(11)


def share_test(found: np.ndarray, probabilities: np.ndarray) -> float:
    """The chi-square test; classes of probability 0 must not come."""
    counts = np.bincount(found.astype(np.int64).ravel(), minlength=len(probabilities))
    assert not counts[probabilities == 0].any()
    possible = probabilities > 0
    expected = counts.sum() * probabilities[possible] / probabilities.sum()
    return float(stats.chisquare(counts[possible], expected).pvalue)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("factor", [1.0, 0.25, 8.0])
def test_classes_come_in_proportion_to_their_row(dtype: str, factor: float) -> None:
    rows = od.nd.array(ROWS * factor, dtype=dtype)
    draws = od.nd.sample_multinomial(rows, shape=(20, 1000)).asnumpy()
    for row, found in zip(rows.asnumpy().astype(np.float64), draws, strict=True):
        assert share_test(found, row) > LEAST_P


def test_a_wrong_share_of_a_class_is_noticed() -> None:
    draws = od.nd.sample_multinomial(od.nd.array([0.22, 0.48, 0.3]), shape=20_000).asnumpy()
    assert share_test(draws, np.array([0.2, 0.5, 0.3])) < LEAST_P


def test_many_classes_are_found_by_bisection() -> None:
    for count in (1, 2, 3, 1000):
        rows = np.zeros((count, count))
        np.fill_diagonal(rows, 0.5)
        draws = od.nd.sample_multinomial(od.nd.array(rows), shape=2).asnumpy()
        np.testing.assert_array_equal(draws, np.arange(count)[:, None].repeat(2, 1))


@pytest.mark.parametrize("row", [[0.0, 0.0], [-1.0, 2.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_a_row_that_is_no_distribution_is_an_error_that_names_it(row: list[float]) -> None:
    with pytest.raises(OperadError, match=r"_sample_multinomial: row 1 of data .* expected probabilities"):
        od.nd.sample_multinomial(od.nd.array([[0.5, 0.5], row])).asnumpy()


def test_logarithms_are_those_of_the_classes_drawn() -> None:
    classes, logs = od.nd.sample_multinomial(od.nd.array(ROWS), shape=50, get_prob=True)
    expected = np.log(np.take_along_axis(ROWS, classes.asnumpy().astype(np.int64), 1))
    np.testing.assert_allclose(logs.asnumpy(), expected, rtol=1e-6)


def test_the_gradient_of_a_logarithm_goes_to_the_class_drawn() -> None:
    data = od.nd.array(ROWS)
    data.attach_grad()
    with od.autograd.record():
        classes, logs = od.nd.sample_multinomial(data, shape=50, get_prob=True)
    logs.backward()
    counts = np.stack([np.bincount(row, minlength=4) for row in classes.asnumpy()])
    expected = np.divide(counts, ROWS, out=np.zeros_like(ROWS), where=counts > 0)
    assert data.grad is not None
    np.testing.assert_allclose(data.grad.asnumpy(), expected, rtol=1e-5)


def test_the_gradient_is_the_numeric_derivative() -> None:
    gradient_check(SampleMultinomial, [ROWS[:, :3] + 0.1], shape=(5,), get_prob=True)


def test_a_batch_without_rows_has_no_classes() -> None:
    found, _ = check_forward(SampleMultinomial, [np.zeros((0, 3), np.float32)], shape=(2,), get_prob=True)
    assert found.shape == (0, 2)


def test_more_classes_than_a_type_can_number_are_refused() -> None:
    with pytest.raises(ShapeError, match="data has 300 classes, expected at most 256, which uint8"):
        od.nd.sample_multinomial(od.nd.ones((2, 300)), dtype="uint8")
    with pytest.raises(ShapeError, match="expected at least one class"):
        od.nd.sample_multinomial(od.nd.zeros((2, 0)))
    with pytest.raises(ParamError, match="'dtype' is 'int8', expected one of"):
        od.nd.sample_multinomial(od.nd.ones((2, 3)), dtype="int8")


def test_every_order_of_rows_is_as_likely() -> None:
    data = od.nd.array([[0, 10], [1, 11], [2, 12]])
    orders = [tuple(od.nd.shuffle(data).asnumpy()[:, 0].astype(int).tolist()) for _ in range(3000)]
    counts = [orders.count(order) for order in permutations(range(3))]
    assert sum(counts) == 3000
    assert stats.chisquare(counts).pvalue > LEAST_P


@pytest.mark.parametrize("shape", [(7,), (5, 2), (4, 3, 2), (1, 4), (0, 3), ()])
def test_a_shuffle_keeps_each_item_whole(shape: tuple[int, ...]) -> None:
    data = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    shuffled = od.nd.shuffle(od.nd.array(data, dtype="int64")).asnumpy()
    assert shuffled.shape == shape
    order = shuffled.reshape(len(data), -1)[:, :1].argsort(0)[:, 0] if data.size and shape else ...
    np.testing.assert_array_equal(shuffled[order], data)


def test_an_array_is_shuffled_in_place() -> None:
    data = od.nd.arange(50)
    od.nd.shuffle(data, out=data)
    assert sorted(data.asnumpy().tolist()) == list(range(50)) != data.asnumpy().tolist()


def test_the_first_of_unique_numbers_has_the_distribution() -> None:
    found, num_tries = od.nd._sample_unique_zipfian(range_max=6, shape=(20_000, 1))
    weights = np.array([log((k + 2) / (k + 1)) for k in range(6)])
    assert share_test(found.asnumpy(), weights) > LEAST_P
    assert (num_tries.asnumpy() == 1).all()


def test_unique_numbers_of_a_row_differ_and_can_be_all() -> None:
    found, num_tries = od.nd._sample_unique_zipfian(range_max=40, shape=(5, 40))
    np.testing.assert_array_equal(np.sort(found.asnumpy(), axis=1), np.arange(40)[None].repeat(5, 0))
    assert (num_tries.asnumpy() >= 40).all()
    with pytest.raises(ParamError, match="range_max is 40, expected at least 41"):
        od.nd._sample_unique_zipfian(range_max=40, shape=(5, 41))
    with pytest.raises(ParamError, match=r"shape is \(5,\), expected rows"):
        od.nd._sample_unique_zipfian(range_max=40, shape=5)


def test_numbers_drawn_until_the_last_new_one_are_counted() -> None:
    """Of two numbers, the mean of the count is `1 + p / q + q / p`."""
    _, num_tries = od.nd._sample_unique_zipfian(range_max=2, shape=(20_000, 2))
    p = log(2) / log(3)
    mean = 1 + p / (1 - p) + (1 - p) / p
    assert abs(num_tries.asnumpy().mean() - mean) < 6 * num_tries.asnumpy().std() / 20_000**0.5
