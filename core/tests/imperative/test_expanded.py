"""Imperative calls of operators that are made of others."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.op.expanding import FIRST, SECOND, One, Pair, X, Y
from operad import registry
from operad.errors import ArgumentError, BindError

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture(autouse=True)
def pairs():
    for op in (Pair, One):
        registry.register(op)
    yield
    for op in (Pair, One):
        registry.unregister(op.name)


def test_an_imperative_call_runs_and_records_the_parts() -> None:
    x, y = od.nd.array(X), od.nd.array(Y)
    x.attach_grad()
    for _ in range(2):  # the second finds what the first worked out
        with od.autograd.record():
            first, second = od.nd.expand_pair(x, rhs=y)
        od.autograd.backward([first, second])
        np.testing.assert_allclose(first.asnumpy(), FIRST, rtol=1e-6)
        np.testing.assert_allclose(second.asnumpy(), SECOND, rtol=1e-6)
        np.testing.assert_allclose(x.grad.asnumpy(), np.tanh(Y) + 2 * X, rtol=1e-6)


def test_results_go_into_given_arrays_which_may_be_arguments() -> None:
    x, y = od.nd.array(X), od.nd.array(Y)
    other = od.nd.zeros(2)
    found = od.nd.expand_pair(x, y, out=[x, other])
    assert found[0] is x
    np.testing.assert_allclose(x.asnumpy(), FIRST, rtol=1e-6)
    np.testing.assert_allclose(other.asnumpy(), SECOND, rtol=1e-6)


def test_arrays_that_do_not_fit_are_refused() -> None:
    x, y = od.nd.array(X), od.nd.array(Y)
    with pytest.raises(ArgumentError, match="expand_pair: got 1 arrays, expected 2: lhs, rhs"):
        od.nd.expand_pair(x)
    with pytest.raises(BindError, match="expand_pair: out has 1 arrays, expected 2"):
        od.nd.expand_pair(x, y, out=x)
    with pytest.raises(BindError, match=r"expand_pair: out is float32\(3,\).*, expected float32\(2,\)"):
        od.nd.expand_pair(x, y, out=[od.nd.zeros(3), x])
    with od.autograd.record(), pytest.raises(BindError, match="recorded part by part"):
        od.nd.expand_pair(x, y, out=[x, y])


def test_an_error_of_a_part_names_the_whole() -> None:
    with pytest.raises(od.errors.OperadError) as raised:
        od.nd.expand_pair(od.nd.array(X), od.nd.zeros(3))
    assert "in expand_pair, which is made of this and other operators" in raised.value.__notes__
