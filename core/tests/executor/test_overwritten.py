"""What backward reads must be what forward read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from operad import nd, sym
from operad.device import cpu
from operad.errors import GradientError
from operad.executor import Executor
from operad.ndarray import NDArray

pytestmark = pytest.mark.usefixtures("operators")

X, W, HEAD = np.float32([1, 2]), np.float32([4, 5]), np.float32([10, 20])


def product(x: NDArray | None = None) -> Executor:
    """`x * w`, whose backward reads both arguments."""
    inner = sym.elemwise_mul(sym.var("x"), sym.var("w"))
    args = {"x": nd.array(X) if x is None else x, "w": nd.array(W)}
    return inner.bind(cpu(), args, {name: nd.array([0, 0]) for name in args})


def run(exe: Executor) -> list[np.ndarray]:
    exe.forward(is_train=True)
    exe.backward([nd.array(HEAD)])
    return [grad.asnumpy() for grad in exe.grad_arrays]


WRITES: dict[str, Callable[[Executor], object]] = {
    "assigned": lambda exe: exe.arg_dict["x"].__setitem__(slice(None), 0),
    "a part assigned": lambda exe: exe.arg_dict["x"].__setitem__(0, 0),
    "through a view": lambda exe: exe.arg_dict["x"][1:].__setitem__(slice(None), 0),
    "in place": lambda exe: exe.arg_dict["x"].__iadd__(1),
    "out": lambda exe: nd.tanh(nd.array(X), out=exe.arg_dict["x"]),
    "copyto": lambda exe: nd.array(X).copyto(exe.arg_dict["x"]),
    "at the same values": lambda exe: exe.arg_dict["x"].__setitem__(slice(None), X),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_an_argument_overwritten_between_forward_and_backward_is_refused(
    each_engine: str, write: Callable[[Executor], object]
) -> None:
    exe = product()
    exe.forward(is_train=True)
    write(exe)
    with pytest.raises(GradientError, match="backward: argument 'x' was overwritten after forward"):
        exe.backward([nd.array(HEAD)])
    np.testing.assert_array_equal(run(exe)[1], HEAD * exe.arg_dict["x"].asnumpy())


def test_the_caller_may_have_written_the_array_under_another_name(each_engine: str) -> None:
    memory = nd.array(np.stack([X, X]))
    exe = product(memory[0])
    exe.forward(is_train=True)
    memory[:] = 7
    with pytest.raises(GradientError, match="argument 'x' was overwritten"):
        exe.backward([nd.array(HEAD)])


def test_an_output_that_backward_reads_is_refused_too(each_engine: str) -> None:
    exe = sym.tanh(sym.var("x"), name="act").bind(cpu(), [nd.array(X)], [nd.array(X)])
    (out,) = exe.forward(is_train=True)
    out[:] = 0
    with pytest.raises(GradientError, match="output 'act_output' was overwritten after forward"):
        exe.backward([nd.array(HEAD)])


def test_what_backward_does_not_read_may_be_overwritten(each_engine: str) -> None:
    exe = sym.elemwise_add(sym.tanh(sym.var("x")), sym.var("b")).simple_bind(x=(2,))
    (out,) = exe.forward(is_train=True, x=X, b=W)
    for array in (exe.arg_dict["x"], exe.arg_dict["b"], exe.grad_dict["x"], out):
        array[:] = 100
    exe.backward([nd.array(HEAD)])
    y = np.tanh(X)
    np.testing.assert_allclose(exe.grad_dict["x"].asnumpy(), HEAD * (1 - y * y), rtol=1e-5)


def test_weights_are_updated_after_every_backward(each_engine: str) -> None:
    exe = product()
    w = W.copy()
    for _ in range(5):
        _, w_grad = run(exe)
        np.testing.assert_array_equal(w_grad, HEAD * X)
        nd._plus_scalar(exe.arg_dict["w"], scalar=-1, out=exe.arg_dict["w"])
        w = w - 1
        np.testing.assert_array_equal(exe.arg_dict["w"].asnumpy(), w)


def test_a_second_backward_after_an_update_is_refused(each_engine: str) -> None:
    exe = product()
    run(exe)
    exe.backward([nd.array(HEAD)])
    exe.arg_dict["w"][:] = 0
    with pytest.raises(GradientError, match="argument 'w' was overwritten"):
        exe.backward([nd.array(HEAD)])


def test_gradients_may_be_other_parts_of_the_arguments_memory(each_engine: str) -> None:
    memory = nd.array(np.stack([X, W, X * 0, W * 0]))
    x, w, x_grad, w_grad = (memory[i] for i in range(4))
    exe = sym.elemwise_mul(sym.var("x"), sym.var("w")).bind(cpu(), {"x": x, "w": w}, [x_grad, w_grad])
    exe.forward(is_train=True)
    for _ in range(2):
        exe.backward([nd.array(HEAD)])
        np.testing.assert_array_equal(memory.asnumpy(), [X, W, HEAD * W, HEAD * X])


def test_auxiliary_states_may_be_updated_by_another_executor(each_engine: str) -> None:
    """Two executors over the states of one network, as an adversarial pair has."""
    centred = sym.Centre(sym.var("x"), name="centre")
    states = {name: nd.array([0, 0]) for name in centred.list_auxiliary_states()}
    pair = [
        centred.bind(cpu(), [nd.array(np.stack([X, W]))], [nd.empty((2, 2))], aux_states=states)
        for _ in range(2)
    ]
    for exe in pair:
        exe.forward(is_train=True)
    for exe in pair:
        exe.backward([nd.array(np.ones((2, 2)))])
        exe.grad_arrays[0].wait_to_read()


def test_executors_that_share_arrays_take_turns(each_engine: str) -> None:
    net = sym.elemwise_mul(sym.square(sym.var("x")), sym.var("w"))
    exe = net.simple_bind(x=(2,), w=(2,))
    others = [exe, net.simple_bind(x=(2,), w=(2,), shared_exec=exe)]
    for _ in range(2):
        for one in others:
            values = X[: one.arg_dict["x"].size]
            one.forward(is_train=True, x=values, w=values)
            one.backward([nd.array(np.ones(len(values)))])
            np.testing.assert_array_equal(one.grad_dict["x"].asnumpy(), 2 * values * values)
