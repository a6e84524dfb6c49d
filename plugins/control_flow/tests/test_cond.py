"""`cond`: the branch that runs, and gradients through it alone."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, ShapeError
from plugins.control_flow.tests.loops import check_gradients, draws, ran

cond = od.sym.contrib.cond
p, a, b = (od.sym.var(name) for name in "pab")


def either():
    return od.sym.Group(cond(p > 0, lambda: [a * b, a + 1], lambda: [b * b, od.sym.exp(a)]))


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_gradients_are_those_of_the_branch_that_ran(side):
    check_gradients(either(), {"p": np.array([side]), "a": draws(2, 2), "b": draws(2, 2)})


def test_every_run_decides_anew():
    executor = either().simple_bind(od.cpu(), p=(1,), a=(1,), b=(1,))
    for name, value in {"a": 3, "b": 5}.items():
        executor.arg_dict[name][:] = value
    for side, outs, grads in [(1, (15, 4), (6, 3)), (-1, (25, np.exp(np.float32(3))), (None, 10))]:
        found = executor.forward(is_train=True, p=od.nd.array([side]))
        assert [out.asscalar() for out in found] == pytest.approx(outs)
        executor.backward([od.nd.ones(1), od.nd.ones(1)])
        da = np.exp(np.float32(3)) if grads[0] is None else grads[0]
        assert executor.grad_dict["a"].asscalar() == pytest.approx(da)
        assert executor.grad_dict["b"].asscalar() == grads[1]


def test_a_branch_that_is_not_taken_is_not_computed():
    root = cond(od.sym.sum(a) >= 0, lambda: od.sym.sqrt(a), lambda: od.sym.zeros_like(a))
    _, grads = ran(root, {"a": np.array([-4.0])})
    assert grads["a"].tolist() == [0]  # and no NaN of the root's slope


def test_branches_stand_in_loops_and_loops_in_branches():
    def body(row, s):
        made = cond(od.sym.sum(row) > 0, lambda: row * b + s, lambda: s - row * row)
        return made, made * 0.5

    loop = od.sym.contrib.foreach(body, a, p)[0]
    check_gradients(loop, {"a": draws(5, 2), "p": draws(2), "b": draws(2)})
    sums = cond(
        od.sym.sum(p) > 0,
        lambda: od.sym.contrib.foreach(lambda row, s: (row * s, row + s), a, b)[0],
        lambda: a * 2,
    )
    for side in (1.0, -1.0):
        check_gradients(sums, {"a": draws(3, 2), "p": np.array([side]), "b": draws(2)})


def test_outputs_are_nested_as_the_first_branch_nests_them():
    assert isinstance(cond(p > 0, lambda: a, lambda: b), od.Symbol)
    assert isinstance(cond(p > 0, lambda: [[a]], lambda: b)[0][0], od.Symbol)


def test_what_is_no_branch_is_refused():
    with pytest.raises(ArgumentError, match="then_func gives 2 symbols and else_func 1, expected as many"):
        cond(p > 0, lambda: [a, b], lambda: a)
    with pytest.raises(ArgumentError, match="pred is True, expected a symbol of one output"):
        cond(True, lambda: a, lambda: b)
    with pytest.raises(ShapeError, match="output 0 of the second branch"):
        cond(p > 0, lambda: a, lambda: b).infer_shape(p=(1,), a=(2,), b=(3,))
