"""An executor that two threads enter says so."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import operad as od
from operad.errors import BindError, ExecutorBusyError

pytestmark = pytest.mark.usefixtures("operators")


def bound():
    x = od.sym.var("x")
    executor = od.sym.tanh(x).simple_bind(od.cpu(), x=(2, 3))
    executor.arg_dict["x"][:] = 0.5
    return executor


@pytest.mark.parametrize("what", ["forward", "backward"])
@pytest.mark.parametrize("inside", ["forward", "backward"])
def test_a_second_thread_inside_is_refused_and_the_first_one_goes_on(inside: str, what: str) -> None:
    executor, errors = bound(), []
    grad = od.nd.ones((2, 3))

    def enter() -> None:
        try:
            executor.forward() if what == "forward" else executor.backward(grad)
        except BindError as error:
            errors.append(error)

    def beside(*_: object) -> None:
        other = threading.Thread(target=enter)
        other.start()
        other.join()

    if inside == "backward":
        executor.forward(is_train=True)
    executor.set_monitor_callback(beside)  # called in the midst of a run
    if inside == "forward":
        executor.forward(is_train=True)
    else:
        executor.backward(grad)
    assert errors
    assert all(isinstance(error, ExecutorBusyError) for error in errors)
    executor.set_monitor_callback(None)
    np.testing.assert_allclose(executor.forward()[0].asnumpy(), np.tanh(0.5), rtol=1e-6)


def test_threads_may_take_turns() -> None:
    executor, found = bound(), []
    for _ in range(3):
        thread = threading.Thread(target=lambda: found.append(executor.forward()[0].asnumpy()))
        thread.start()
        thread.join()
    np.testing.assert_allclose(found, np.full((3, 2, 3), np.tanh(0.5)), rtol=1e-6)


def test_an_executor_is_free_after_a_run_that_failed() -> None:
    executor = bound()

    def fail(*_: object) -> None:
        raise ArithmeticError

    executor.set_monitor_callback(fail)
    with pytest.raises(ArithmeticError):
        executor.forward()
    executor.set_monitor_callback(None)
    thread = threading.Thread(target=executor.forward)
    thread.start()
    thread.join()
    assert executor.single_user.user is None
