"""Hooks: values inside of a compiled function are shown, and change nothing."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.autograd.recorded import variable
from operad import autograd, nd

pytestmark = pytest.mark.usefixtures("operators")


def test_each_result_inside_is_shown_as_it_is_computed() -> None:
    weight = variable([2.0, 3.0])

    @od.compile
    def function(x):
        return (x * weight + 1) * x

    seen: list[tuple[str, str, list[float]]] = []
    function.register_op_hook(lambda name, op, x: seen.append((name, op, x.asnumpy().tolist())))
    function(nd.array([1.0, 2.0]))
    names = [name for name, _, _ in seen]
    assert [values for _, _, values in seen] == [[2.0, 6.0], [3.0, 7.0], [3.0, 14.0]]
    assert [name.startswith(op.strip("_")) for name, op, _ in seen] == [True] * 3
    assert len({*names}) == 3


def test_what_operators_read_is_shown_before_their_results() -> None:
    seen: list[list[float]] = []
    function = od.compile(lambda x, y: x * y)
    function.register_op_hook(lambda _, __, x: seen.append(x.asnumpy().tolist()), monitor_all=True)
    function(nd.array([2.0]), nd.array([3.0]))
    assert seen == [[2.0], [3.0], [6.0]]


@pytest.mark.parametrize("is_hooked", [True, False])
def test_gradients_are_those_without_a_hook(is_hooked: bool) -> None:
    weight, x = variable([2.0, 3.0]), variable([1.0, -1.0])
    function = od.compile(lambda x: x * weight * x)
    function.register_op_hook(print if is_hooked else None)
    with autograd.record():
        made = function(x)
    made.backward()
    np.testing.assert_array_equal(weight.grad.asnumpy(), [1.0, 1.0])
    np.testing.assert_array_equal(x.grad.asnumpy(), [4.0, -6.0])


def test_programs_run_again_without_the_hook() -> None:
    seen: list[str] = []
    function = od.compile(lambda x: x * 2)
    function.register_op_hook(lambda name, *_: seen.append(name))
    function(nd.ones(2))
    function.register_op_hook(None)
    function(nd.ones(2))
    assert len(seen) == 1
    assert "compiled" in function.why()


def test_an_error_of_the_hook_is_raised_by_the_call() -> None:
    function = od.compile(lambda x: x * 2)
    function.register_op_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        function(nd.ones(2))
