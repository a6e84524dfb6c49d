"""Failures in a bound graph surface where its results are read."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.executor.dense import X, dense_tanh
from operad import AttrScope, nd, sym
from operad.device import cpu

pytestmark = pytest.mark.usefixtures("operators", "two_threads")


def alternating(failing):
    """Six branches `2 * (x + 1)`, on two devices in turn, of which one fails at `x > 0.9`; their sum."""
    x, total = sym.var("x"), None
    for i in range(6):
        with AttrScope(ctx_group="odd" if i % 2 else "even"):
            branch = sym._plus_scalar(x, scalar=1)
            if i == failing:
                branch = sym.passes_below(branch, limit=1.9)
            branch = sym._mul_scalar(branch, scalar=2)
            total = branch if total is None else sym.elemwise_add(total, branch)
    return total


class TestFailures:
    def failing(self):
        x = sym.tanh(sym.var("x"), name="before")
        return sym.tanh(sym.explode(x, limit=0.9, name="boom"), name="after").simple_bind(x=(3,))

    def test_surface_at_every_wait_with_the_place(self, each_engine):
        exe = self.failing()
        (out,) = exe.forward(x=[5, 5, 5])
        for _ in range(2):
            with pytest.raises(ZeroDivisionError, match=r"above 0\.9") as caught:
                out.asnumpy()
            assert "\n".join(caught.value.__notes__).count("in forward of explode 'boom' (this process") == 1
        nd.waitall()

    def test_leave_the_executor_usable(self, each_engine):
        exe = self.failing()
        with pytest.raises(ZeroDivisionError):
            exe.forward(x=[5, 5, 5])[0].wait_to_read()
        (out,) = exe.forward(x=[0.1, 0.2, 0.3])
        expected = np.tanh(np.tanh(np.float32([0.1, 0.2, 0.3])))
        np.testing.assert_array_equal(out.asnumpy(), expected)

    @pytest.mark.parametrize("at", range(6))
    @pytest.mark.parametrize("is_monitored", [False, True])
    def test_in_any_of_several_segments_leave_no_result_and_the_executor_usable(
        self, each_engine, at, is_monitored
    ):
        """Segments take turns at blocks of memory, and one may write where another failed before."""
        exe = alternating(at).simple_bind(x=(3,), group2ctx={"even": cpu(0), "odd": cpu(1)})
        if is_monitored:
            exe.set_monitor_callback(lambda name, array: None)
        head, fine, bad = nd.array(np.ones(3)), np.float32([0.1, 0.2, 0.3]), [5, 5, 5]
        for values in (bad, fine, bad, bad, fine):
            (out,) = exe.forward(is_train=True, x=values)
            exe.backward(head)
            results = [out, exe.grad_dict["x"]]
            if values is bad:
                for array in (*results, *results):
                    with pytest.raises(ZeroDivisionError):
                        array.asnumpy()
            else:
                expected = 2.0 * 6 * np.float32([0.1, 0.2, 0.3]) + 12
                np.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-5)
                np.testing.assert_allclose(results[1].asnumpy(), np.full(3, 12), rtol=1e-5)
        nd.waitall()

    def test_in_backward_reach_the_gradient(self, each_engine):
        y = sym.explode_back(sym.var("x"), limit=1, name="boom")
        exe = sym.square(y).simple_bind(x=(2,))
        exe.forward(is_train=True, x=[3, 3])
        exe.backward(nd.array([1, 1]))
        with pytest.raises(ZeroDivisionError) as caught:
            exe.grad_dict["x"].asnumpy()
        assert "in backward of explode_back 'boom'" in "\n".join(caught.value.__notes__)
        exe.forward(is_train=True, x=[0.1, 0.2])
        exe.backward(nd.array([1, 1]))
        np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), 2 * np.float32([0.1, 0.2]))

    def test_of_an_input_pass_through(self):
        exe = dense_tanh().simple_bind(data=(1, 2))
        exe.arg_dict["data"][:] = nd.explode(nd.array(X))
        (out,) = exe.forward()
        with pytest.raises(ZeroDivisionError):
            out.asnumpy()

    def test_do_not_touch_another_executor(self):
        bad, good = self.failing(), self.failing()
        bad.forward(x=[5, 5, 5])
        (out,) = good.forward(x=[0, 0, 0])
        assert out.asnumpy().tolist() == [0, 0, 0]
        with pytest.raises(ZeroDivisionError):
            nd.waitall()
