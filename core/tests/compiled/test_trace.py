"""What a trace notes, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.autograd.recorded import A, B, variable
from operad import autograd, nd
from operad.errors import TraceError

pytestmark = pytest.mark.usefixtures("operators")

CAPTURED = nd.array(B)


def refused(function, *args):
    with pytest.raises(TraceError) as found:
        od.compile(function)(*args)
    return str(found.value)


def test_a_refusal_lasts_where_the_function_catches_it() -> None:
    def guarded(x):
        try:
            return x * float(x.sum())
        except Exception:  # noqa: BLE001 - as programs do that fall back
            return x

    assert "__float__() of an array of shape (1,)" in refused(guarded, nd.array(A))
    found = od.compile(lambda x: x + 1)(nd.array(A))  # nothing of it is left
    np.testing.assert_array_equal(found.asnumpy(), A + 1)


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.asnumpy(),
        lambda x: x[0].asscalar(),
        lambda x: x[0].item(),
        lambda x: x.tolist(),
        lambda x: bool(x[0]),
        lambda x: float(x[0]),
        lambda x: int(x[0]),
        np.asarray,
        np.from_dlpack,
        lambda x: CAPTURED.asnumpy(),
        lambda x: np.from_dlpack(CAPTURED),
    ],
)
def test_values_are_refused_at_every_door(read) -> None:
    assert "while the function is compiled" in refused(lambda x: (read(x), x * 2)[1], nd.array(A))


def _mode(scope):
    def function(x):
        with scope():
            return x * 2

    return function


@pytest.mark.parametrize(
    "scope", [autograd.record, autograd.train_mode, lambda: autograd.record(train_mode=False)]
)
def test_a_change_of_mode_is_refused(scope) -> None:
    assert "the mode changes" in refused(_mode(scope), nd.array(A))


def test_the_same_mode_is_none() -> None:
    with autograd.train_mode():
        np.testing.assert_array_equal(od.compile(_mode(autograd.train_mode))(nd.array(A)).asnumpy(), A * 2)


@pytest.mark.parametrize("set_mode", [autograd.set_recording, autograd.set_training])
def test_a_switched_mode_is_refused_and_left_as_it_was(set_mode) -> None:
    assert "the mode changes" in refused(lambda x: (set_mode(True), x)[1], nd.array(A))
    assert not autograd.is_recording()
    assert not autograd.is_training()


def _written(x):
    x += 1
    return x


def _assigned(x):
    x[:] = 0
    return x


def _filled_part(x):
    x[0] = 7
    return x


def _output(x):
    nd.square(x, out=CAPTURED)
    return x * 2


def _captured(x):
    CAPTURED[1:] = x[1:]
    return x * 2


def _copied(x):
    x.copyto(CAPTURED)
    return x * 2


@pytest.mark.parametrize("function", [_written, _assigned, _filled_part, _output, _captured, _copied])
def test_writes_to_arrays_that_the_function_did_not_make_are_refused(function) -> None:
    x = nd.array(A)
    assert "that the function did not make" in refused(function, x)
    np.testing.assert_array_equal(x.asnumpy(), A)
    np.testing.assert_array_equal(CAPTURED.asnumpy(), B)


def _through_a_view(x):
    made = x * 2
    view = made[:2]
    view += 1
    return made


def _behind_a_view(x):
    made = x * 2
    view = made.reshape((3, 1))
    made += 1
    return view


def _detached(x):
    made = x * 2
    other = made.detach()
    other += 1
    return made


def _of_captured(x):
    view = CAPTURED[:2]
    view += 1
    return x * 2


@pytest.mark.parametrize("function", [_through_a_view, _behind_a_view, _detached, _of_captured])
def test_writes_to_memory_that_another_array_shares_are_refused(function) -> None:
    assert "whose memory another array shares" in refused(function, nd.array(A))


def _in_place(x):
    made = x * 2
    made += x
    made[0] = 5
    made *= 2
    nd.square(made, out=made)
    made = made[:2]  # the other array is gone
    made += 1
    return made


def test_own_arrays_are_written_as_in_an_eager_run() -> None:
    x = nd.array(A)
    np.testing.assert_array_equal(od.compile(_in_place)(x).asnumpy(), _in_place(x).asnumpy())


def _written_in_place(x):
    made = x * 2
    made *= x
    return made


def _detached_and_paused(x):
    with autograd.pause(train_mode=True):
        scale = x * 3
    return x * scale + x * x.detach()


@pytest.mark.parametrize("function", [_written_in_place, _detached_and_paused])
def test_gradients_flow_as_in_an_eager_run(function) -> None:
    x = variable(A)
    with autograd.record():
        y = od.compile(function)(x)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 4 * A)


def test_a_result_that_leads_to_no_variable_is_not_recorded() -> None:
    x, constant = variable(A), nd.array(B)
    with autograd.record():
        y, z = od.compile(lambda x: (x * 2, constant * 3))(x)
    assert z._autograd is None
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 2, 2])


def test_an_array_of_plain_numbers_is_the_functions_own() -> None:
    def function(x):
        made = nd.array([1, 2, 3])
        made[0] = 9
        return x + made

    compiled = od.compile(function)
    for _ in range(2):
        np.testing.assert_array_equal(compiled(nd.array(A)).asnumpy(), A + np.float32([9, 2, 3]))


def test_captured_arrays_are_read_as_they_are_at_each_call() -> None:
    weight = nd.array(A)
    compiled = od.compile(lambda x: x * weight)
    compiled(nd.array(B))
    weight[:] = 2
    np.testing.assert_array_equal(compiled(nd.array(B)).asnumpy(), B * 2)


def test_a_recorded_result_is_no_parameter() -> None:
    x = variable(A)
    with autograd.record():
        y = x * 2
        assert "used that is no argument" in refused(lambda z: z * y, nd.array(B))


def test_an_array_that_escaped_says_so() -> None:
    kept = []
    od.compile(lambda x: (kept.append(x * 2), x)[1])(nd.array(A))
    with pytest.raises(TraceError, match="outside of the function that made it"):
        kept[0] + nd.array(A)
    with pytest.raises(TraceError, match="asnumpy"):
        kept[0].asnumpy()
    assert "another such function" in refused(lambda x: x + kept[0], nd.array(A))


def test_another_context_is_refused() -> None:
    other = nd.array(A, ctx=od.cpu(1))
    assert "an array of cpu(1)" in refused(lambda x: (x * 2, other * 2)[1], nd.array(A))
    assert "an array of cpu(1)" in refused(lambda x: x.as_in_context(od.cpu(1)), nd.array(A))


def _backward(x):
    y = x * 2
    y.backward()
    return y


def _attached(x):
    x.attach_grad()
    return x * 2


def _seeded(x):
    od.random.seed(1)
    return x * 2


@pytest.mark.parametrize("function", [_backward, _attached, _seeded])
def test_what_moves_the_state_of_the_process_is_refused(function) -> None:
    assert "outside" in refused(function, nd.array(A))


def test_an_error_of_the_function_leaves_the_thread_as_it_was() -> None:
    def function(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        od.compile(function)(nd.array(A))
    np.testing.assert_array_equal((nd.array(A) * 2).asnumpy(), A * 2)
