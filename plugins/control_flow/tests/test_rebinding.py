"""Executors of one program over other arrays."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.executor.dense import dense_tanh, filled
from operad import nd
from operad.context import cpu
from operad.errors import BindError

pytestmark = pytest.mark.usefixtures("operators", "two_threads")


def test_an_executor_of_the_same_program_has_arrays_of_its_own():
    exe = filled(dense_tanh().simple_bind(data=(8, 2)))
    fresh = {name: nd.array(array.asnumpy() * 2) for name, array in exe.arg_dict.items()}
    grads = {name: nd.zeros(array.shape) for name, array in fresh.items()}
    other = exe.rebound(fresh, grads, {})
    for each in (exe, other):
        each.forward(is_train=True)
    for each in (other, exe):
        each.backward([nd.ones(each.outputs[0].shape)])
        x, w, b = (each.arg_dict[name].asnumpy() for name in ("data", "fc1_weight", "fc1_bias"))
        slope = 1 - np.tanh(x @ w.T + b) ** 2
        np.testing.assert_allclose(each.grad_dict["fc1_weight"].asnumpy(), slope.T @ x, rtol=1e-5)


def test_arrays_of_an_executor_of_the_same_program_are_alike():
    exe = dense_tanh().simple_bind(data=(8, 2))
    args = dict(exe.arg_dict)
    with pytest.raises(BindError, match="rebound: 'data' is missing, expected float32"):
        exe.rebound({}, {}, {})
    with pytest.raises(BindError, match="rebound: args_grad: 'data' is missing, expected float32"):
        exe.rebound(args, {}, {})
    for wrong in (nd.zeros((8, 3)), nd.zeros((8, 2), dtype="float64"), nd.zeros((8, 2), cpu(1))):
        with pytest.raises(BindError, match=r"rebound: 'data' is .*, expected float32\(8, 2\) on cpu\(0\)"):
            exe.rebound({**args, "data": wrong}, {}, {})
