"""Floats of a call: what is computed with them is compiled once, what looks at them once for each value."""

from __future__ import annotations

import math

import numpy as np
import pytest

import operad as od
from core.tests.autograd.recorded import A
from operad import nd

pytestmark = pytest.mark.usefixtures("operators")


def traces(function) -> int:
    return function.why().count("traced")


@pytest.mark.parametrize(
    "compute",
    [
        lambda x, n: x * n,
        lambda x, n: n * x,
        lambda x, n: x + (1 - n) / 4,
        lambda x, n: x - -n * n,
        lambda x, n: (x * n, n),
    ],
)
def test_numbers_that_are_computed_with_compile_nothing(compute) -> None:
    compiled = od.compile(compute)
    for number in (0.1, -2.5, 0.0, -0.0, math.inf):
        found, expected = compiled(nd.array(A), number), compute(nd.array(A), number)
        if isinstance(found, tuple):
            assert found[1] == expected[1]
            found, expected = found[0], expected[0]
        assert found.asnumpy().tobytes() == expected.asnumpy().tobytes()
    assert traces(compiled) == 1


@pytest.mark.parametrize(
    "compute",
    [
        lambda x, n: x * 2 if n > 0.2 else x * 3,
        lambda x, n: x * math.sqrt(n),
        lambda x, n: x * (n**2),
        lambda x, n: x * max(n, 0.2),
        lambda x, n: x * int(n + 1),
        lambda x, n: nd.array([n, n, n]) * x,
        lambda x, n: x * len(f"{n}"),
    ],
)
def test_numbers_that_are_looked_at_are_traced_for_each_value(compute) -> None:
    compiled = od.compile(compute)
    for number in (0.1, 0.5, 0.1, 0.5, 0.1):
        found = compiled(nd.array(A), number)
        assert found.asnumpy().tobytes() == compute(nd.array(A), number).asnumpy().tobytes()
    assert traces(compiled) == 2


def test_only_numbers_that_are_looked_at_count() -> None:
    compiled = od.compile(lambda x, n, m: x * n if m > 0 else x)
    for number in (0.1, 0.2, 0.3):
        compiled(nd.array(A), number, 1.0)
    assert traces(compiled) == 1
    compiled(nd.array(A), 0.1, -1.0)
    assert traces(compiled) == 2


def test_numbers_beside_whole_numbers_and_flags_are_told_apart() -> None:
    compiled = od.compile(lambda x, n: x * n)
    for number in (1, 1.0, True):
        np.testing.assert_array_equal(compiled(nd.array(A), number).asnumpy(), A)
    assert traces(compiled) == 3


def test_arrays_of_integers_meet_the_value() -> None:
    compiled = od.compile(lambda x, n: x * n)
    for number in (2.0, 3.0):
        found = compiled(nd.array([1, 2], dtype="int32"), number)
        np.testing.assert_array_equal(found.asnumpy(), (nd.array([1, 2], dtype="int32") * number).asnumpy())
