from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import IndexOutOfRangeError


def likelihood(
    lags: Any, marks: Any, max_time: float, alpha: float = 0.5, state: float = 0.0, length: int | None = None
) -> tuple[float, np.ndarray]:
    count = 2
    found, left = od.nd.contrib.hawkesll(
        od.nd.array([[0.5, 0.25]], dtype="float64"),
        od.nd.array([alpha] * count, dtype="float64"),
        od.nd.array([1.0, 2.0], dtype="float64"),
        od.nd.array([[state] * count], dtype="float64"),
        od.nd.array([lags], dtype="float64"),
        od.nd.array([marks], dtype="int32"),
        od.nd.array([len(lags) if length is None else length], dtype="float64"),
        od.nd.array([max_time], dtype="float64"),
    )
    return float(found.asnumpy()[0]), left.asnumpy()[0]


def test_without_excitement_it_is_that_of_poisson_processes() -> None:
    found, _ = likelihood([1.0, 0.5, 1.0], [0, 1, 0], 4.0, alpha=0.0)
    assert found == pytest.approx(2 * np.log(0.5) + np.log(0.25) - 4 * 0.75)


def test_a_sequence_that_is_cut_has_the_likelihood_of_the_whole() -> None:
    whole, left = likelihood([1.0, 0.5, 1.5], [0, 0, 0], 4.0)
    first, memory = likelihood([1.0, 0.5], [0, 0], 2.0)
    one = [od.nd.array(v, dtype="float64") for v in ([[0.5, 0.25]], [0.5, 0.5], [1.0, 2.0])]
    rest = [od.nd.array(memory[None], dtype="float64"), od.nd.array([[1.0]], dtype="float64")]
    second, end = od.nd.contrib.hawkesll(
        *one, *rest, od.nd.array([[0]], dtype="int32"), od.nd.ones(1, dtype="float64"),
        od.nd.array([2.0], dtype="float64"),
    )  # fmt: skip
    assert whole == pytest.approx(first + float(second.asnumpy()[0]))
    np.testing.assert_allclose(end.asnumpy()[0], left)


def test_what_is_behind_the_length_does_not_count() -> None:
    padded, _ = likelihood([1.0, 0.5, 9.0], [0, 1, -7], 4.0, length=2)
    assert padded == pytest.approx(likelihood([1.0, 0.5], [0, 1], 4.0)[0])


@pytest.mark.parametrize(("marks", "length", "name"), [([0, 2], 2, "marks"), ([0, 1], 3, "valid_length")])
def test_marks_and_lengths_out_of_range_are_refused(marks: Any, length: int, name: str) -> None:
    with pytest.raises(IndexOutOfRangeError, match=f"{name} has elements"):
        likelihood([1.0, 0.5], marks, 4.0, length=length)
