"""Arrays that an executor is bound to: taken over, shared, apart from each other."""

from __future__ import annotations

import numpy as np
import pytest

from operad import nd, sym
from operad.device import cpu
from operad.errors import BindError, UnsupportedError

pytestmark = pytest.mark.usefixtures("operators")


class TestSharedGradients:
    def bound(self, grads, req="write", args=None):
        args = args or {"x": nd.array([1, 2]), "y": nd.array([3, 4])}
        return (sym.var("x") * sym.var("y")).bind(cpu(), args, grads, req)

    @pytest.mark.parametrize("req", ["write", ["write", "add"]])
    def test_may_not_overwrite_each_other(self, req):
        grads = nd.array([0, 0, 0])
        with pytest.raises(BindError, match="gradient of 'y' shares memory with the gradient of 'x'"):
            self.bound([grads[:2], grads[1:]], req)

    def test_may_not_overwrite_arguments(self):
        x, y = nd.array([1, 2]), nd.array([3, 4])
        with pytest.raises(BindError, match="gradient of 'x' shares memory with argument 'y'"):
            self.bound([y, x], args=[x, y])

    def test_may_all_be_added(self):
        total = nd.array([0, 0])
        exe = self.bound([total, total], "add")
        exe.forward(is_train=True)
        exe.backward(nd.array([1, 1]))
        assert total.asnumpy().tolist() == [4, 6]

    def test_may_lie_beside_each_other(self):
        grads = nd.array(np.zeros((2, 2)))
        exe = self.bound([grads[:, 0], grads[:, 1]])
        exe.forward(is_train=True)
        exe.backward(nd.array([1, 1]))
        assert grads.asnumpy().tolist() == [[3, 1], [4, 2]]


def test_simple_bind_takes_over_the_arguments_that_are_named_and_no_others() -> None:
    y = sym.var("x") * sym.var("w")
    first = y.simple_bind(cpu(), x=(2, 3), w=(2, 3))
    second = y.simple_bind(cpu(), shared_exec=first, shared_arg_names=["w"], x=(2, 3), w=(2, 3))
    assert second.arg_dict["w"] is first.arg_dict["w"]
    assert second.grad_dict["w"] is first.grad_dict["w"]
    assert second.arg_dict["x"] is not first.arg_dict["x"]


def test_a_shared_buffer_is_filled_and_used_again() -> None:
    y, buffer = sym.var("x") * sym.var("w"), {}
    first = y.simple_bind(cpu(), shared_buffer=buffer, x=(4, 3), w=(4, 3))
    assert sorted(buffer) == ["grad of w", "grad of x", "w", "x"]
    second = y.simple_bind(cpu(), shared_buffer=buffer, x=(2, 3), w=(2, 3))
    first.arg_dict["x"][...] = 5.0
    assert second.arg_dict["x"].asnumpy().tolist() == [[5.0] * 3] * 2
    third = y.simple_bind(cpu(), shared_buffer=buffer, x=(8, 3), w=(8, 3))
    assert third.arg_dict["x"] is buffer["x"] is not first.arg_dict["x"]


def test_names_of_what_is_shared_mean_nothing_without_an_executor() -> None:
    y = sym.var("x") * sym.var("w")
    assert y.simple_bind(cpu(), shared_arg_names=["w"], x=(2, 3)).arg_dict["w"].shape == (2, 3)


def test_what_cannot_be_shared_is_refused() -> None:
    y, given = sym.var("x") * sym.var("w"), {"x": (2, 3), "w": (2, 3)}
    first = y.simple_bind(cpu(), x=(4, 3), w=(4, 3))
    with pytest.raises(BindError, match=r"'w' of shared_exec is float32\(4, 3\) on cpu\(0\), expected"):
        y.simple_bind(cpu(), shared_exec=first, shared_arg_names=["w"], **given)
    with pytest.raises(BindError, match="shared_arg_names names 'v', expected x, w"):
        y.simple_bind(cpu(), shared_exec=first, shared_arg_names=["v"], **given)
    with pytest.raises(BindError, match="'x' in shared_buffer is float64"):
        y.simple_bind(cpu(), shared_buffer={"x": nd.zeros((2, 3), dtype="float64")}, **given)
    with pytest.raises(UnsupportedError, match="arrays are dense"):
        y.simple_bind(cpu(), stype_dict={"x": "csr"}, **given)
