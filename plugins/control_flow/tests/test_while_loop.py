"""`while_loop`: when it ends, what its rows hold, and its gradients beside differences."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, ParamError, ShapeError
from plugins.control_flow.tests.loops import check_gradients, draws

while_loop = od.sym.contrib.while_loop
i, x, n, w = (od.sym.var(name) for name in ("i", "x", "n", "w"))


def powers(most=5):
    outs, last = while_loop(lambda i, x: i < n, lambda i, x: (x * w, [i + 1, x * w]), [i, x], most)
    return od.sym.Group([outs, *last])


@pytest.mark.parametrize(("limit", "steps"), [(-1, 0), (0, 0), (0.5, 1), (3, 3), (5, 5), (9, 5)])
def test_it_ends_with_the_condition_or_after_the_most_steps(limit, steps):
    given = {"i": [0], "x": [1], "n": [limit], "w": [2]}
    arrays = {name: od.nd.array(value) for name, value in given.items()}
    executor = powers().bind(od.cpu(), arrays, {name: od.nd.zeros(1) for name in arrays})
    for is_train in (True, False):
        rows, count, last = (out.asnumpy().ravel().tolist() for out in executor.forward(is_train))
        assert rows == [2.0 ** (step + 1) if step < steps else 0 for step in range(5)]
        assert (count, last) == ([steps], [2.0**steps])


@pytest.mark.parametrize("limit", [0.0, 2.0, 9.0])
def test_gradients_are_those_of_differences(limit):
    values = {"i": np.zeros(1), "x": draws(2, 2), "n": np.array([limit - 0.5]), "w": draws(2, 2)}
    check_gradients(powers(), values)


def test_rows_that_no_step_wrote_are_zero_after_a_longer_run():
    rows = powers()[0]
    executor = rows.simple_bind(od.cpu(), i=(1,), x=(1,), n=(1,), w=(1,))
    executor.forward(x=od.nd.ones(1), w=od.nd.ones(1), n=od.nd.array([4]))
    assert executor.forward(n=od.nd.array([1]))[0].asnumpy().ravel().tolist() == [1, 0, 0, 0, 0]


def test_loop_variables_are_nested_as_they_were_given():
    outs, last = while_loop(lambda x: od.sym.sum(x) < 3, lambda x: (None, x + 1), x, 5)
    assert outs == []
    assert isinstance(last, od.Symbol)
    outs, last = while_loop(lambda x: od.sym.sum(x) < 3, lambda x: ([[x]], x + 1), [x], 5)
    assert isinstance(outs[0][0], od.Symbol)
    assert isinstance(last, list)
    assert last[0].eval(x=od.nd.zeros(1))[0].asscalar() == 3


def test_what_is_no_loop_is_refused():
    for arguments, message in [
        ((lambda x: x < 3, lambda x: (x, x + 1), x), "max_iterations is missing"),
        ((lambda: x < 3, lambda: (x, []), [], 3), "there are no loop_vars"),
        ((lambda x: True, lambda x: (x, x + 1), x, 3), "cond is True, expected a symbol"),
        ((lambda x: x < 3, lambda x: (x, [x, x]), x, 3), "func gave 2 states, expected 1"),
        ((lambda x, i: x < 3, lambda x, i: (x, [x + 1, n]), [x, i], 3), "does not use what stands for i"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            while_loop(*arguments)
    for most in (0, 2.5):
        with pytest.raises(ParamError, match=f"'max_iterations' is {most}, expected int >= 1"):
            while_loop(lambda x: x < 3, lambda x: (x, x + 1), x, most)


def test_a_condition_of_several_elements_is_refused():
    symbol = while_loop(lambda x: x < 3, lambda x: (x, x + 1), x, 3)[0]
    with pytest.raises(ShapeError, match=r"the condition has shape \(2,\), expected one element"):
        symbol.eval(x=od.nd.zeros(2))[0].asnumpy()
